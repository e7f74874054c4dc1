"""Access to the console, and links to it."""

import pytest
from fastapi.routing import iter_route_contexts

pytestmark = pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
TAB = 'href="/tasks/nli/manage"'


def test_owners_find_the_console_in_the_tabs_of_their_task(owner, ada, enter):
    assert TAB in enter(owner).get("/tasks/nli").text
    assert TAB in enter(owner).get("/tasks/nli/people").text
    assert TAB not in enter(ada).get("/tasks/nli").text


def test_the_console_is_closed_to_annotators_and_visitors(owner, ada, enter, browser):
    assert enter(ada).get("/tasks/nli/manage").status_code == 403
    away = browser().get("/tasks/nli/manage")
    assert away.status_code == 303
    assert away.headers["location"] == "/login?next=/tasks/nli/manage"


def test_a_task_that_does_not_exist_has_no_console(owner, enter):
    assert enter(owner).get("/tasks/nothing/manage").status_code == 404


def test_the_rail_marks_where_one_is(owner, enter):
    view = enter(owner).get("/tasks/nli/manage/contexts").text
    assert '<a href="/tasks/nli/manage/rounds" aria-current="true">Collect</a>' in view
    assert '<a href="/tasks/nli/manage/contexts" aria-current="page">Contexts</a>' in view
    assert view.count('href="/tasks/nli/manage/log"') == 0, "sections of other groups are one step away"


def test_routes_of_pages_and_of_the_api_share_no_name(app):
    """Templates address routes by name: of two with one name they would get the first."""
    result: dict[str, set[str]] = {}
    for route in iter_route_contexts(app.routes):
        result.setdefault(route.name, set()).add(route.path)
    console = {path for paths in result.values() for path in paths if "/manage" in path or path == "/tasks/new"}
    shared = {name: paths for name, paths in result.items() if paths & console and len(paths) > 1}
    # a form and the page that it is on may have one address, and so one name
    assert not shared
