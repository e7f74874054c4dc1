"""A task with an open round, examples in it, and everybody at the door: what the authorization matrix is played on."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.cookiejar import CookieJar
from typing import Any

import httpx2
from sqlalchemy import update
from sqlalchemy.orm import Session
from starlette.testclient import TestClient

from dynabench.kit.db import Database
from dynabench.kit.settings import Settings
from dynabench.models.client import Host
from dynabench.open_evaluations.choices import OpenChoices
from dynabench.open_evaluations.remote_downloads import RemoteDownload, write_download
from dynabench.open_evaluations.remote_source import remote_request
from dynabench.people.accounts.tables import Person
from dynabench.rounds import people
from dynabench.rounds import service as rounds
from dynabench.site.app import create_app
from dynabench.tasks import shipped_tasks
from tests import boards
from tests.api import things
from tests.api.props import Props
from tests.api.scene import NAMES, Keys, Scene
from tests.collection import conftest as world
from tests.conftest import Browser, Caller, register

ROLES = {"author": "annotator", "expert": "expert", "moderator": "moderator", "owner": "owner", "banned": "annotator"}


class Stage(Props):
    """Everybody of `NAMES`, with a token that may do all and a browser, in front of a scene."""

    def __init__(self, client: Any, database: Database, scene: Scene) -> None:
        self.client, self.database, self.scene = client, database, scene
        client.app.state.live.places.most = 0  # a stream would not end
        self.callers = {role: Caller(client, NAMES[role], keys.id, keys.token) for role, keys in scene.people.items()}
        self.ids = {caller.name: caller.id for caller in self.callers.values()}
        self.browsers = {role: Browser(client) for role in ("anon", *NAMES)}
        for role, keys in scene.people.items():
            self.browsers[role].client.cookies.update(keys.cookies)

    def write(self, author: Caller, handout: dict[str, Any], text: str) -> int:
        """An example that fools nli-a, which says contradiction where there is a “not”, else entailment."""
        answer = text if handout["goal"]["label"] != "contradiction" else text.replace("not ", "")
        response = world.send(author, world.written(handout, answer))
        assert response.status_code == 201, response.text
        return int(response.json()["id"])

    def public_person(self) -> str:
        """The name of the owner, whose profile everybody sees."""
        statement = update(Person).where(Person.username == NAMES["owner"]).values(public_profile=True)
        self.database.write(lambda session: session.execute(statement))
        return NAMES["owner"]

    def address(self, path: str, role: str, number: int | None = None) -> str:
        """The route with real things in place of its parameters; `number` is the example's, by default the scene's."""
        path = path.replace(":path}", "}").replace("{format}", "csv")
        values = self.names_in(path)
        values |= self.things_of_subject(path, role) or self.things_by_parameter(path, role, number)
        return path.format(**values)

    def names_in(self, path: str) -> dict[str, Any]:
        """The values of parameters that name what the scene has had from the beginning."""
        values: dict[str, Any] = {"task": "nli", "n": 1, "number": 1, "dataset": "first", "act": "dismiss"}
        values |= {"job": self.scene.job, "folder": "data", "side": 180, "provider": "uni"}
        values |= {"kind": "metric", "name": "nli-a" if "/models/" in path else "accuracy"}
        if "/datasets/" in path:
            values["name"] = "first" if path.endswith("/best") else "films"
        if "/models/" in path and "/scores" in path:
            values["name"] = "model-0"
        if "/contexts/" not in path and "imports/{job}" in path:
            values["job"] = self.scene.data_job
        if "/twins" in path:
            values |= {"name": "small", "axis": "robustness"}
        if path.startswith("/docs/"):
            values |= {"tag": "accounts", "anchor": "get-me", "name": "how-to/deploy"}
        if "{file}" in path:
            values["file"] = "gone"
        if "/release" in path:
            values |= {"task": "done", "file": "test.jsonl" if "{folder}" in path else "README.md"}
        if "{turn}" in path:
            values |= {"task": "done", "turn": 1}
        return values

    def things_of_subject(self, path: str, role: str) -> dict[str, Any]:
        """All values of a route of a subject that makes its things together; empty for any other route."""
        if path.startswith(("/hub", "/api/hub", "/api/v1/hub")):
            return self.hub(path)
        if "/data-reports/{id}" in path:
            return {"id": self.data_report(), "form": "md", "measure": "general", "table": "figures"}
        if "/webhooks" in path:
            id, delivery = self.webhook(role, "nli" if "{task}" in path else None)
            return {"id": id, "delivery": delivery, "act": "off"}
        if "/identities/" in path:
            return {"id": self.identity_of(role)}
        if path.endswith("/handouts/{id}/inspiration"):
            return {"id": self.scene.context["handout"]}
        if "/teams/" in path and "{" in path:
            return {"id": self.team_of_author(), "person_id": self.student, "secret": self.team_secret}
        if "/competitions/{id}" in path:
            return {"id": self.competition("/report" in path), "team_id": self.team_of_author()}
        if "/classes/{id}" in path:
            return {"id": self.class_of_author(), "person_id": self.student}
        if "/admin/jobs" in path:
            return {"act": "cancel"}
        if "/onboarding" in path or "/onboarded" in path:
            return {**self.onboarding(role, attempt="/attempts/" in path), "activity": "check", "act": "grant"}
        if "/submissions/{id}" in path:
            return {"id": self.submission(), "act": "cancel"}
        if "/payments/{n}/people/" in path:
            return {"id": self.banned_id(role), "payment": self.payment()}
        if "/studies" in path or "/crowd" in path:
            decision = "unpaid" if "{order}" in path else "approve"
            return {**self.study(), "act": "pause", "decision": decision, "provider": "prolific"}
        return {}

    def things_by_parameter(self, path: str, role: str, number: int | None) -> dict[str, Any]:
        """The things that the parameters of a route stand for, each made when a route first asks for it."""
        values = self.controls() if "/controls/" in path else {}
        makers: dict[str, Callable[[], Any]] = {
            "note": lambda: self.note(number or self.scene.example),
            "appeal": lambda: self.appeal(role if "/me/" in path else "author"),
            "signal": self.signal,
            "token": lambda: self.mail_link(path),
            "handle": lambda: self.browser_of(role),
            "digest": self.picture,
            "secret": lambda: self.invitation()[1],
            "slug": lambda: self.board_copy("forks" if "/forks/" in path else "snapshots"),
        }
        values |= {name: make() for name, make in makers.items() if f"{{{name}}}" in path}
        if "archives/{job}" in path:
            values["job"] = self.archive()
        if "{measure}" in path:
            values |= self.measured()
        if "/adjudications/{decision}" in path:
            values["decision"] = self.adjudication(role)
        if "/people/{name}" in path:
            values["name"] = self.public_person()
        if "/rows/{id}" in path:
            values["id"] = self.row()
        elif "contexts/files/{id}" in path:
            values["id"] = self.file_of_contexts()
        elif "{id}" in path:
            values["id"] = self.item_of_kind(path[: path.index("/{id}")].rpartition("/")[2], role, number)
        return values

    def item_of_kind(self, kind: str, role: str, number: int | None) -> int:
        """The number of one of what a route calls its `kind`: of an example unless it is known for something else."""
        items = {
            "tokens": self.token_of,
            "notices": self.notice_of,
            "inbox": self.notice_of,
            "contexts": lambda _: self.scene.context["id"],
        }
        items |= {"evaluations": lambda _: self.evaluation(), "reported": lambda _: self.report(),
                   "open-evaluations": lambda _: self.open_evaluation()}  # fmt: skip
        items |= {"invitations": lambda _: self.invitation()[0], "bans": self.banned_id, "people": self.banned_id}
        items |= {"validators": self.voter_id}
        items |= {"conversations": lambda _: self.conversation()}
        items |= {"proposals": lambda _: self.proposal(), "announcements": lambda _: self.announcement()}
        items |= {"bulk": lambda _: self.bulk(), "drafts": lambda _: self.task_draft()}
        return items[kind](role) if kind in items else number or self.scene.example

    def call(self, method: str, path: str, role: str, route: Any, number: int | None = None) -> httpx2.Response:
        """The route as this caller would use it: pages with cookies and the form's token, the API with a token."""
        if path.startswith("/api/"):
            token = None if role == "anon" else self.callers[role].token
            return self.program(method, path, role, route, token, number)
        browser, address = self.browsers[role], self.address(path, role, number)
        if method == "GET":
            return browser.get(address, params=route.params)
        page = "/login" if role == "anon" else "/settings"
        return browser.submit(address, page=page, **self.filled(route.form or {}))

    def program(
        self, method: str, path: str, role: str, route: Any, token: str | None, number: int | None = None
    ) -> httpx2.Response:
        """The route of the API with this token, or none, and with the parameters of `role`."""
        how = {"json": self.filled(route.json), "params": route.params, "content": route.content}
        how = {name: value for name, value in how.items() if value is not None}
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return self.client.request(method, self.address(path, role, number), headers=headers, **how)

    def token(self, role: str, *scopes: str) -> str:
        """A new token of this person's with these scopes."""
        response = self.callers[role].post("/api/v1/tokens", json={"scopes": list(scopes)})
        assert response.status_code == 201, response.text
        return str(response.json()["token"])

    def filled(self, body: Any) -> Any:
        """A body with `{context}`, `{secret}`, `{name}` and people's ids such as `{mia}` filled in."""
        if isinstance(body, dict):
            return {name: self.filled(value) for name, value in body.items()}
        if body == "{context}":
            return self.scene.context["id"]
        if body in ("{team}", "{team_secret}"):
            team = self.team_of_author()
            return team if body == "{team}" else self.team_secret
        if body == "{secret}":
            return self.invitation()[1]
        if isinstance(body, str) and body.startswith("{") and body[1:-1] in self.ids:
            return self.ids[body[1:-1]]
        return body

    def close(self) -> None:
        """Close the browsers."""
        for browser in self.browsers.values():
            browser.client.close()


