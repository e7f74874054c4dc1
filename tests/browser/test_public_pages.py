"""Every public page, wide, middling and on a phone, light and dark, from left to right and from right to left.

Nothing that axe finds at any level, nothing wider than the window, no target too small for a finger, no heavy page.
"""

import pytest
from playwright.sync_api import Page

from tests.web.gallery import AXE

pytestmark = [pytest.mark.browser, pytest.mark.slow]
INDEXES = [
    "/",
    "/tasks",
    "/leaderboards",
    "/models",
    "/datasets",
    "/evaluate",
    "/models/compare",
    "/login",
    "/register",
]
OF_A_TASK = ["", "/leaderboard", "/people", "/rounds", "/rounds/1", "/rounds/1/data", "/datasets", "/models", "/create"]
OF_ITS_BOARD = ["/matrix", "/pareto", "/humans", "/compare", "/transfer", "/ledger", "/snapshots", "/reported"]
PATHS = [
    *INDEXES,
    *(f"/tasks/nli{page}" for page in OF_A_TASK + OF_ITS_BOARD),
    "/models/nli-minilm",
    "/design",
]
VIEWS = {
    "wide and light": {"viewport": {"width": 1440, "height": 900}, "color_scheme": "light"},
    "middling": {"viewport": {"width": 1024, "height": 768}, "color_scheme": "light"},
    "phone and dark": {
        "viewport": {"width": 390, "height": 844},
        "color_scheme": "dark",
        "has_touch": True,
        "is_mobile": True,
    },
    "phone in Arabic": {
        "viewport": {"width": 390, "height": 844},
        "locale": "ar",
        "has_touch": True,
        "is_mobile": True,
    },
}
TOO_SMALL = """() => [
    ...document.querySelectorAll("a[href], button, input:not([type=hidden]), select, textarea, summary")]
    .filter((each) => each.checkVisibility({ visibilityProperty: true, opacityProperty: true }))
    .filter((each) => !each.closest(".skip, .sr-only, label, .span-words, .span-passage"))
    .map((each) => [each, each.getBoundingClientRect()])
    .filter(([each, { width, height }]) => width > 1 && (height < 23.5 || (width < 23.5 && each.localName !== "a")))
    .map(([each, { width, height }]) => `${each.textContent.trim().slice(0, 30)}: ${width} x ${height}`)"""
SIDEWAYS = """() => document.documentElement.scrollWidth - document.documentElement.clientWidth"""
CUT = """() => [...document.querySelectorAll(".table-scroll")]
    .filter((each) => each.checkVisibility() && each.scrollWidth > each.clientWidth + 1)
    .map((each) => each.getAttribute("aria-label") ?? each.id)"""
MOST_REQUESTS, MOST_BYTES = 8, 104 * 1024
"""Of a page without charts that need Vega, until it is loaded; its own parts and typefaces are among them."""


def findings(page: Page) -> list[str]:
    """Return all that axe finds, at any level."""
    page.evaluate(AXE.read_text(encoding="utf-8"))
    report = page.evaluate("() => axe.run({resultTypes: ['violations']})")["violations"]
    return [f"{rule['id']}: {node['html'][:120]}" for rule in report for node in rule["nodes"]]


@pytest.mark.parametrize("view", VIEWS)
def test_every_public_page_can_be_read_and_used(guest, view):
    page = guest(reduced_motion="reduce", **VIEWS[view]).page
    problems = []
    for path in PATHS:
        page.goto(path)
        problems += [(path, finding) for finding in findings(page)]
        if page.evaluate(SIDEWAYS) > 0:
            problems.append((path, "wider than the window"))
        if "wide" in view:
            problems += [(path, table) for table in page.evaluate(CUT)]
        if "phone" in view:
            problems += [(path, target) for target in page.evaluate(TOO_SMALL)]
    assert problems == []


def test_a_page_asks_for_few_files_and_weighs_little(guest):
    visitor = guest()
    wire = visitor.context.new_cdp_session(visitor.page)
    wire.send("Network.enable")
    wire.send("Network.setCacheDisabled", {"cacheDisabled": True})
    addresses: dict[str, str] = {}
    sizes: dict[str, float] = {}
    wire.on("Network.requestWillBeSent", lambda event: addresses.update({event["requestId"]: event["request"]["url"]}))
    wire.on("Network.loadingFinished", lambda event: sizes.update({event["requestId"]: event["encodedDataLength"]}))
    for path in ("/", "/tasks", "/leaderboards", "/models", "/tasks/nli"):
        sizes.clear()
        # What a page asks for after it was loaded, such as the live feed and what is polled, is no part of it.
        visitor.page.goto(path, wait_until="load")
        visitor.page.evaluate("() => document.fonts.ready.then(() => true)")
        parts = {addresses[request]: round(size / 1024, 1) for request, size in sizes.items()}
        assert len(parts) <= MOST_REQUESTS, (path, parts)
        assert 20_000 < sum(sizes.values()) <= MOST_BYTES, (path, parts)


def test_the_leaderboards_are_one_tap_away_on_a_phone_and_the_bar_covers_nothing(guest):
    page = guest(**VIEWS["phone and dark"]).page
    for path in ("/", "/tasks/nli/create", "/models", "/login"):
        page.goto(path)
        bar = page.get_by_role("navigation", name="Shortcuts")
        assert all(box["height"] >= 44 for box in (link.bounding_box() for link in bar.get_by_role("link").all()))
        page.evaluate("() => scrollTo(0, document.documentElement.scrollHeight)")
        last = page.locator("footer").bounding_box()
        assert last["y"] + last["height"] <= bar.bounding_box()["y"] + 1, path
        bar.get_by_role("link", name="Boards").tap()
        page.wait_for_url("**/leaderboards")
