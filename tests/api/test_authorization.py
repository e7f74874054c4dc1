"""Who may use which route. A route without an entry here fails the build, and so does one of the API without a scope.

Each route is then really called by everybody: who may not is turned away, who may gets past the door. A route is one
line: who may (`MAY`), a body with which it gets as far as its rules, and where the usual one does not fit (`scope_of`)
the scope that tokens need. In bodies, `{context}` is a context that ada was given and `{mia}` the number of a person.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI
from fastapi.routing import iter_route_contexts
from starlette.routing import Mount

from dynabench.accounts import auth
from dynabench.accounts.tables import SCOPES
from dynabench.db import Database
from tests.api.stage import NAMES, Stage
from tests.collection import conftest as world
from tests.conftest import Caller

host, rules = world.host, world.rules
pytestmark = pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)  # the door is the same on both

EVERYBODY = {"anon", *NAMES}
MEMBERS = set(NAMES)
MAY = {
    "anyone": EVERYBODY,
    "member": MEMBERS,
    "unbanned": EVERYBODY - {"banned"},  # writing: visitors have the sandbox
    "seated": MEMBERS - {"banned"},  # checking
    "involved": {"author", "owner", "admin"},  # in the example that `author` wrote
    "overseeing": {"author", "moderator", "owner", "admin"},  # the same, and whoever looks after what is written
    "welcome": MEMBERS - {"banned"},  # to what makes people members of a task
    "others": MEMBERS - {"author", "banned"},  # anybody who may check but its author
    "author": {"author"},
    "moderator": {"moderator", "owner", "admin"},
    "owner": {"owner", "admin"},
    "admin": {"admin"},
}
SEATED = {"unbanned", "seated", "others"}  # in tasks for invited people these are for people with a role alone
NEW_TASK = """
id: another
name: Another
answer: {name: label, type: choice, options: [a, b], goal: chosen}
input: [{name: text, type: text}]
"""
ACCOUNT = {"email": "new@example.org", "password": "correct horse battery", "username": "new"}


@dataclass(frozen=True)
class Route:
    """Who may use a route, with what it is called, and which scope it needs of tokens (see `scope_of`).

    `hidden` says that the route shows hidden examples, or why they are hidden, to those who may use it.
    """

    who: str
    json: Any = None
    form: dict[str, Any] | None = None
    params: dict[str, str] | None = None
    content: bytes | None = None
    scope: str = ""
    hidden: bool = False


def scope_of(method: str, route: Route) -> str:
    """The scope that a route of the API needs: `read` for GET, else by who may, where the line says nothing else."""
    if route.scope or method == "GET":
        return route.scope or "read"
    return "manage" if route.who in ("moderator", "owner", "admin") else "annotate"


SANDBOX = {"context_id": "{context}", "input": {"hypothesis": "It is not so."}, "answer": {"label": "neutral"}}
# What ends something stands last: the table is walked from top to bottom.
ROUTES: dict[tuple[str, str], Route] = {
    ("GET", "/healthz"): Route("anyone"),
    ("GET", "/readyz"): Route("anyone"),
    ("GET", "/metrics"): Route("anyone"),
    ("GET", "/api/openapi.json"): Route("anyone"),
    # accounts
    ("GET", "/register"): Route("anyone"),
    ("POST", "/register"): Route("anyone", form={}),
    ("GET", "/login"): Route("anyone"),
    ("GET", "/settings"): Route("member"),
    ("POST", "/settings/profile"): Route("member", form={"pseudonym": ""}),
    ("POST", "/settings/password"): Route("member", form={"current": "", "password": ""}),
    ("POST", "/settings/tokens"): Route("member", form={"name": "laptop", "scopes": ["read"]}),
    ("POST", "/settings/tokens/{id}/revoke"): Route("member", form={}),
    ("POST", "/settings/notices/{id}/seen"): Route("member", form={}),
    ("GET", "/people/me"): Route("member"),
    ("GET", "/settings/examples"): Route("member"),
    ("POST", "/settings/examples"): Route("member", form={"confirm": ""}),
    ("GET", "/settings/delete"): Route("member"),
    ("POST", "/settings/delete"): Route("member", form={"name": ""}),
    ("POST", "/api/v1/accounts"): Route("anyone", json=ACCOUNT, scope="account"),
    ("POST", "/api/v1/tokens"): Route(
        "anyone", json={"username": "mia", "password": "correct horse battery", "scopes": ["read"]}, scope="account"
    ),
    ("GET", "/api/v1/me"): Route("member"),
    ("PATCH", "/api/v1/me"): Route("member", json={}, scope="account"),
    ("POST", "/api/v1/me/password"): Route("member", json={"current": "", "password": ""}, scope="account"),
    ("GET", "/api/v1/me/notices"): Route("member"),
    ("POST", "/api/v1/me/notices/{id}/seen"): Route("member", scope="account"),
    ("GET", "/api/v1/me/examples"): Route("member"),
    ("POST", "/api/v1/me/withdrawal"): Route("member", json={"confirm": ""}, scope="account"),
    ("POST", "/api/v1/me/deletion"): Route("member", json={"confirm": "", "password": ""}, scope="account"),
    ("GET", "/api/v1/tokens"): Route("member", scope="account"),
    # rounds
    ("GET", "/api/v1/tasks"): Route("anyone"),
    ("POST", "/api/v1/tasks"): Route("admin", json={"config": NEW_TASK}),
    ("GET", "/api/v1/tasks/{task}"): Route("anyone"),
    ("GET", "/api/v1/tasks/{task}/rounds/{n}"): Route("anyone"),
    ("GET", "/api/v1/tasks/{task}/rounds"): Route("anyone"),
    ("GET", "/api/v1/tasks/{task}/contexts"): Route("owner"),
    ("GET", "/api/v1/tasks/{task}/versions"): Route("owner"),
    ("GET", "/api/v1/tasks/{task}/versions/{n}"): Route("owner"),
    ("GET", "/api/v1/tasks/{task}/acts"): Route("owner", hidden=True),
    ("GET", "/api/v1/tasks/{task}/contexts/files/{job}/refused"): Route("owner"),
    ("POST", "/api/v1/tasks/{task}/rounds"): Route("owner", json={"targets": ["nli-a"], "draft": True}),
    ("POST", "/api/v1/tasks/{task}/rounds/{n}/open"): Route("owner"),
    ("POST", "/api/v1/tasks/{task}/contexts"): Route(
        "owner", json={"contexts": [{"values": {"premise": "It rains."}}]}
    ),
    ("POST", "/api/v1/tasks/{task}/contexts/files"): Route("owner", params={"name": "c.jsonl"}, content=b"{}\n"),
    ("GET", "/api/v1/tasks/{task}/contexts/files/{job}"): Route("owner"),
    ("POST", "/api/v1/tasks/{task}/roles"): Route("owner", json={"username": "mia", "role": None}),
    ("GET", "/api/v1/tasks/{task}/people"): Route("moderator"),
    ("POST", "/api/v1/tasks/{task}/warnings"): Route("moderator", json={"person": "{mia}", "text": "Be kind."}),
    ("POST", "/api/v1/tasks/{task}/bans"): Route("moderator", json={"person": "{bea}", "reason": "Spam."}),
    ("GET", "/api/v1/tasks/{task}/invitations"): Route("owner"),
    ("POST", "/api/v1/tasks/{task}/invitations"): Route("owner", json={"role": "expert"}),
    ("DELETE", "/api/v1/tasks/{task}/invitations/{id}"): Route("owner"),
    # collection
    ("POST", "/api/v1/tasks/{task}/contexts/next"): Route("unbanned"),
    ("POST", "/api/v1/tasks/{task}/examples"): Route("unbanned", json=SANDBOX | {"sandbox": True}),
    ("GET", "/api/v1/tasks/{task}/examples"): Route("moderator"),
    ("GET", "/api/v1/examples/{id}"): Route("involved", hidden=True),
    ("POST", "/api/v1/examples/{id}/explanations"): Route("author", json={"why_correct": "Because."}),
    ("GET", "/api/v1/examples/{id}/attributions"): Route("involved", hidden=True),
    ("POST", "/api/v1/attributions"): Route(
        "unbanned", json=SANDBOX | {"task": "nli", "model": "nli-a", "method": "occlusion"}
    ),
    ("POST", "/api/v1/tasks/{task}/seeds"): Route("owner", json={"seeds": []}),
    ("POST", "/api/v1/tasks/{task}/seeds/examples"): Route("owner", json={"round": 1}),
    ("POST", "/api/v1/examples/{id}/hide"): Route("moderator", json={"reason": "spam"}),
    ("POST", "/api/v1/examples/{id}/restore"): Route("moderator", json={}),
    ("GET", "/api/v1/tasks/{task}/rounds/{n}/board"): Route("anyone"),
    ("GET", "/"): Route("anyone"),
    ("POST", "/try"): Route("anyone", form={"task": "sentiment"}),
    ("GET", "/tasks/{task}"): Route("anyone"),
    ("GET", "/tasks/{task}/rounds/{n}"): Route("anyone"),
    ("GET", "/tasks/{task}/people"): Route("anyone"),
    ("GET", "/tasks/{task}/create"): Route("unbanned"),
    ("POST", "/tasks/{task}/create"): Route("unbanned", form={"context_id": "{context}", "sandbox": "true"}),
    ("POST", "/tasks/{task}/context"): Route("unbanned", form={}),
    ("POST", "/tasks/{task}/warning"): Route("anyone", form={"next": "/tasks/nli/create"}),
    ("POST", "/examples/{id}/perturbation"): Route("author", form={}),
    ("POST", "/examples/{id}/explanation"): Route("author", form={"explanation.why_correct": "Because."}),
    # validation
    ("POST", "/api/v1/tasks/{task}/validations/next"): Route("seated"),
    ("GET", "/api/v1/tasks/{task}/rounds/{number}/statistics"): Route("anyone"),
    ("GET", "/tasks/{task}/validate"): Route("seated"),
    ("POST", "/api/v1/examples/{id}/validations"): Route("others", json={"vote": "correct"}),
    ("GET", "/api/v1/examples/{id}/validations/attributions"): Route("member"),
    ("POST", "/api/v1/examples/{id}/validations/undo"): Route("member"),
    ("POST", "/api/v1/examples/{id}/skip"): Route("others"),
    ("POST", "/tasks/{task}/validate/{id}"): Route("others", form={"vote": "correct"}),
    ("POST", "/tasks/{task}/validate/{id}/undo"): Route("seated", form={}),
    ("POST", "/tasks/{task}/validate/{id}/skip"): Route("others", form={}),
    # datasets
    ("GET", "/api/v1/tasks/{task}/export"): Route("owner"),
    ("POST", "/api/v1/tasks/{task}/imports/files"): Route("owner", params={"name": "x.jsonl"}, content=b"{}\n"),
    ("POST", "/api/v1/tasks/{task}/imports/preview"): Route("owner", json={"file": "gone"}),
    ("POST", "/api/v1/tasks/{task}/imports"): Route("owner", json={"file": "gone"}),
    ("POST", "/api/v1/tasks/{task}/imports/hub"): Route("owner", json={"dataset": "x", "into": "nothing"}),
    ("GET", "/api/v1/tasks/{task}/imports"): Route("owner"),
    ("GET", "/api/v1/tasks/{task}/imports/{job}"): Route("owner"),
    ("GET", "/api/v1/tasks/{task}/imports/{job}/refused"): Route("owner"),
    # console
    ("GET", "/tasks/{task}/manage"): Route("moderator"),
    ("GET", "/tasks/{task}/manage/people"): Route("moderator"),
    ("GET", "/tasks/{task}/manage/people.csv"): Route("moderator"),
    ("GET", "/tasks/{task}/manage/examples.csv"): Route("moderator"),
    ("GET", "/tasks/{task}/manage/contexts.csv"): Route("owner"),
    ("POST", "/tasks/{task}/manage/people/roles"): Route("owner", form={"username": "mia", "role": ""}),
    ("POST", "/tasks/{task}/manage/people/{id}/ban"): Route("moderator", form={"reason": "Spam."}),
    ("POST", "/tasks/{task}/manage/people/{id}/lift"): Route("moderator", form={}),
    ("POST", "/tasks/{task}/manage/people/invitations"): Route("owner", form={"role": "expert"}),
    ("POST", "/tasks/{task}/manage/people/invitations/{id}/revoke"): Route("owner", form={}),
    ("GET", "/tasks/{task}/manage/examples"): Route("moderator"),
    ("GET", "/tasks/{task}/manage/examples/{id}"): Route("moderator", hidden=True),
    ("POST", "/tasks/{task}/manage/examples/{id}/{act}"): Route("moderator", form={"reason": ""}),
    ("GET", "/tasks/{task}/manage/figures"): Route("moderator"),
    ("GET", "/tasks/{task}/manage/figures.csv"): Route("moderator"),
    ("GET", "/tasks/{task}/manage/moderation"): Route("moderator"),
    ("GET", "/api/v1/tasks/{task}/rounds/{n}/figures"): Route("moderator", scope="manage"),
    ("GET", "/api/v1/tasks/{task}/rounds/{n}/annotators"): Route("moderator", scope="manage"),
    ("GET", "/api/v1/tasks/{task}/moderation"): Route("moderator", scope="manage"),
    ("POST", "/api/v1/examples/{id}/dismiss"): Route("moderator", json={"reason": "harmless"}),
    ("POST", "/api/v1/examples/{id}/reopen"): Route("moderator", json={"reason": "again"}),
    ("GET", "/tasks/new"): Route("admin"),
    ("POST", "/tasks/new"): Route("admin", form={"config": "id: x"}),
    ("GET", "/tasks/{task}/manage/config"): Route("owner"),
    ("POST", "/tasks/{task}/manage/config"): Route("owner", form={"config": "id: x"}),
    ("GET", "/tasks/{task}/manage/config/versions/{n}"): Route("owner"),
    ("GET", "/tasks/{task}/manage/config/versions/{n}.yaml"): Route("owner"),
    ("GET", "/tasks/{task}/manage/log"): Route("owner", hidden=True),
    ("GET", "/tasks/{task}/manage/log.csv"): Route("owner", hidden=True),
    ("GET", "/tasks/{task}/manage/rounds"): Route("owner"),
    ("POST", "/tasks/{task}/manage/rounds"): Route("owner", form={}),
    ("GET", "/tasks/{task}/manage/rounds/{n}"): Route("owner"),
    ("POST", "/tasks/{task}/manage/rounds/{n}/open"): Route("owner", form={}),
    ("GET", "/tasks/{task}/manage/data"): Route("owner"),
    ("POST", "/tasks/{task}/manage/data/files"): Route("owner", form={}),
    ("POST", "/tasks/{task}/manage/data/hub"): Route("owner", form={"dataset": "?"}),
    ("GET", "/tasks/{task}/manage/data/files/{file}"): Route("owner"),
    ("POST", "/tasks/{task}/manage/data/files/{file}"): Route("owner", form={}),
    ("GET", "/tasks/{task}/manage/data/imports/{job}"): Route("owner"),
    ("GET", "/tasks/{task}/manage/data/imports/{job}/refused.csv"): Route("owner"),
    ("GET", "/tasks/{task}/manage/contexts"): Route("owner"),
    ("POST", "/tasks/{task}/manage/contexts/files"): Route("owner", form={}),
    ("GET", "/tasks/{task}/manage/contexts/files/{id}"): Route("owner"),
    ("POST", "/tasks/{task}/manage/contexts/files/{id}"): Route("owner", form={"then": "look"}),
    ("GET", "/tasks/{task}/manage/contexts/imports/{job}"): Route("owner"),
    ("GET", "/tasks/{task}/manage/contexts/imports/{job}/refused.csv"): Route("owner"),
    ("POST", "/tasks/{task}/manage/contexts/{id}/delete"): Route("owner", form={}),
    # what changes who may, or ends something
    ("GET", "/join/{secret}"): Route("anyone"),
    ("POST", "/join/{secret}"): Route("welcome", form={}),
    ("POST", "/api/v1/invitations/accept"): Route("welcome", json={"secret": "{secret}"}),
    ("DELETE", "/api/v1/tasks/{task}/bans/{id}"): Route("moderator"),
    ("POST", "/api/v1/examples/{id}/retract"): Route("author"),
    ("POST", "/examples/{id}/retraction"): Route("author", form={}),
    ("POST", "/people/me/examples/{id}/retraction"): Route("author", form={}),
    ("POST", "/api/v1/tasks/{task}/rounds/{n}/close"): Route("owner"),
    ("POST", "/tasks/{task}/manage/rounds/{n}/close"): Route("owner", form={}),
    ("DELETE", "/api/v1/tokens/{id}"): Route("member", scope="account"),
    ("DELETE", "/api/v1/tasks/{task}/contexts/{id}"): Route("owner"),
    ("POST", "/login"): Route("anyone", form={"username": "mia", "password": "correct horse battery"}),
    ("POST", "/logout"): Route("anyone", form={}),
}


def routes_of(app: FastAPI) -> set[tuple[str, str]]:
    """All (method, path) that the application serves; HEAD goes with GET, and static files are for everybody."""
    found = set()
    for route in iter_route_contexts(app.routes):
        if isinstance(route.original_route, Mount):
            assert route.path == "/static"
            continue
        found |= {(method, route.path) for method in route.methods or ()}
    return {(method, path) for method, path in found if method != "HEAD"}


def test_every_route_says_who_may_use_it(app: FastAPI):
    missing = sorted(routes_of(app) - ROUTES.keys())
    assert not missing, f"say in ROUTES who may use {missing}"
    gone = sorted(ROUTES.keys() - routes_of(app))
    assert not gone, f"no such route any more: {gone}"


@pytest.fixture
def stage(client: Any, database: Database, person: Callable[[str], Caller]) -> Iterator[Stage]:
    made = Stage(client, database, person)
    yield made
    made.close()


@pytest.fixture
def invited(client: Any, database: Database, person: Callable[[str], Caller]) -> Iterator[Stage]:
    """The stage of a task for invited people."""
    made = Stage(client, database, person, invited=True)
    yield made
    made.close()


def turned_away(answer: httpx2.Response, role: str, path: str) -> bool:
    """Visitors are asked to log in; members learn that they may not, or not even that there is something."""
    if role == "anon":
        if path.startswith("/api/"):
            return answer.status_code == 401
        return answer.status_code == 303 and answer.headers["location"].startswith("/login?next=")
    return answer.status_code in (403, 404)


def let_in(answer: httpx2.Response) -> bool:
    """Past the door: done, or refused by a rule about the thing itself."""
    to_login = answer.headers.get("location", "").startswith("/login")
    return answer.status_code in (200, 201, 202, 204, 303, 409, 422) and not to_login


def walk(stage: Stage, role: str, may: Callable[[Route], bool]) -> list[str]:
    """Call every route as `role`; what went otherwise than `may` says."""
    wrong = []
    for (method, path), route in ROUTES.items():
        answer = stage.call(method, path, role, route)
        fine = let_in(answer) if may(route) else turned_away(answer, role, path)
        if not fine:
            meant = "may" if may(route) else "may not"
            wrong.append(f"{role} {meant} {method} {path}: {answer.status_code} {answer.text[:200]}")
    return wrong


@pytest.mark.parametrize("role", sorted(EVERYBODY))
def test_who_may_gets_in_and_who_may_not_is_turned_away(stage: Stage, role: str):
    assert not walk(stage, role, lambda route: role in MAY[route.who])


@pytest.mark.parametrize("role", ["anon", "member", "author", "expert", "moderator", "owner", "banned"])
def test_a_task_for_invited_people_is_for_people_with_a_role(invited: Stage, role: str):
    outside = role in ("anon", "member")
    assert not walk(invited, role, lambda route: role in MAY[route.who] and not (outside and route.who in SEATED))


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
    return next(role for role in ("owner", "author", "admin", "member") if role in MAY[route.who])


def test_a_token_without_the_scope_is_refused_by_name(stage: Stage):
    tokens = {
        (role, lacking): stage.token(role, *(scope for scope in SCOPES if scope != lacking))
        for role in ("owner", "author", "admin", "member")
        for lacking in SCOPES
    }
    wrong = []
    for method, path, route in api_routes():
        role, needed = somebody_who_may(route), scope_of(method, route)
        answer = stage.program(method, path, role, route, tokens[role, needed])
        if answer.status_code != 403 or answer.json().get("scope") != needed:
            wrong.append(f"{method} {path}: {answer.status_code} {answer.text[:200]}")
    assert not wrong


@pytest.mark.parametrize("scope", SCOPES)
def test_a_token_with_nothing_but_the_scope_gets_in(stage: Stage, scope: str):
    tokens = {role: stage.token(role, scope) for role in ("owner", "author", "admin", "member")}
    wrong = []
    for method, path, route in api_routes():
        if scope_of(method, route) == scope:
            role = somebody_who_may(route)
            answer = stage.program(method, path, role, route, tokens[role])
            if not let_in(answer):
                wrong.append(f"{method} {path}: {answer.status_code} {answer.text[:200]}")
    assert not wrong


def test_tokens_open_no_page(stage: Stage):
    opened = []
    for method, path in ROUTES:
        if not path.startswith("/api/") and "anon" not in MAY[ROUTES[method, path].who]:
            answer = stage.callers["admin"].request(method, stage.address(path, "admin"))
            if not turned_away(answer, "anon", path):
                opened.append(f"{method} {path}: {answer.status_code}")
    assert not opened


def test_cookies_alone_change_nothing_without_the_forms_token(stage: Stage):
    browser = stage.browsers["admin"]
    accepted = []
    for method, path in ROUTES:
        if method not in ("GET", "HEAD"):
            answer = browser.client.request(method, stage.address(path, "admin"))
            if answer.status_code != 403:
                accepted.append(f"{method} {path}: {answer.status_code}")
    assert not accepted


def test_no_page_of_another_site_gets_in_even_with_a_token(stage: Stage):
    browser = stage.browsers["admin"]
    token = browser.token("/settings")
    accepted = []
    for method, path in ROUTES:
        if method not in ("GET", "HEAD"):
            headers = {"X-CSRF-Token": token, "Sec-Fetch-Site": "cross-site"}
            answer = browser.client.request(method, stage.address(path, "admin"), headers=headers)
            if answer.status_code != 403:
                accepted.append(f"{method} {path}: {answer.status_code}")
    assert not accepted


def test_tokens_of_nobody_open_nothing(stage: Stage):
    for method, path in ROUTES:
        if path.startswith("/api/v1/") and ROUTES[method, path].who != "anyone":
            answer = stage.client.request(
                method, stage.address(path, "anon"), headers={"Authorization": "Bearer dyna_no"}
            )
            assert answer.status_code == 401, (method, path)
