"""Examples, checks, reviews and payments that the authorization matrix is played with."""

import secrets
from typing import Any

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from dynabench.collection import notes
from dynabench.collection.chat.tables import Conversation, Reply, Turn
from dynabench.collection.handout_tables import Handout
from dynabench.collection.tables import Example
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
from dynabench.kit.db import now
from dynabench.media import file_formats
from dynabench.media import service as media
from dynabench.media.file_formats import UploadLimits
from dynabench.media.store import MediaStore
from dynabench.pay import ledger
from dynabench.pay import service as pay
from dynabench.pay.money import Money
from dynabench.pay.scheme import parse_scheme
from dynabench.pay.tables import PaymentKind
from dynabench.people.accounts.tables import Person
from dynabench.quality.signals.tables import Signal
from dynabench.quality.tables import Adjudication, Appeal
from dynabench.rounds import service as rounds
from dynabench.rounds import task_drafts
from dynabench.rounds.tables import Proposal
from dynabench.validation import bulk
from dynabench.validation.controls.tables import ControlDecision, ControlItem
from dynabench.validation.tables import Validation
from tests.api import things
from tests.api.scene import NAMES, SceneProps
from tests.media import files


class CollectionProps(SceneProps):
    """Examples, checks, reviews and payments, each with the number or the name by which routes know it."""

    def picture(self) -> str:
        """A picture that the context shows."""
        settings = self.client.app.state.settings
        content, facts = file_formats.check_upload(files.picture(), "image", UploadLimits(2**20))
        digest = MediaStore.of(settings).put(content)
        self.database.write(media.record_upload, "nli", None, digest, facts)
        self.database.write(media.bind_media, "nli", [{"media": digest}], context_id=self.scene.context["id"])
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
        """The number of a person who has voted in the task."""
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
