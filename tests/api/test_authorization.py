"""Access of each role to each route. A route without a line in `routes.ROUTES` fails the build,
so does one of the API without a scope. Each role really calls each route: those without access are turned away,
the others get past the door.
"""

import re
from collections.abc import Callable, Iterable
from itertools import combinations

import httpx2
import pytest
from fastapi import FastAPI
from fastapi.dependencies.models import Dependant
from fastapi.routing import iter_route_contexts
from starlette.routing import Mount

from dynabench.kit.settings import Settings
from dynabench.people.accounts import auth
from dynabench.people.accounts.tables import SCOPES
from tests.api.route import EVERYBODY, MAY, SEATED, Route, scope_of
from tests.api.routes import ROUTES
from tests.api.stage import Scene, Stage, new_stage
from tests.collection import conftest as world
from tests.furnished import Furnish, bare

host, rules = world.host, world.rules
RANKED = ("anon", "member", "author", "expert", "moderator", "owner", "admin")
"""Roles from the least to the most."""
pytestmark = pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)  # the door is the same on both


def identifies(dependant: Dependant) -> bool:
    """Return whether a route with these dependencies knows who sends the request."""
    return dependant.call is auth.scheme or any(identifies(dependency) for dependency in dependant.dependencies)


def routes_of(app: FastAPI) -> set[tuple[str, str]]:
    """All (method, path) that the application serves; HEAD goes with GET, and static files are for everybody."""
    result = set()
    for route in iter_route_contexts(app.routes):
        if isinstance(route.original_route, Mount):
            assert route.path == "/static"
            continue
        result |= {(method, route.path) for method in route.methods or ()}
    return {(method, path) for method, path in result if method != "HEAD"}


def test_every_route_says_who_may_use_it(app: FastAPI):
    missing = sorted(routes_of(app) - ROUTES.keys())
    assert not missing, f"say in ROUTES who may use {missing}"
    gone = sorted(ROUTES.keys() - routes_of(app))
    assert not gone, f"no such route any more: {gone}"


FOR_NOBODY = re.compile(
    r"/(api|social)/|\.\w+$|/(healthz|readyz|metrics|live|live/events|\.well-known/dynabench-key)$|^/icon-"
)
"""Addresses of probes, files and pictures, which are the same for everybody."""


def test_every_page_knows_who_is_logged_in(app: FastAPI):
    routes = [route for route in iter_route_contexts(app.routes) if not isinstance(route.original_route, Mount)]
    pages = [route for route in routes if "GET" in (route.methods or ()) and not FOR_NOBODY.search(route.path)]
    assert not sorted(page.path for page in pages if not identifies(page.dependant))


def open_to_all(settings: Settings) -> Scene:
    with new_stage(settings) as stage:
        return stage.scene


def for_the_invited(settings: Settings) -> Scene:
    with new_stage(settings, invited=True) as stage:
        return stage.scene


@pytest.fixture
def furnish(request: pytest.FixtureRequest) -> Furnish:
    names = request.fixturenames
    return for_the_invited if "invited" in names else open_to_all if "stage" in names else bare


@pytest.fixture
def invited(stage: Stage) -> Stage:
    """The stage of a task for invited people."""
    return stage


UNSIGNED = ("/studies/", "/api/v1/crowd/", "/api/hub/api/{kinds}/{name}", "/api/hub/{name}/")
"""Addresses where a log-in does not help: a study asks for the platform's word, a webhook for its signature, and of the
hub no repository is without a namespace."""


OF_NO_TASK = (
    *("/hub/", "/api/hub/", "/api/v1/hub/", "/docs/", "/social/", "/icon-", "/login/", "/mail/", "/api/v1/mail/"),
    *("/settings/", "/api/v1/tokens/", "/admin/", "/api/v1/admin/", "/inbox/", "/classes/", "/api/v1/classes/"),
    *("/teams/", "/api/v1/teams/", "/competitions/", "/api/v1/competitions/", "/evaluate/", "/api/v1/evaluate/"),
    *("/open-evaluations/", "/api/v1/open-evaluations/"),
)
"""Routes that name something, but nothing of the task for invited people: there they are the same routes."""


