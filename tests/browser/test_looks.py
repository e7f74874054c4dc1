"""Every page in light and dark, wide and narrow: nothing that axe calls serious, nothing too wide or too heavy."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.people import PHONE, WIDE
from tests.web.gallery import AXE

pytestmark = [pytest.mark.slow, pytest.mark.browser]
OPEN = ["/login", "/register"]
MEMBERS = ["/tasks/nli/people", "/settings", "/tasks/nli/reported", "/tasks/nli/submissions"]
MEMBERS += ["/tasks/nli/submit?kind=endpoint", "/tasks/nli/submit?kind=predictions", "/models/nli-minilm"]
"""Pages whose looks the gallery of `tests/web` does not show: those of the live loop are looked at there."""
SIDEWAYS = """() => [...document.querySelectorAll(".table-scroll:has(> .stacked)")]
    .filter((each) => each.scrollWidth > each.clientWidth + 1)
    .map((each) => each.getAttribute("aria-label") ?? each.id)"""
RULES = {
    "everything": "() => axe.run({resultTypes: ['violations']})",
    "narrow and dark": """() => axe.run({resultTypes: ['violations'], runOnly: ['color-contrast', 'link-in-text-block',
        'button-name', 'label', 'link-name', 'scrollable-region-focusable', 'select-name']})""",
}  # in the dark what has colours is looked at, on a phone what hides there or must be scrolled: all else is as it was


def serious(page: Page, rules: str = "everything") -> list[str]:
    if not AXE.exists():
        pytest.fail("axe-core is missing: run `python hatch_build.py`.")
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(AXE.read_text(encoding="utf-8"))
    report = page.evaluate(RULES[rules])["violations"]
    bad = [rule for rule in report if rule["impact"] in ("serious", "critical")]
    return [f"{rule['id']}: {node['html'][:200]}" for rule in bad for node in rule["nodes"]]


def looks_well(page: Page) -> None:
    """Check that nothing is serious on the page as it stands, wide and light, then on a phone and dark.

    The page is left as wide as a phone.
    """
    for size, scheme, rules in ((WIDE, "light", "everything"), (PHONE, "dark", "narrow and dark")):
        page.set_viewport_size(size)
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        expect(page.locator("html")).to_have_attribute("data-theme", scheme)
        expect(page.locator("html")).to_have_js_property("scrollWidth", size["width"])  # more is too wide
        assert size is WIDE or page.evaluate(SIDEWAYS) == [], (page.url, "tables of scores are cards on phones")
        assert serious(page, rules) == [], (page.url, size, scheme)


@pytest.mark.release
def test_pages_for_everybody_and_for_members(guest):
    for page, paths in ((guest().page, OPEN), (guest("ada").page, MEMBERS)):
        for path in paths:
            page.goto(path)
            looks_well(page)


WEIGHTS = {"/": 300, "/tasks/nli/create": 300, "/tasks/nli/validate": 300, "/tasks/nli": 900, "/register": 300}
"""KiB that each page may weigh; the last one is for people without an account."""


def test_page_weight_as_transferred(guest):
    person = guest("ada")
    wire = person.context.new_cdp_session(person.page)
    wire.send("Network.enable")
    wire.send("Network.setCacheDisabled", {"cacheDisabled": True})
    received: list[float] = []
    wire.on("Network.loadingFinished", lambda event: received.append(event["encodedDataLength"]))
    for path, budget in WEIGHTS.items():
        if path == "/register":
            person.context.clear_cookies()
        received.clear()
        person.page.goto(path)
        assert 5_000 < sum(received) < budget * 1024, path
