"""Every page in light and dark, wide and narrow: nothing that axe calls serious, nothing too wide or too heavy."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.people import PHONE, WIDE, ask_the_models, something_fooling, strip
from tests.web.gallery import AXE

pytestmark = pytest.mark.browser
OPEN = ["/", "/login", "/register", "/tasks/nli/create", "/tasks/none/of/this"]
MEMBERS = ["/tasks/nli", "/tasks/sentiment", "/tasks/nli/people", "/tasks/sentiment/rounds/1", "/settings"]
MEMBERS += [
    "/tasks/nli/reported",
    "/tasks/nli/submissions",
    "/tasks/nli/submit?kind=endpoint",
    "/tasks/nli/submit?kind=predictions",
    "/models/nli-minilm",
]
SIDEWAYS = """() => [...document.querySelectorAll(".table-scroll:has(> .stacked)")]
    .filter((each) => each.scrollWidth > each.clientWidth + 1)
    .map((each) => each.getAttribute("aria-label") ?? each.id)"""
RULES = {
    "light": "() => axe.run({resultTypes: ['violations']})",
    "dark": "() => axe.run({resultTypes: ['violations'], runOnly: ['color-contrast', 'link-in-text-block']})",
}  # in the dark what has colours is looked at: all else is as it was


def serious(page: Page, scheme: str = "light") -> list[str]:
    if not AXE.exists():
        pytest.fail("axe-core is missing: run `python hatch_build.py`.")
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate(RULES[scheme])["violations"]
    bad = [each for each in found if each["impact"] in ("serious", "critical")]
    return [f"{each['id']}: {node['html'][:200]}" for each in bad for node in each["nodes"]]


def looks_well(page: Page) -> None:
    """Nothing serious in four looks at the page as it stands."""
    for size in (WIDE, PHONE):
        page.set_viewport_size(size)
        expect(page.locator("html")).to_have_js_property("scrollWidth", size["width"])  # more is too wide
        assert size is WIDE or page.evaluate(SIDEWAYS) == [], (page.url, "tables of scores are cards on phones")
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            expect(page.locator("html")).to_have_attribute("data-theme", scheme)
            assert serious(page, scheme) == [], (page.url, size, scheme)


@pytest.mark.parametrize("path", OPEN)
def test_pages_for_everybody(guest, path):
    somebody = guest()
    somebody.page.goto(path)
    looks_well(somebody.page)
    somebody.forgive("404")


def test_pages_for_members(guest, visitor):
    page = guest("ada").page
    for task in ("nli", "sentiment"):
        page.goto(f"/tasks/{task}/create")
        ask_the_models(page, task, something_fooling(page, visitor, task))
        strip(page)
    looks_well(page)  # with the answer
    for path in MEMBERS:
        page.goto(path)
        looks_well(page)


def test_the_validate_page(guest, visitor):
    page = guest("ada").page
    for task in ("nli", "sentiment"):
        page.goto(f"/tasks/{task}/create")
        ask_the_models(page, task, something_fooling(page, visitor, task))
        strip(page)
    page = guest("bela").page
    for task in ("nli", "sentiment"):
        page.goto(f"/tasks/{task}/validate")
        expect(page.locator("form.vote")).to_be_visible()
        looks_well(page)
    page.goto("/tasks/nli/validate")
    page.get_by_role("button", name="Incorrect").click()
    expect(page.get_by_role("group", name="Which label is right?")).to_be_visible()
    looks_well(page)


@pytest.mark.parametrize(
    ("path", "budget"),
    [("/", 300), ("/register", 300), ("/tasks/nli/create", 300), ("/tasks/nli/validate", 300), ("/tasks/nli", 900)],
)
def test_page_weight_as_transferred(guest, path, budget):
    somebody = guest("ada")
    somebody.context.clear_cookies() if path == "/register" else None
    wire = somebody.context.new_cdp_session(somebody.page)
    wire.send("Network.enable")
    wire.send("Network.setCacheDisabled", {"cacheDisabled": True})
    received: list[float] = []
    wire.on("Network.loadingFinished", lambda event: received.append(event["encodedDataLength"]))
    somebody.page.goto(path, wait_until="networkidle")
    assert 5_000 < sum(received) < budget * 1024