def turned_away(answer: httpx2.Response, role: str, path: str) -> bool:
    """Visitors are asked to log in; members learn that they may not, or not even that there is something."""
    if path.startswith("/api/hub/xet/"):  # takes tokens of its own alone
        return answer.status_code == 401
    if role == "anon" and not path.startswith(UNSIGNED):
        if path.startswith("/api/"):
            return answer.status_code == 401
        return answer.status_code == 303 and answer.headers["location"].startswith("/login?next=")
    return answer.status_code in (403, 404)


def let_in(answer: httpx2.Response) -> bool:
    """Past the door: done, or refused by a rule about the thing itself."""
    to_login = answer.headers.get("location", "").startswith("/login")
    return answer.status_code in (200, 201, 202, 204, 303, 409, 422) and not to_login


def walk(stage: Stage, role: str, may: Callable[[Route], bool], routes: Iterable[tuple[str, str]]) -> list[str]:
    """Call routes as `role`; what went otherwise than `may` says."""
    wrong = []
    for method, path in routes:
        route = ROUTES[method, path]
        answer = stage.call(method, path, role, route)
        fine = let_in(answer) if may(route) else turned_away(answer, role, path)
        if not fine:
            meant = "may" if may(route) else "may not"
            wrong.append(f"{role} {meant} {method} {path}: {answer.status_code} {answer.text[:200]}")
    return wrong


def telling_roles(rule: str) -> set[str]:
    """Return the fewest roles that tell a rule from every other one, and from every least rank that may get in."""
    others = [
        *MAY.values(),
        *(set(RANKED[least:]) | more for least in range(len(RANKED)) for more in (set(), {"banned"})),
    ]
    differences = [MAY[rule] ^ other for other in [*others, set()] if other != MAY[rule]]
    choices = (set(roles) for size in range(1, len(EVERYBODY)) for roles in combinations(sorted(EVERYBODY), size))
    return next(roles for roles in choices if all(roles & difference for difference in differences))


CALLERS = {person: telling_roles(person) for person in MAY}
"""Who calls the routes of a rule: a route with another rule than it should have is called by somebody who notices."""


@pytest.mark.slow
@pytest.mark.parametrize("role", sorted(EVERYBODY))
def test_who_may_gets_in_and_who_may_not_is_turned_away(stage: Stage, role: str):
    routes = [key for key, route in ROUTES.items() if role in CALLERS[route.access]]
    assert not walk(stage, role, lambda route: role in MAY[route.access], routes)


@pytest.mark.slow
@pytest.mark.parametrize("role", sorted(EVERYBODY))
def test_every_route_is_called_by_everybody(stage: Stage, role: str):
    """By those whom the quick test above leaves out."""
    routes = [key for key, route in ROUTES.items() if role not in CALLERS[route.access]]
    assert not walk(stage, role, lambda route: role in MAY[route.access], routes)


@pytest.mark.slow
@pytest.mark.parametrize("role", sorted(EVERYBODY))
def test_every_route_of_a_task_for_invited_people_tells_who_may(invited: Stage, role: str):
    """Each route of the task and of its things, by those who tell its rule from others and by those outside."""
    outside = role in ("anon", "member")
    routes = [
        (method, path)
        for (method, path), route in ROUTES.items()
        if "{" in path and not path.startswith(OF_NO_TASK) and (outside or role in CALLERS[route.access])
    ]
    assert not walk(
        invited, role, lambda route: role in MAY[route.access] and not (outside and route.access in SEATED), routes
    )


@pytest.mark.slow
@pytest.mark.parametrize("role", ["anon", "member", "expert"])
def test_a_task_for_invited_people_is_for_people_with_a_role(invited: Stage, role: str):
    """The routes that ask for a seat, and what everybody reads of the task all the same."""
    outside = role in ("anon", "member")
    routes = [
        (method, path)
        for (method, path), route in ROUTES.items()
        if route.access in SEATED or (outside and method == "GET" and route.access == "anyone" and "{task}" in path)
    ]
    assert not walk(
        invited, role, lambda route: role in MAY[route.access] and not (outside and route.access in SEATED), routes
    )


