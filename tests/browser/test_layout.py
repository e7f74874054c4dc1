"""Pages with results: no table is cut, nothing is wider than the window, and only lists are long."""

from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from benchmarks.running import operate, platform
from tests.browser.people import Guest
from tests.browser.test_public_pages import CUT, SIDEWAYS, VIEWS
from tests.small_demo import prepare_home

pytestmark = [pytest.mark.browser, pytest.mark.slow]
LISTS = ("/models", "/evaluate", "/datasets")
PAGES = [
    *("/", "/tasks", "/leaderboards", "/models/nli-minilm", "/models/compare", "/badges", *LISTS),
    *(
        f"/tasks/nli{page}"
        for page in (
            *("", "/leaderboard", "/people", "/rounds", "/datasets", "/models", "/create", "/datasets/round-1"),
            *("/rounds/1", "/rounds/4", "/rounds/1/data", "/rounds/1/release"),
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
HEIGHT = "() => document.documentElement.scrollHeight"
TALLEST = {"/": 1780}
"""Pixels of a page in the wide view, where it is not 2,000."""
TALLEST_PAGE, TALLEST_HOME_ON_PHONE, TALLEST_FORM_ON_PHONE = 2000, 3600, 3600


@pytest.fixture(scope="module")
def storied(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimpleNamespace]:
    """A platform whose first task has three released rounds with scores."""
    home = tmp_path_factory.mktemp("storied")
    prepare_home(home, "nli")
    with platform(home) as base:
        yield SimpleNamespace(base=base, home=home)


@pytest.mark.parametrize("view", ["wide and light", "middling", "phone and dark"])
def test_no_table_is_cut_and_only_lists_are_long(chromium, storied, view):
    guest = Guest(chromium, storied.base, **VIEWS[view])
    problems = []
    for path in PAGES:
        response = guest.page.goto(path)
        assert response is not None, path
        assert response.status == 200, path
        guest.page.wait_for_load_state("networkidle")
        if guest.page.evaluate(SIDEWAYS) > 0:
            problems.append((path, "wider than the window"))
        problems += [(path, table) for table in guest.page.evaluate(CUT)]
        height = guest.page.evaluate(HEIGHT)
        if "wide" in view and path not in LISTS and height > TALLEST.get(path, TALLEST_PAGE):
            problems.append((path, height))
        if "phone" in view and path == "/" and height > TALLEST_HOME_ON_PHONE:
            problems.append((path, height))
    guest.context.close()
    assert problems == []


@pytest.mark.parametrize("view", ["middling", "phone and dark"])
def test_no_table_of_the_console_is_cut(chromium, storied, view):
    guest = Guest(chromium, storied.base, **VIEWS[view])
    guest.come_in("olivia")
    operate(storied.home, "user", "promote", "olivia", "--admin")
    problems = []
    for path in CONSOLE:
        guest.page.goto(path)
        problems += [(path, table) for table in guest.page.evaluate(CUT)]
        if guest.page.evaluate(SIDEWAYS) > 0:
            problems.append((path, "wider than the window"))
        height = guest.page.evaluate(HEIGHT)
        if "phone" in view and path.endswith("/config") and height > TALLEST_FORM_ON_PHONE:
            problems.append((path, height))
    guest.context.close()
    assert problems == []
