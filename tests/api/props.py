"""What the authorization matrix is played with, made when a route first asks for it."""

import hashlib
import secrets
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from datetime import timedelta
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any, TypeVar, cast

import orjson
from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from dynabench.announcements.service import Announcement
from dynabench.benchmark.leaderboards import reports, snapshots
from dynabench.benchmark.leaderboards.tables import Report, Snapshot
from dynabench.benchmark.registry.tables import Submission
from dynabench.collection import notes
from dynabench.collection.chat.tables import Conversation, Reply, Turn
from dynabench.collection.tables import Example, Handout
from dynabench.communities.classes import joining
from dynabench.communities.classes import service as classes
from dynabench.communities.classes.schemas import ClassIn
from dynabench.communities.classes.tables import SchoolClass
from dynabench.communities.competitions import service as competitions
from dynabench.communities.competitions.tables import Competition, CompetitionEntry
from dynabench.communities.teams import service as teams
from dynabench.communities.teams.schemas import TeamIn
from dynabench.communities.teams.tables import Team, TeamMember
from dynabench.crowd import consent, entry, studies
from dynabench.crowd.provider import Arrival
from dynabench.crowd.studies import StudyPlan
from dynabench.crowd.tables import (
    BonusOrder,
    BonusOrderState,
    CrowdCredentials,
    Participation,
    ParticipationState,
    StudyState,
)
from dynabench.datasets.archives import service as archives
from dynabench.hubs import discussions, uploads
from dynabench.hubs import service as hubs
from dynabench.hubs.file_store import HubFileStore, LargeFile
from dynabench.hubs.tables import HubDiscussionEvent, ReferenceKind, RepositoryKind
from dynabench.hubs.uploads import UploadTicket
from dynabench.hubs.xet.xorb_store import XorbStore
from dynabench.insight.data_measurements.results import Figure, MeasureResult, ResultColumn, Table
from dynabench.insight.data_reports import service as data_reports
from dynabench.insight.data_reports import stored_reports
from dynabench.insight.data_reports.report import DataReport, MeasuredFacts, ReportOptions
from dynabench.insight.data_reports.subjects import file_subject
from dynabench.kit import security
from dynabench.kit.db import Database, now
from dynabench.kit.errors import NotFound
from dynabench.media import file_formats
from dynabench.media import service as media
from dynabench.media.file_formats import UploadLimits
from dynabench.media.store import MediaStore
from dynabench.onboarding.tables import AttemptState, QuizAttempt
from dynabench.pay import ledger
from dynabench.pay import service as pay
from dynabench.pay.money import Money
from dynabench.pay.scheme import parse_scheme
from dynabench.pay.tables import PaymentKind
from dynabench.people.accounts import recovery, service
from dynabench.people.accounts.oidc import service as identities
from dynabench.people.accounts.oidc.provider import Claims
from dynabench.people.accounts.tables import Notice, Person, Token
from dynabench.people.link_tokens import make_link_token
from dynabench.people.notices import mailing
from dynabench.people.notices import service as notices
from dynabench.people.notices.tables import Delivery, Hook, Wish
from dynabench.quality.signals.tables import Signal
from dynabench.quality.tables import Adjudication, Appeal
from dynabench.rounds import invitations, task_drafts
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Invitation, Proposal, Round, TaskVersion
from dynabench.validation import bulk
from dynabench.validation.controls.tables import ControlDecision, ControlItem
from dynabench.validation.tables import Validation
from tests import boards
from tests.api import things
from tests.conftest import PASSWORD, Browser, Caller
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


ONBOARDING = """
onboarding:
  required: false
  practice: [{context: {premise: It rains.}, input: {hypothesis: It is wet.}, answer: {label: entailment}}]
  questions: [{name: rain, question: "Does it rain?", options: ["yes", "no"], right: "yes"}]
  drawn: 1
  pass_mark: 1
  attempts: 20
"""
Written = TypeVar("Written")
DRAWN = {"name": "rain", "order": [0, 1]}


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