def test_every_route_of_the_api_declares_the_scope_that_tokens_need(app: FastAPI):
    wrong = []
    for context in iter_route_contexts(app.routes):
        for method in (context.methods or set()) - {"HEAD"}:
            if (context.path or "").startswith("/api/v1/"):
                declared = sorted(auth.scopes_of(context.dependant, method))
                if declared != [meant := scope_of(method, ROUTES[method, context.path])]:
                    wrong.append(f"{method} {context.path}: declares {declared}, is meant to need {meant}")
    assert not wrong


def api_routes() -> list[tuple[str, str, Route]]:
    return [(method, path, route) for (method, path), route in ROUTES.items() if path.startswith("/api/v1/")]


def somebody_who_may(route: Route) -> str:
    return next(role for role in ("owner", "author", "admin", "member") if role in MAY[route.access])


def routes_for_people() -> list[tuple[str, str, Route]]:
    """The routes of the API that somebody with a token may use: all but those for signed messages."""
    return [entry for entry in api_routes() if MAY[entry[2].access]]


@pytest.mark.slow
def test_a_token_without_the_scope_is_refused_by_name(stage: Stage):
    tokens = {
        (role, lacking): stage.token(role, *(scope for scope in SCOPES if scope != lacking))
        for role in ("owner", "author", "admin", "member")
        for lacking in SCOPES
    }
    wrong = []
    for method, path, route in routes_for_people():
        role, needed = somebody_who_may(route), scope_of(method, route)
        answer = stage.program(method, path, role, route, tokens[role, needed])
        if answer.status_code != 403 or answer.json().get("scope") != needed:
            wrong.append(f"{method} {path}: {answer.status_code} {answer.text[:200]}")
    assert not wrong


@pytest.mark.slow
@pytest.mark.parametrize("scope", SCOPES)
def test_a_token_with_nothing_but_the_scope_gets_in(stage: Stage, scope: str):
    tokens = {role: stage.token(role, scope) for role in ("owner", "author", "admin", "member")}
    wrong = []
    for method, path, route in routes_for_people():
        if scope_of(method, route) == scope:
            role = somebody_who_may(route)
            answer = stage.program(method, path, role, route, tokens[role])
            if not let_in(answer):
                wrong.append(f"{method} {path}: {answer.status_code} {answer.text[:200]}")
    assert not wrong


@pytest.mark.slow
def test_tokens_open_no_page(stage: Stage):
    opened = []
    for method, path in ROUTES:
        if not path.startswith("/api/") and "anon" not in MAY[ROUTES[method, path].access]:
            answer = stage.callers["admin"].request(method, stage.address(path, "admin"))
            if not turned_away(answer, "anon", path):
                opened.append(f"{method} {path}: {answer.status_code}")
    assert not opened


@pytest.mark.slow
def test_cookies_change_nothing_without_the_forms_token_or_from_a_page_of_another_site(stage: Stage):
    browser = stage.browsers["admin"]
    elsewhere = {"X-CSRF-Token": browser.token("/settings"), "Sec-Fetch-Site": "cross-site"}
    accepted = []
    for method, path in ROUTES:
        if method not in ("GET", "HEAD"):
            address = stage.address(path, "admin")
            for headers in ({}, elsewhere):
                answer = browser.client.request(method, address, headers=headers)
                if answer.status_code != 403:
                    accepted.append(f"{method} {path} {list(headers)}: {answer.status_code}")
    assert not accepted


@pytest.mark.slow
def test_tokens_of_nobody_open_nothing(stage: Stage):
    for method, path in ROUTES:
        if path.startswith("/api/v1/") and ROUTES[method, path].access != "anyone":
            answer = stage.client.request(
                method, stage.address(path, "anon"), headers={"Authorization": "Bearer dyna_no"}
            )
            assert answer.status_code == 401, (method, path)
