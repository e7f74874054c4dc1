"""A task with an open round, examples in it, and everybody at the door: what the authorization matrix is played on."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from http.cookiejar import CookieJar
from typing import Any

import httpx2
import orjson
from sqlalchemy import select, update
from sqlalchemy.orm import Session
from starlette.testclient import TestClient

from dynabench.accounts.tables import Notice, Person, Token
from dynabench.app import create_app
from dynabench.archives import service as archives
from dynabench.collection import notes
from dynabench.collection.chat.tables import Conversation, Reply, Turn
from dynabench.collection.tables import Handout
from dynabench.db import Database, now
from dynabench.leaderboards import reports, snapshots
from dynabench.leaderboards.tables import Report, Snapshot
from dynabench.media import looking
from dynabench.media import service as media
from dynabench.media.facts import Limits
from dynabench.media.store import Store
from dynabench.models.client import Host
from dynabench.notices import links
from dynabench.notices import service as notices
from dynabench.notices.tables import Delivery, Hook, Wish
from dynabench.registry.tables import Submission
from dynabench.rounds import invitations, people
from dynabench.rounds import service as rounds
from dynabench.rounds.owner_tables import Announcement, Proposal
from dynabench.rounds.tables import Invitation
from dynabench.settings import Settings
from dynabench.tasks import builtin
from dynabench.validation import bulk
from tests import boards
from tests.api import things
from tests.collection import conftest as world
from tests.conftest import PASSWORD, Browser, Caller, register
from tests.media import files

NAMES = {
    "member": "mia",  # somebody with an account
    "author": "ada",  # an annotator, who wrote the example
    "expert": "eva",
    "moderator": "moe",
    "owner": "olga",
    "admin": "root",
    "banned": "bea",  # an annotator who is banned
}
ROLES = {"author": "annotator", "expert": "expert", "moderator": "moderator", "owner": "owner", "banned": "annotator"}


@dataclass(frozen=True)
class Keys:
    """How somebody gets in: the number of the account, a token that may do all, a browser that is logged in."""

    id: int
    token: str
    cookies: CookieJar


@dataclass
class Scene:
    """What a database holds once its stage is set; it holds of each copy of the database."""

    people: dict[str, Keys]
    given: dict[str, Any]
    example: int = 0
    job: str = ""
    data_job: str = ""
    evaluation: int = 0
    secrets: dict[str, int] = field(default_factory=dict)  # examples by what became of them


class Stage:
    """Everybody of `NAMES`, with a token that may do all and a browser, in front of a scene."""

    def __init__(self, client: Any, database: Database, scene: Scene) -> None:
        self.client, self.database, self.scene = client, database, scene
        self.callers = {role: Caller(client, NAMES[role], keys.id, keys.token) for role, keys in scene.people.items()}
        self.ids = {caller.name: caller.id for caller in self.callers.values()}
        self.browsers = {role: Browser(client) for role in ("anon", *NAMES)}
        for role, keys in scene.people.items():
            self.browsers[role].client.cookies.update(keys.cookies)

    def write(self, author: Caller, given: dict[str, Any], text: str) -> int:
        """An example that fools nli-a, which says contradiction where there is a “not”, else entailment."""
        said = text if given["goal"]["label"] != "contradiction" else text.replace("not ", "")
        made = world.send(author, world.written(given, said))
        assert made.status_code == 201, made.text
        return int(made.json()["id"])

    def address(self, path: str, role: str, number: int | None = None) -> str:
        """The route with real things in place of its parameters; `number` is the example's, by default the scene's."""
        known: dict[str, Any] = {
            "task": "nli",
            "n": 1,
            "number": 1,
            "dataset": "first",
            "job": self.scene.job,
            "act": "dismiss",
        }
        known |= {"kind": "metric", "name": "nli-a" if "/models/" in path else "accuracy"}
        if "/datasets/" in path:
            known["name"] = "first" if path.endswith("/best") else "films"
        if "/models/" in path and "/scores" in path:
            known["name"] = "model-0"
        if "/contexts/" not in path and "imports/{job}" in path:
            known["job"] = self.scene.data_job
        if "{note}" in path:
            known["note"] = self.note(number or self.scene.example)
        if "archives/{job}" in path:
            known["job"] = self.archive()
        if "/twins" in path:
            known |= {"name": "small", "axis": "robustness"}
        if "/webhooks" in path:
            known["id"], known["delivery"] = self.webhook(role, "nli" if "{task}" in path else None)
            return path.format(**(known | {"act": "off"}))
        if "{token}" in path:
            known["token"] = self.mail_link(links.VERIFY if "/verify/" in path else links.UNSUBSCRIBE)
        if "/submissions/{id}" in path:
            known |= {"id": self.submission(), "act": "cancel"}
            return path.format(**known)
        if "{digest}" in path:
            known["digest"] = self.picture()
        if "{file}" in path:
            known["file"] = "gone"
        if "{secret}" in path:
            known["secret"] = self.invitation()[1]
        if "{slug}" in path:
            known["slug"] = self.kept("forks" if "/forks/" in path else "snapshots")
        if "/rows/{id}" in path:
            known["id"] = self.row()
        elif "contexts/files/{id}" in path:
            known["id"] = self.file_of_contexts()
        elif "{id}" in path:
            kind = path[: path.index("/{id}")].rpartition("/")[2]
            things = {"tokens": self.token_of, "notices": self.notice_of, "contexts": lambda _: self.scene.given["id"]}
            things |= {"evaluations": lambda _: self.evaluation(), "reported": lambda _: self.report()}
            things |= {"invitations": lambda _: self.invitation()[0], "bans": self.banned_id, "people": self.banned_id}
            things |= {"conversations": lambda _: self.conversation()}
            things |= {"proposals": lambda _: self.proposal(), "announcements": lambda _: self.announcement()}
            things |= {"bulk": lambda _: self.bulk()}
            known["id"] = things[kind](role) if kind in things else number or self.scene.example
        return path.format(**known)

    def picture(self) -> str:
        """A picture that the context shows."""
        settings = self.client.app.state.settings
        content, facts = looking.taken(files.picture(), "image", Limits(2**20))
        digest = Store.of(settings).put(content)
        self.database.write(media.note, "nli", None, digest, facts)
        self.database.write(media.bind, "nli", [{"media": digest}], context_id=self.scene.given["id"])
        return digest

    def conversation(self) -> int:
        """A conversation of the author's with one turn, made when first asked for."""

        def make(session: Session) -> int:
            found = session.scalar(select(Conversation))
            if found is None:
                given = session.scalars(select(Handout).where(Handout.person_id == self.ids["ada"]).limit(1)).one()
                said = Turn(number=1, said="Hello?", key="one", request="", state="chosen", continued=0)
                said.replies = [Reply(side=0, text="Hello.", state="done")]
                found = Conversation(handout_id=given.id, round_id=given.round_id, person_id=given.person_id)
                found.sides, found.turns = [["nli-a", "1"]], [said]
                session.add(found)
                session.flush()
            return found.id

        return self.database.write(make)

    def submission(self) -> int:
        """A private submission of the author's that waits for its check."""
        made = Submission(
            task_id="nli", kind="hub", name="hidden", person_id=self.callers["author"].id, visibility="private"
        )

        def make(session: Session) -> int:
            session.add(made)
            session.flush()
            return made.id

        return self.database.write(make)

    def note(self, example: int) -> int:
        """A note on an example."""
        return self.database.write(lambda session: notes.add(session, None, example, "Odd.").id)

    def bulk(self) -> int:
        """Something that was done to many examples."""
        return self.database.write(
            lambda session: bulk.act(session, None, "nli", "label", "odd", [self.scene.example]).id
        )

    def announcement(self) -> int:
        """Something that the owner announced."""
        made = Announcement(task_id="nli", text="Soon.", until=now() + timedelta(days=1))

        def make(session: Session) -> int:
            session.add(made)
            session.flush()
            return made.id

        return self.database.write(make)

    def archive(self) -> str:
        """An archive of the task that its owner asked for."""
        owner = self.callers["owner"].id
        return self.database.write(lambda session: archives.export(session, session.get_one(Person, owner), "nli").id)

    def proposal(self) -> int:
        """A task that the author proposed, and that waits."""
        made = Proposal(task_id="irony", source="id: irony", person_id=self.callers["author"].id)

        def make(session: Session) -> int:
            session.add(made)
            session.flush()
            return made.id

        return self.database.write(make)

    def row(self) -> int:
        """A row of the task's board, made when first asked for."""

        def make(session: Session) -> int:
            found = session.scalar(select(Submission.id).where(Submission.task_id == "nli"))
            return found or boards.furnish(session, "nli", [0.8], ["first"], rows=40)[0]

        return self.database.write(make)

    def report(self) -> int:
        """Results of others that were imported, made when first asked for."""

        def make(session: Session) -> int:
            rows = [{"model_name": "other", "metrics": {"Accuracy": "80"}}]
            content = orjson.dumps([{"datasets": [{"dataset": "First", "sota": {"rows": rows}}]}])
            found = session.scalar(select(Report.id))
            return found or reports.add(session, None, "nli", content, "https://example.org/tables").id

        return self.database.write(make)

    def kept(self, kind: str) -> str:
        """The address of a new snapshot, or of a new fork of the author's."""
        self.row()

        def make(session: Session) -> str:
            author = session.get_one(Person, self.ids[NAMES["author"]])
            if kind == "forks":
                return snapshots.fork(session, author, "nli", {}, "Mine").slug
            found = session.scalar(select(Snapshot.slug))
            return found or snapshots.take(session, author, "nli", {}, "").slug

        return self.database.write(make)

    def banned_id(self, _: str) -> int:
        """The number of somebody whom moderators may ban and let in again."""
        return self.ids[NAMES["banned"]]

    def file_of_contexts(self) -> str:
        """A file that waits until its columns are told apart."""
        browser = self.browsers["owner"]
        headers = {"X-CSRF-Token": browser.token("/settings")}
        sent = {"file": ("c.csv", b"premise\nIt rains.\n")}
        answer = browser.client.post("/tasks/nli/manage/contexts/files", files=sent, headers=headers)
        return str(answer.headers["location"]).rpartition("/")[2].partition("?")[0]

    def invitation(self) -> tuple[int, str]:
        """The id and the secret of a new invitation."""

        def make(session: Session) -> tuple[Invitation, str]:
            return invitations.invite(session, None, "nli", "annotator", note="for the tests", uses=2)

        made, secret = self.database.write(make)
        return made.id, secret

    def notice_of(self, role: str) -> int:
        """Something that this person is told."""
        if role == "anon":
            return 1
        person_id = self.callers[role].id
        self.database.write(notices.tell, person_id, "warning", "Mind your step.")
        newest = select(Notice.id).where(Notice.person_id == person_id).order_by(Notice.id.desc())
        return self.database.read(lambda session: session.scalars(newest).first()) or 0

    def webhook(self, role: str, task: str | None) -> tuple[int, int]:
        """A webhook of the task or of this person, with a message that is given up."""
        number = self.callers["owner" if task or role == "anon" else role].id

        def make(session: Session) -> tuple[int, int]:
            hook = Hook(person_id=None if task else number, task_id=task, url="https://example.org/x", salt="0" * 64)
            session.add(hook)
            session.flush()
            sent = Delivery(hook_id=hook.id, event="webhook.test", message=f"msg_{hook.id}", body="{}", state="failed")
            session.add(sent)
            session.flush()
            return hook.id, sent.id

        return self.database.write(make)

    def mail_link(self, purpose: str) -> str:
        """The token of a link in a mail to the author."""
        number, address = self.callers["author"].id, "ada@example.org"

        def make(session: Session) -> None:
            session.merge(Wish(person_id=number, address=address, channels={}, problem=""))

        self.database.write(make)
        return links.make(self.client.app.state.settings.key, purpose, number, address)

    def evaluation(self) -> int:
        """An evaluation of a model that `author` submitted, which failed; its record is an earlier run's."""
        if not self.scene.evaluation:
            self.scene.evaluation = self.database.write(things.evaluated, self.callers["author"].id)
        return self.scene.evaluation

    def token_of(self, role: str) -> int:
        """A token to lose: a second one of the caller's own."""
        if role == "anon":
            return 1
        caller = self.callers[role]
        self.client.post("/api/v1/tokens", json={"username": caller.name, "password": PASSWORD, "name": "spare"})
        newest = (
            select(Token.id).where(Token.person_id == caller.id, Token.revoked_at.is_(None)).order_by(Token.id.desc())
        )
        return self.database.read(lambda session: session.scalars(newest).first()) or 0

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
        made = self.callers[role].post("/api/v1/tokens", json={"scopes": list(scopes)})
        assert made.status_code == 201, made.text
        return str(made.json()["token"])

    def filled(self, body: Any) -> Any:
        """A body with `{context}`, `{secret}`, `{name}` and people's ids such as `{mia}` filled in."""
        if isinstance(body, dict):
            return {name: self.filled(value) for name, value in body.items()}
        if body == "{context}":
            return self.scene.given["id"]
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
        database.write(_found, callers["banned"].id, invited)
        database.write(boards.furnish, "nli", rows=40)
        owner, root, author = callers["owner"], callers["admin"], callers["author"]
        assert owner.post("/api/v1/tasks/nli/rounds", json={"targets": ["nli-a"]}).status_code == 201
        assert root.post("/api/v1/tasks/sentiment/rounds", json={"targets": ["sentiment-a"]}).status_code == 201
        people = {role: Keys(each.id, each.token, _cookies(client, each.name)) for role, each in callers.items()}
        stage = Stage(client, database, Scene(people, world.draw(author)))
        stage.scene.example = stage.write(author, stage.scene.given, "This is not so.")
        upload = owner.post("/api/v1/tasks/nli/contexts/files", params={"name": "c.jsonl"}, content=b"{}\n")
        stage.scene.job = upload.json()["id"]
        data = owner.post("/api/v1/tasks/nli/imports/hub", json={"dataset": "some/data", "format": "anli"})
        stage.scene.data_job = data.json()["id"]
        database.write(things.small, settings)
        database.write(things.films, settings)
        stage.evaluation()
        yield stage
        stage.close()


def _found(session: Session, banned: int, invited: bool) -> None:
    world.seed(session)
    session.execute(update(Person).where(Person.username == NAMES["admin"]).values(admin=True))
    if invited:
        source = next(each.source for each in builtin() if each.config.id == "nli")
        rounds.save_task(session, None, f"{source}\nannotators: invited\n")
    for role, name in ROLES.items():
        rounds.set_role(session, None, "nli", NAMES[role], name)
    people.ban(session, None, "nli", banned, "Spam.")


def _cookies(client: TestClient, name: str) -> CookieJar:
    """Those of a browser in which this person is logged in."""
    browser = Browser(client)
    assert browser.log_in(name).status_code == 303
    browser.client.close()
    return browser.client.cookies.jar
