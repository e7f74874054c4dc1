"""Classes, teams, competitions, accounts and notices that the authorization matrix is played with."""

import secrets
from datetime import timedelta
from typing import Any

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from dynabench.announcements.service import Announcement
from dynabench.communities.classes import joining
from dynabench.communities.classes import service as classes
from dynabench.communities.classes.schemas import ClassIn
from dynabench.communities.classes.tables import SchoolClass
from dynabench.communities.competitions import service as competitions
from dynabench.communities.competitions.tables import Competition, CompetitionEntry
from dynabench.communities.teams import service as teams
from dynabench.communities.teams.schemas import TeamIn
from dynabench.communities.teams.tables import Team, TeamMember
from dynabench.kit import security
from dynabench.kit.db import now
from dynabench.onboarding.tables import AttemptState, QuizAttempt
from dynabench.people.accounts import recovery, service
from dynabench.people.accounts.oidc import service as identities
from dynabench.people.accounts.oidc.provider import Claims
from dynabench.people.accounts.tables import Notice, Person, Token
from dynabench.people.link_tokens import make_link_token
from dynabench.people.notices import mailing
from dynabench.people.notices import service as notices
from dynabench.people.notices.tables import Delivery, Hook, Wish
from dynabench.rounds import invitations
from dynabench.rounds.tables import Invitation, Round, TaskVersion
from tests.api.scene import NAMES, SceneProps
from tests.conftest import PASSWORD

ONBOARDING = """
onboarding:
  required: false
  practice: [{context: {premise: It rains.}, input: {hypothesis: It is wet.}, answer: {label: entailment}}]
  questions: [{name: rain, question: "Does it rain?", options: ["yes", "no"], right: "yes"}]
  drawn: 1
  pass_mark: 1
  attempts: 20
"""

DRAWN = {"name": "rain", "order": [0, 1]}


class PeopleProps(SceneProps):
    """Classes, teams, competitions, accounts and notices, each with the number or the name by which routes know it."""

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

    def announcement(self) -> int:
        """Something that the owner announced."""
        created = Announcement(task_id="nli", text="Soon.", until=now() + timedelta(days=1))

        def make(session: Session) -> int:
            session.add(created)
            session.flush()
            return created.id

        return self.once("announcement", make)

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