class Props:
    """Things of the scene, each with the number or the name by which routes know it."""

    client: Any
    database: Database
    scene: Scene
    callers: dict[str, Caller]
    browsers: dict[str, Browser]
    ids: dict[str, int]
    student: int = 0
    team_secret: str = ""
    reading = False
    """Whether nothing is called but routes that change nothing."""

    def once(self, name: Hashable, make: Callable[[Session], Written]) -> Written:
        """Write a thing and return what `make` returns; for who only reads, the first one serves all."""
        remembered: dict[Hashable, Any] = self.__dict__.setdefault("_remembered", {})
        if self.reading and name in remembered:
            return cast(Written, remembered[name])
        remembered[name] = self.database.write(make)
        return cast(Written, remembered[name])

    def class_of_author(self) -> int:
        """A class that the author teaches, with a student of its own each time."""

        def make(session: Session) -> tuple[int, int]:
            teacher = session.get_one(Person, self.callers["author"].id)
            body = ClassIn(name="Class", task="sentiment", places=300)  # a task that is open to everybody
            group = session.scalar(select(SchoolClass)) or classes.create_class(session, teacher, "members", body)
            name = f"Student {secrets.token_hex(4)}"
            return group.id, joining.join_class(session, None, group.join_code, name, True).person.id

        class_id, self.student = self.database.write(make)
        return class_id

    def team_of_author(self) -> int:
        """A team whose captain the author is, with one more member; its link is a new one each time."""

        def make(session: Session) -> tuple[int, str, int]:
            captain = session.get_one(Person, self.callers["author"].id)
            team = session.scalar(select(Team)) or teams.create_team(session, captain, TeamIn(name="The otters"))
            if teams.captain_of(session, team.id) != captain.id:
                session.execute(delete(TeamMember).where(TeamMember.team_id == team.id))
                session.add(TeamMember(team_id=team.id, person_id=captain.id, captain=True, first_day="2026-01-01"))
                team.dissolved_at = None
            session.flush()
            secret = teams.renew_link(session, captain, team.id)
            name = f"otter-{secrets.token_hex(4)}"
            member = Person(username=name, email=f"{name}@example.org", password_hash="", terms="", agreed_at=now())
            session.add(member)
            session.flush()
            teams.join_team(session, member, secret)
            return team.id, secret, member.id

        team_id, self.team_secret, self.student = self.database.write(make)
        return team_id

    def competition(self, finished: bool) -> int:
        """A competition that has ended, on the round of the scene, without any part in its examples."""
        team_id = self.team_of_author()

        def make(session: Session) -> int:
            row = session.scalar(select(Competition))
            if row is None:
                current = session.scalars(select(Round).where(Round.task_id == "nli", Round.number == 1)).one()
                row = Competition(task_id="nli", round_id=current.id, name="Cup", budget=3, least_examples=1)
                row.most_members, row.starts_at, row.ends_at = 3, now() - timedelta(days=2), now() - timedelta(days=1)
                session.add(row)
                session.flush()
            if session.get(CompetitionEntry, (row.id, team_id)) is None:
                session.add(CompetitionEntry(competition_id=row.id, team_id=team_id))
            row.finished_at = row.report = None
            session.flush()
            if finished:
                competitions.finish(session, None, row.id)
            return row.id

        return self.database.write(make)

    def onboarding(self, role: str, attempt: bool) -> dict[str, Any]:
        """The open round with an onboarding that nobody has to do, and an attempt of this person's at its quiz."""
        person_id = self.ids.get(NAMES.get(role, ""), self.ids["mia"])

        def make(session: Session) -> int:
            current = session.scalars(select(Round).where(Round.task_id == "nli", Round.number == 1)).one()
            version = session.get_one(TaskVersion, current.version_id)
            if "\nonboarding:" not in version.source:
                number = session.scalars(select(func.max(TaskVersion.number)).where(TaskVersion.task_id == "nli")).one()
                version = TaskVersion(task_id="nli", number=number + 1, source=version.source + ONBOARDING)
                session.add(version)
                session.flush()
                current.version_id = version.id
            tries = select(QuizAttempt).where(QuizAttempt.person_id == person_id)
            row = session.scalars(tries.order_by(QuizAttempt.number.desc()).limit(1)).first()
            if row is None or row.state != AttemptState.BEGUN:
                row = QuizAttempt(task_id="nli", person_id=person_id, activity="check", version=1, drawn=[DRAWN])
                row.number, row.version_id = 1 + len(session.scalars(tries).all()), version.id
                session.add(row)
                session.flush()
            return row.id

        number = self.database.write(make)
        banned = self.banned_id(role)
        return {
            "task": "nli",
            "attempt": number,
            "position": 1,
            "person_id": banned,
            "id": number if attempt else banned,
        }

    def picture(self) -> str:
        """A picture that the context shows."""
        settings = self.client.app.state.settings
        content, facts = file_formats.check_upload(files.picture(), "image", UploadLimits(2**20))
        digest = MediaStore.of(settings).put(content)
        self.database.write(media.record_upload, "nli", None, digest, facts)
        self.database.write(media.bind_media, "nli", [{"media": digest}], context_id=self.scene.given["id"])
        return digest

    def measured(self) -> dict[str, str]:
        """A table of what was measured of the round."""
        self.database.write(things.measured)
        return {"measure": "writers", "table": "figures"}

    def conversation(self) -> int:
        """A conversation of the author's with one turn, made when first asked for."""

        def make(session: Session) -> int:
            value = session.scalar(select(Conversation))
            if value is None:
                values = session.scalars(select(Handout).where(Handout.person_id == self.ids["ada"]).limit(1)).one()
                turn = Turn(number=1, said="Hello?", key="one", request="", state="chosen", continued=0)
                turn.replies = [Reply(side=0, text="Hello.", state="done")]
                value = Conversation(handout_id=values.id, round_id=values.round_id, person_id=values.person_id)
                value.sides, value.turns = [["nli-a", "1"]], [turn]
                session.add(value)
                session.flush()
            return value.id

        return self.once("conversation", make)

    def submission(self) -> int:
        """A private submission of the author's that waits for its check."""
        created = Submission(
            task_id="nli", kind="hub", name="hidden", person_id=self.callers["author"].id, visibility="private"
        )

        def make(session: Session) -> int:
            session.add(created)
            session.flush()
            return created.id

        return self.database.write(make)

    def note(self, example: int) -> int:
        """A note on an example."""
        return self.database.write(lambda session: notes.add(session, None, example, "Odd.").id)

    def bulk(self) -> int:
        """Something that was done to many examples."""
        return self.database.write(
            lambda session: bulk.act(session, None, "nli", "label", "odd", [self.scene.example]).id
        )

    def appeal(self, role: str) -> int:
        """An appeal of this person's against a pause that nobody knows of any more."""

        def make(session: Session) -> int:
            person = self.ids[NAMES.get(role, NAMES["author"])]
            appeal = Appeal(task_id="nli", person_id=person, kind="pause", decided_at=now(), reason="Slow.", text="No.")
            session.add(appeal)
            session.flush()
            return appeal.id

        return self.once(("appeal", role), make)

    def controls(self) -> dict[str, int]:
        """A control item of the example, and a review of somebody who answered such items wrongly."""

        def make(session: Session) -> dict[str, int]:
            example = self.scene.example
            item = session.scalar(select(ControlItem).where(ControlItem.example_id == example))
            if item is None:
                item = ControlItem(task_id="nli", kind="gold", example_id=example, context={}, input={}, answer={},
                                   predictions=[], right_vote="correct", source="", digest="example:1")  # fmt: skip
            person = self.ids[NAMES["author"]]
            decision = ControlDecision(task_id="nli", person_id=person, consequence="review", answers=10, right=1,
                                       threshold=0.7, last_answer=0)  # fmt: skip
            session.add_all([item, decision])
            session.flush()
            return {"item": item.id, "decision": decision.id}

        return self.once("controls", make)

    def signal(self) -> int:
        """An open signal about the example."""

        def make(session: Session) -> int:
            example = session.get_one(Example, self.scene.example)
            session.execute(delete(Signal).where(Signal.example_id == example.id))
            about = {"round_id": example.round_id, "example_id": example.id, "person_id": example.author_id}
            facts = {"pasted": 90, "typed": 10, "characters": 100}
            signal = Signal(task_id="nli", kind="paste", value=0.9, threshold=0.5, facts=facts, **about)
            session.add(signal)
            session.flush()
            return signal.id

        return self.once("signal", make)

    def adjudication(self, role: str) -> int:
        """A decision on the example, by the one who asks where they may decide, else by the owner."""

        def make(session: Session) -> int:
            number = self.ids[NAMES[role if role in ("expert", "moderator", "admin") else "owner"]]
            cast = Validation(example_id=self.scene.example, person_id=number,
                              vote="correct", by_owner=True, values={})  # fmt: skip
            session.add(cast)
            session.flush()
            decision = Adjudication(task_id="nli", example_id=self.scene.example, validation_id=cast.id,
                                    verdict="correct", reason="It follows.", by=number)  # fmt: skip
            session.add(decision)
            session.flush()
            return decision.id

        return self.database.write(make)

    def announcement(self) -> int:
        """Something that the owner announced."""
        created = Announcement(task_id="nli", text="Soon.", until=now() + timedelta(days=1))

        def make(session: Session) -> int:
            session.add(created)
            session.flush()
            return created.id

        return self.once("announcement", make)

    def hub(self, path: str) -> dict[str, Any]:
        """The author's public repository on the hub with a pull request, as parameters of a route."""
        settings = self.client.app.state.settings
        empty = LargeFile(hashlib.sha256(b"").hexdigest(), 0)
        module = "/spaces/" in path or "/modules/" in path
        kind = RepositoryKind.EVALUATION if module else RepositoryKind.MODEL

        def make(session: Session) -> dict[str, Any]:
            author = session.get_one(Person, self.callers["author"].id)
            name = hubs.claim_namespace(session, settings, author).name
            try:
                entry = hubs.find_entry(session, author, kind, name, "first")
            except NotFound:
                entry = hubs.create_repository(session, settings, author, kind, "first")
                discussions.open_discussion(session, author, entry, "Change", "Please look.", pull=True)
            rest = ".gitattributes" if "/resolve/" in path or "/files/{rest" in path else "main"
            if "/tag/" in path:
                rest = f"tag-{secrets.token_hex(4)}"
                hubs.create_reference(session, settings, author, entry, ReferenceKind.TAG, rest, "main")
            act = "download" if "/files/" in path else "upload"
            ticket = UploadTicket(act, entry.row.id, author.id, *empty, uploads.new_end()).sign(settings)
            discussion = discussions.find_discussion(session, entry, 1)
            first = func.min(HubDiscussionEvent.id)
            comment = session.scalar(select(first).where(HubDiscussionEvent.discussion_id == discussion.id))
            address = {"namespace": name, "name": "first", "rest": rest, "event": f"{comment:024x}"}
            return address | {"ticket": ticket, "revision": entry.row.head}

        parts = [
            part for part in ("/spaces/", "/modules/", "/resolve/", "/files/", "/files/{rest", "/tag/") if part in path
        ]
        parameters = dict(self.once(("hub", *parts), make))
        if "/files/" in path:
            store = HubFileStore.of(settings)
            store.keep(store.receive(), empty)
        parameters["rest"] = f"main/{parameters['rest']}" if "/resolve/" in path else parameters["rest"]
        place = XorbStore.open_for(settings, 1, self.callers["author"].id).name
        xet = {"place": place, "xorb": "0" * 64, "prefix": "default-merkledb", "chunk": "0" * 64}
        return parameters | {"kinds": "models", "number": 1, "part": "revision"} | xet

    def data_report(self) -> str:
        """A report that the author asked for and that is finished."""
        author, settings = self.callers["author"].id, self.client.app.state.settings
        result = MeasureResult("2 rows", (Figure("rows", "Rows", 2.0),))
        rows = Table("rows", "Texts", (ResultColumn("row", "Row"),), ((1, -1, "", "", "A text."),), (0,))
        results = {"general": result, "themes": MeasureResult("No clusters", (), (rows,))}
        report = DataReport(MeasuredFacts("rows.jsonl", "0", 2, {"texts": ["text"], "label": ""}), results)
        stored_reports.store_report(settings, "0" * 64, report)

        def make(session: Session) -> str:
            subject = file_subject(Path("rows.jsonl"), "rows.jsonl")
            person = session.get_one(Person, author)
            job = data_reports.request_report(session, person, subject, ReportOptions())
            session.flush()
            data_reports.finish_job(session, job.id, {"key": "0" * 64})
            return job.id

        return self.once("data report", make)

    def archive(self) -> str:
        """An archive of the task that its owner asked for."""
        owner = self.callers["owner"].id
        return self.database.write(
            lambda session: archives.request_export(session, session.get_one(Person, owner), "nli").id
        )

    def proposal(self) -> int:
        """A task that the author proposed, and that waits."""
        created = Proposal(task_id="irony", source="id: irony", person_id=self.callers["author"].id)

        def make(session: Session) -> int:
            session.add(created)
            session.flush()
            return created.id

        return self.once("proposal", make)

    def task_draft(self) -> int:
        """A draft of a new task by the author."""

        def make(session: Session) -> int:
            author = session.get_one(Person, self.callers["author"].id)
            return task_drafts.save_draft(session, author, f"name: Irony {secrets.token_hex(4)}").id

        return self.database.write(make)

    def row(self) -> int:
        """A row of the task's board, made when first asked for."""

        def make(session: Session) -> int:
            value = session.scalar(select(Submission.id).where(Submission.task_id == "nli"))
            return value or boards.furnish(session, "nli", [0.8], ["first"], rows=40)[0]

        return self.database.write(make)

    def report(self) -> int:
        """Results of others that were imported, made when first asked for."""

        def make(session: Session) -> int:
            rows = [{"model_name": "other", "metrics": {"Accuracy": "80"}}]
            content = orjson.dumps([{"datasets": [{"dataset": "First", "sota": {"rows": rows}}]}])
            value = session.scalar(select(Report.id))
            return value or reports.add_report(session, None, "nli", content, "https://example.org/tables").id

        return self.database.write(make)

    def kept(self, kind: str) -> str:
        """The address of a new snapshot, or of a new fork of the author's."""
        self.row()

        def make(session: Session) -> str:
            author = session.get_one(Person, self.ids[NAMES["author"]])
            if kind == "forks":
                return snapshots.make_fork(session, author, "nli", {}, "Mine").slug
            value = session.scalar(select(Snapshot.slug))
            return value or snapshots.take_snapshot(session, author, "nli", {}, "").slug

        return self.database.write(make)

    def study(self) -> dict[str, Any]:
        """A published study of the task with a worker who has finished: its number, its slug, and the worker's."""
        key = self.client.app.state.settings.key

        def make(session: Session) -> dict[str, Any]:
            consent.save_text(session, None, "nli", "We keep your texts.")
            plan = StudyPlan("A study", {}, {"examples": 1})
            study = studies.draft_study(session, None, "nli", 1, "generic", plan)
            study.state = StudyState.PUBLISHED
            entry.enter_study(session, key, study.slug, Arrival("w1", "w1"))
            part = session.scalars(select(Participation).where(Participation.study_id == study.id)).one()
            part.state = ParticipationState.FINISHED
            account = CrowdCredentials(task_id="nli", provider="prolific", name="lab", sealed="")
            order = BonusOrder(study_id=study.id, payouts=[], state=BonusOrderState.UNDECIDED)
            session.add_all([account, order])
            session.flush()
            numbers = {"participant": part.id, "account": account.id, "order": order.id}
            return {"task": "nli", "id": study.id, "slug": study.slug} | numbers

        return self.once("study", make)

    def payment(self) -> int:
        """A payment to a person in the round, which an owner may cancel."""
        number = self.ids[NAMES["banned"]]

        def make(session: Session) -> int:
            pay.save_scheme(session, None, "nli", 1, parse_scheme({"currency": "USD"}))
            round_id = rounds.round_of(session, "nli", 1).id
            key = secrets.token_hex(8)
            amount = Money(100, "USD")
            return ledger.book(session, round_id, number, PaymentKind.BONUS, amount, "For the tests", key).id

        return self.database.write(make)

    def voter_id(self, _: str) -> int:
        """Somebody who has voted in the task."""
        number = self.ids[NAMES["banned"]]

        def vote(session: Session) -> None:
            mine = select(Validation.id).where(Validation.person_id == number)
            if session.scalars(mine).first() is None:
                cast = {"example_id": self.scene.example, "person_id": number, "vote": "correct"}
                session.add(Validation(**cast, by_owner=False, values={}))

        self.database.write(vote)
        return number

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
            return invitations.create_invitation(session, None, "nli", "annotator", note="for the tests", uses=2)

        created, secret = self.database.write(make)
        return created.id, secret

    def notice_of(self, role: str) -> int:
        """Something that this person is told."""
        if role == "anon":
            return 1
        person_id = self.callers[role].id
        self.database.write(notices.notify_person, person_id, "warning", "Mind your step.")
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

    def mail_link(self, path: str) -> str:
        """The token of the link in a mail to the author that leads to this path."""
        number, address = self.callers["author"].id, "ada@example.org"
        key = self.client.app.state.settings.key
        author = self.database.read(lambda session: session.get_one(Person, number))
        if "/reset/" in path or "/confirm/" in path:
            make_token = recovery.reset_token if "/reset/" in path else recovery.confirmation_token
            return make_token(key, author)

        def make(session: Session) -> None:
            session.merge(Wish(person_id=number, address=address, channels={}, problem=""))

        self.database.write(make)
        purpose = mailing.VERIFY if "/verify/" in path else mailing.UNSUBSCRIBE
        return make_link_token(key, purpose, number, address)

    def identity_of(self, role: str) -> int:
        """An account at a provider to unlink: one of the caller's own."""
        if role == "anon":
            return 1
        claims = Claims("https://id.example.org", secrets.token_hex(8), "", False, "")
        number = self.callers[role].id
        self.database.write(identities.link_identity, number, claims)
        return self.database.read(identities.list_identities, number)[-1].id

    def browser_of(self, role: str) -> str:
        """The handle of a browser to log out: another one of the caller's own."""
        if role == "anon":
            return "0" * service.HANDLE
        cookie = self.database.write(service.start_session, self.callers[role].id)
        return security.digest(cookie)[: service.HANDLE]

    def evaluation(self) -> int:
        """An evaluation of a model that `author` submitted, which failed; its record is an earlier run's."""
        if not self.scene.evaluation:
            self.scene.evaluation = self.database.write(things.evaluated, self.callers["author"].id)
        return self.scene.evaluation

    def open_evaluation(self) -> int:
        """A new open evaluation of `author`, which failed and may be deleted."""
        settings = self.client.app.state.settings
        return self.database.write(things.open_evaluated, settings, self.callers["author"].id)

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
