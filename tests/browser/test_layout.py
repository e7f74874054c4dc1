"""Every public page of a platform with results, wide, middling and on a phone, light and dark, from left to right and
from right to left.

Nothing that axe finds at any level, nothing wider than the window, no table that is cut, no target too small for a
finger, and only lists are long.
"""

import pytest
from playwright.sync_api import Page

from tests.browser.people import Guest
from tests.web.gallery import AXE

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.xdist_group("storied")]
LISTS = ("/models", "/evaluate", "/datasets")
PAGES = [
    *("/", "/tasks", "/leaderboards", "/models/nli-minilm", "/models/compare", "/badges", "/login", "/register"),
    *("/docs", "/docs/api", "/docs/api/rounds", "/competitions", "/terms", "/people", "/teams", "/hub", "/design"),
    *("/docs/how-to/hub", "/docs/api/accounts/post-accounts", "/tasks/nli/datasets/round-1/twins"),
    *(f"/evaluate/metric/{name}" for name in ("bleu", "expected_calibration_error", "squad_v2", "trec_eval")),
    *LISTS,
    *(
        f"/tasks/nli{page}"
        for page in (
            *("", "/leaderboard", "/people", "/rounds", "/datasets", "/models", "/create", "/datasets/round-1"),
            *("/rounds/1", "/rounds/4", "/rounds/1/data", "/rounds/1/release", "/snapshots"),
            *("/matrix", "/slices", "/pareto", "/humans", "/compare", "/transfer", "/ledger", "/reported"),
        )
    ),
]
CONSOLE = [
    *(
        f"/tasks/nli/manage{page}"
        for page in (
            *("", "/rounds", "/rounds/1", "/contexts", "/cycle", "/examples", "/people", "/figures", "/moderation"),
            *("/data", "/log", "/announcements", "/webhooks", "/config", "/settings"),
        )
    ),
    *("/admin", "/admin/people", "/admin/tasks", "/admin/models", "/admin/jobs", "/admin/settings"),
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
RULES = {
    "wide and light": "{}",
    "phone and dark": "{}",
    "phone in Arabic": "{'color-contrast': {enabled: false}}",
}
"""The views that axe looks at, with its rules that differ: the middling one has what the wide one has, and colours are
the same in all languages."""
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
HEIGHT = "() => document.documentElement.scrollHeight"
DRAWN = """() => new Promise((done) => {
    const near = (chart) => chart.getBoundingClientRect().top < innerHeight + 300;
    const drawn = (chart) => chart.querySelector("svg") || !chart.table.hidden;
    const look = () => [...document.querySelectorAll("vega-chart")].every((chart) => !near(chart) || drawn(chart))
        ? done() : setTimeout(look, 20);
    look();
})"""
"""Wait for the charts that are drawn as they come near the window."""
TALLEST = {"/": 1780}
"""Pixels of a page in the wide view, where it is not 2,000."""
TALLEST_PAGE, TALLEST_HOME_ON_PHONE, TALLEST_FORM_ON_PHONE = 2000, 3650, 3600


def findings(page: Page, rules: str) -> list[str]:
    """Return all that axe finds, at any level."""
    page.evaluate(AXE.read_text(encoding="utf-8"))
    report = page.evaluate(f"() => axe.run({{resultTypes: ['violations'], rules: {rules}}})")["violations"]
    return [f"{rule['id']}: {node['html'][:120]}" for rule in report for node in rule["nodes"]]


def misfits(page: Page) -> list[str]:
    """Return what does not fit into the window."""
    return page.evaluate(CUT) + (["wider than the window"] if page.evaluate(SIDEWAYS) > 0 else [])


@pytest.mark.parametrize("view", VIEWS)
def test_every_public_page_can_be_read_and_used(chromium, storied, view):
    guest = Guest(chromium, storied.base, **VIEWS[view])
    page, problems = guest.page, []
    while page.request.get("/docs/api").status == 503:
        pass  # the first reader of the reference waits for it
    for path in PAGES:
        response = page.goto(path)
        assert response is not None, path
        assert response.status == 200, path
        page.evaluate(DRAWN)
        flaws = misfits(page)
        if view in RULES:
            flaws += findings(page, RULES[view])
        if "phone" in view:
            flaws += page.evaluate(TOO_SMALL)
        height = page.evaluate(HEIGHT)
        most = TALLEST.get(path, TALLEST_PAGE) if "wide" in view and path not in LISTS else height
        if height > (TALLEST_HOME_ON_PHONE if "dark" in view and path == "/" else most):
            flaws.append(f"{height} pixels high")
        problems += [(path, flaw) for flaw in flaws]
    guest.context.close()
    assert problems + guest.console_errors == []


@pytest.mark.parametrize("view", ["middling", "phone and dark"])
def test_no_table_of_the_console_is_cut(chromium, storied, view):
    guest = Guest(chromium, storied.base, **VIEWS[view])
    guest.come_in("ada", storied.cookies)
    problems = []
    for path in CONSOLE:
        guest.page.goto(path)
        problems += [(path, flaw) for flaw in misfits(guest.page)]
        height = guest.page.evaluate(HEIGHT)
        if "phone" in view and path.endswith("/config") and height > TALLEST_FORM_ON_PHONE:
            problems.append((path, height))
    guest.context.close()
    assert problems == []
