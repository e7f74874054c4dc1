"""Who may use which route. A route without an entry here fails the build.

Each route is then really called by everybody: who may not is turned away, who may gets past the door.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI
from fastapi.routing import iter_route_contexts
from sqlalchemy import select, update
from starlette.routing import Mount

from dynabench.accounts.tables import Person, Token
from dynabench.db import Database
from dynabench.rounds import service as rounds
from tests.collection import conftest as world
from tests.conftest import Browser, Caller

host, rules = world.host, world.rules
pytestmark = pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)  # the door is the same on both

EVERYBODY = {"anon", "member", "author", "owner", "admin"}
MAY = {
    "anyone": EVERYBODY,
    "member": EVERYBODY - {"anon"},
    "involved": {"author", "owner", "admin"},  # in the example that `author` wrote
    "others": {"member", "owner", "admin"},  # anybody but its author
    "author": {"author"},
    "owner": {"owner", "admin"},
    "admin": {"admin"},
}
NEW_TASK = """
id: another
name: Another
answer: {name: label, type: choice, options: [a, b], goal: chosen}
input: [{name: text, type: text}]
"""
ACCOUNT = {"email": "new@example.org", "password": "correct horse battery", "username": "new"}


@dataclass(frozen=True)
class Route:
    """Who may use a route (see `MAY`), and a body with which it gets as far as its rules."""

    who: str
    json: Any = None
    form: dict[str, str] | None = None
    params: dict[str, str] | None = None
    content: bytes | None = None


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
    ("POST", "/settings/tokens"): Route("member", form={"name": "laptop"}),
    ("POST", "/settings/tokens/{id}/revoke"): Route("member", form={}),
    ("POST", "/settings/delete"): Route("member", form={"name": ""}),
    ("POST", "/api/v1/accounts"): Route("anyone", json=ACCOUNT),
    ("POST", "/api/v1/tokens"): Route("anyone", json={"username": "mia", "password": "correct horse battery"}),
    ("GET", "/api/v1/me"): Route("member"),
    ("PATCH", "/api/v1/me"): Route("member", json={}),
    ("GET", "/api/v1/tokens"): Route("member"),
    # rounds
    ("GET", "/api/v1/tasks"): Route("anyone"),
    ("POST", "/api/v1/tasks"): Route("admin", json={"config": NEW_TASK}),
    ("GET", "/api/v1/tasks/{task}"): Route("anyone"),
    ("GET", "/api/v1/tasks/{task}/rounds/{n}"): Route("anyone"),
    ("GET", "/api/v1/tasks/{task}/rounds"): Route("anyone"),
    ("GET", "/api/v1/tasks/{task}/contexts"): Route("owner"),
    ("GET", "/api/v1/tasks/{task}/versions"): Route("owner"),
    ("GET", "/api/v1/tasks/{task}/versions/{n}"): Route("owner"),
    ("GET", "/api/v1/tasks/{task}/acts"): Route("owner"),
    ("GET", "/api/v1/tasks/{task}/contexts/files/{job}/refused"): Route("owner"),
    ("POST", "/api/v1/tasks/{task}/rounds"): Route("owner", json={"targets": ["nli-a"], "draft": True}),
    ("POST", "/api/v1/tasks/{task}/rounds/{n}/open"): Route("owner"),
    ("POST", "/api/v1/tasks/{task}/contexts"): Route(
        "owner", json={"contexts": [{"values": {"premise": "It rains."}}]}
    ),
    ("POST", "/api/v1/tasks/{task}/contexts/files"): Route("owner", params={"name": "c.jsonl"}, content=b"{}\n"),
    ("GET", "/api/v1/tasks/{task}/contexts/files/{job}"): Route("owner"),
    ("POST", "/api/v1/tasks/{task}/roles"): Route("owner", json={"username": "mia", "role": None}),
    # collection
    ("POST", "/api/v1/tasks/{task}/contexts/next"): Route("anyone"),
    ("POST", "/api/v1/tasks/{task}/examples"): Route("anyone", json=SANDBOX | {"sandbox": True}),
    ("GET", "/api/v1/tasks/{task}/examples"): Route("owner"),
    ("GET", "/api/v1/examples/{id}"): Route("involved"),
    ("POST", "/api/v1/examples/{id}/explanations"): Route("author", json={"why_correct": "Because."}),
    ("GET", "/api/v1/examples/{id}/attributions"): Route("involved"),
    ("POST", "/api/v1/attributions"): Route(
        "anyone", json=SANDBOX | {"task": "nli", "model": "nli-a", "method": "occlusion"}
    ),
    ("POST", "/api/v1/tasks/{task}/seeds"): Route("owner", json={"seeds": []}),
    ("POST", "/api/v1/tasks/{task}/seeds/examples"): Route("owner", json={"round": 1}),
    ("POST", "/api/v1/examples/{id}/hide"): Route("owner", json={"reason": "spam"}),
    ("POST", "/api/v1/examples/{id}/restore"): Route("owner", json={}),
    ("GET", "/api/v1/tasks/{task}/rounds/{n}/board"): Route("anyone"),
    ("GET", "/"): Route("anyone"),
    ("POST", "/try"): Route("anyone", form={"task": "sentiment"}),
    ("GET", "/tasks/{task}"): Route("anyone"),
    ("GET", "/tasks/{task}/rounds/{n}"): Route("anyone"),
    ("GET", "/tasks/{task}/people"): Route("anyone"),
    ("GET", "/tasks/{task}/create"): Route("anyone"),
    ("POST", "/tasks/{task}/create"): Route("anyone", form={"context_id": "{context}", "sandbox": "true"}),
    ("POST", "/tasks/{task}/context"): Route("anyone", form={}),
    ("POST", "/tasks/{task}/warning"): Route("anyone", form={"next": "/tasks/nli/create"}),
    ("POST", "/examples/{id}/perturbation"): Route("author", form={}),
    ("POST", "/examples/{id}/explanation"): Route("author", form={"explanation.why_correct": "Because."}),
    # validation
    ("POST", "/api/v1/tasks/{task}/validations/next"): Route("member"),
    ("GET", "/api/v1/tasks/{task}/flags"): Route("owner"),
    ("GET", "/api/v1/tasks/{task}/rounds/{number}/statistics"): Route("anyone"),
    ("GET", "/tasks/{task}/validate"): Route("member"),
    ("POST", "/api/v1/examples/{id}/validations"): Route("others", json={"vote": "correct"}),
    ("GET", "/api/v1/examples/{id}/validations/attributions"): Route("member"),
    ("POST", "/api/v1/examples/{id}/validations/undo"): Route("member"),
    ("POST", "/api/v1/examples/{id}/skip"): Route("others"),
    ("POST", "/tasks/{task}/validate/{id}"): Route("others", form={"vote": "correct"}),
    ("POST", "/tasks/{task}/validate/{id}/undo"): Route("member", form={}),
    ("POST", "/tasks/{task}/validate/{id}/skip"): Route("others", form={}),
    # console
    ("GET", "/tasks/{task}/manage"): Route("owner"),
    # what ends something
    ("POST", "/api/v1/examples/{id}/retract"): Route("author"),
    ("POST", "/examples/{id}/retraction"): Route("author", form={}),
    ("POST", "/api/v1/tasks/{task}/rounds/{n}/close"): Route("owner"),
    ("DELETE", "/api/v1/tokens/{id}"): Route("member"),
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


class Stage:
    """A task with an open round, an example in it, and everybody at the door."""

    def __init__(self, client: Any, database: Database, person: Callable[[str], Caller]) -> None:
        self.client, self.database = client, database
        names = {"admin": "root", "owner": "olga", "author": "ada", "member": "mia"}
        self.callers: dict[str, Caller] = {role: person(name) for role, name in names.items()}
        root, owner = self.callers["admin"], self.callers["owner"]
        database.write(lambda s: s.execute(update(Person).where(Person.id == root.id).values(admin=True)))
        database.write(world.seed)
        database.write(rounds.set_role, None, "nli", owner.name, "owner")
        assert owner.post("/api/v1/tasks/nli/rounds", json={"targets": ["nli-a"]}).status_code == 201
        assert root.post("/api/v1/tasks/sentiment/rounds", json={"targets": ["sentiment-a"]}).status_code == 201
        self.given = world.draw(self.callers["author"])
        written = world.written(
            self.given, "This is not so." if self.given["goal"]["label"] != "contradiction" else "So."
        )
        self.example = world.send(self.callers["author"], written).json()["id"]
        upload = owner.post("/api/v1/tasks/nli/contexts/files", params={"name": "c.jsonl"}, content=b"{}\n")
        self.job = upload.json()["id"]
        self.browsers = {role: self.browser(role) for role in ("anon", *names)}

    def browser(self, role: str) -> Browser:
        opened = Browser(self.client)
        if role != "anon":
            assert opened.log_in(self.callers[role].name).status_code == 303
        return opened

    def address(self, path: str, role: str) -> str:
        """The route with real things in place of its parameters."""
        number = self.token_of(role) if "tokens" in path else self.example
        number = self.given["id"] if "/contexts/{id}" in path else number
        filled = path.format(task="nli", n=1, number=1, id=number, job=self.job)
        assert "{" not in filled
        return filled

    def token_of(self, role: str) -> int:
        """A token to lose: a second one of the caller's own."""
        if role == "anon":
            return 1
        caller = self.callers[role]
        proof = {"username": caller.name, "password": "correct horse battery", "name": "spare"}
        self.client.post("/api/v1/tokens", json=proof)
        newest = (
            select(Token.id).where(Token.person_id == caller.id, Token.revoked_at.is_(None)).order_by(Token.id.desc())
        )
        return self.database.read(lambda session: session.scalars(newest).first()) or 0

    def call(self, method: str, path: str, role: str) -> httpx2.Response:
        """The route as this caller would use it: pages with cookies and the form's token, the API with a token."""
        route, address = ROUTES[method, path], self.address(path, role)
        if path.startswith("/api/"):
            how = {"json": self.filled(route.json), "params": route.params, "content": route.content}
            how = {name: value for name, value in how.items() if value is not None}
            caller = self.client if role == "anon" else self.callers[role]
            return caller.request(method, address, **how)
        browser = self.browsers[role]
        if method == "GET":
            return browser.get(address)
        return browser.submit(
            address, page="/login" if role == "anon" else "/settings", **self.filled(route.form or {})
        )

    def filled(self, body: Any) -> Any:
        return body | {"context_id": self.given["id"]} if isinstance(body, dict) and "context_id" in body else body


@pytest.fixture
def stage(client: Any, database: Database, person: Callable[[str], Caller]) -> Any:
    made = Stage(client, database, person)
    yield made
    for browser in made.browsers.values():
        browser.client.close()


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


@pytest.mark.parametrize("role", sorted(EVERYBODY - {"admin"}))
def test_who_may_not_is_turned_away(stage: Stage, role: str):
    wrong = []
    for (method, path), route in ROUTES.items():
        if role not in MAY[route.who]:
            answer = stage.call(method, path, role)
            if not turned_away(answer, role, path):
                wrong.append(f"{method} {path}: {answer.status_code} {answer.text[:200]}")
    assert not wrong


@pytest.mark.parametrize("role", sorted(EVERYBODY))
def test_who_may_gets_in(stage: Stage, role: str):
    wrong = []
    for (method, path), route in ROUTES.items():
        if role in MAY[route.who]:
            answer = stage.call(method, path, role)
            if not let_in(answer):
                wrong.append(f"{method} {path}: {answer.status_code} {answer.text[:200]}")
    assert not wrong


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