@contextmanager
def new_stage(settings: Settings, invited: bool = False) -> Iterator[Stage]:
    """A stage in an empty database; `invited` closes the task to others."""
    with world.rule_host() as rules, TestClient(create_app(settings, host=Host(rules.url, 2.0))) as client:
        database = client.app.state.db
        callers = {role: register(client, name) for role, name in NAMES.items()}
        database.write(_create_task, callers["banned"].id, invited)
        database.write(boards.furnish, "nli", rows=40)
        owner, root, author = callers["owner"], callers["admin"], callers["author"]
        assert owner.post("/api/v1/tasks/nli/rounds", json={"targets": ["nli-a"]}).status_code == 201
        assert root.post("/api/v1/tasks/sentiment/rounds", json={"targets": ["sentiment-a"]}).status_code == 201
        people = {role: Keys(entry.id, entry.token, _cookies(client, entry.name)) for role, entry in callers.items()}
        stage = Stage(client, database, Scene(people, world.draw(author)))
        stage.scene.example = stage.write(author, stage.scene.context, "This is not so.")
        upload = owner.post("/api/v1/tasks/nli/contexts/files", params={"name": "c.jsonl"}, content=b"{}\n")
        stage.scene.job = upload.json()["id"]
        data = owner.post("/api/v1/tasks/nli/imports/hub", json={"dataset": "some/data", "format": "anli"})
        stage.scene.data_job = data.json()["id"]
        database.write(things.small, settings)
        database.write(things.films, settings)
        database.write(things.released, settings, owner.id)
        write_download(settings, remote_request(OpenChoices(dataset="remote:a/b")), RemoteDownload("a/b"))
        stage.evaluation()
        yield stage
        stage.close()


def _create_task(session: Session, banned: int, invited: bool) -> None:
    world.seed(session)
    session.execute(update(Person).where(Person.username == NAMES["admin"]).values(admin=True))
    if invited:
        source = next(entry.source for entry in shipped_tasks() if entry.config.id == "nli")
        rounds.save_task(session, None, f"{source}\nannotators: invited\n")
    for role, name in ROLES.items():
        rounds.set_role(session, None, "nli", NAMES[role], name)
    people.ban_person(session, None, "nli", banned, "Spam.")


def _cookies(client: TestClient, name: str) -> CookieJar:
    """Those of a browser in which this person is logged in."""
    browser = Browser(client)
    assert browser.log_in(name).status_code == 303
    browser.client.close()
    return browser.client.cookies.jar
