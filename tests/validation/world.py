"""A task with a round, people and examples, made through the services, for tests of validation."""

import copy
import hashlib
import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import inspect, select
from sqlalchemy.orm import Session

from dynabench.collection import folding, projections, search
from dynabench.collection.handout_tables import Handout
from dynabench.collection.tables import Example, Prediction, Retraction, Standing, Tally
from dynabench.collection.terms import facet
from dynabench.kit.db import Database, now
from dynabench.people.accounts.tables import Person
from dynabench.people.roles import Role
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Context, Round, Target, Task, TaskVersion
from dynabench.tasks import TaskConfig
from dynabench.validation import places, service, undoing
from dynabench.validation.rebuild import rebuild_all
from dynabench.validation.service import Ballot, Outcome
from dynabench.validation.tables import Undo, Validation

CONFIG = """
id: checks
name: Checks
context: [{name: premise, type: text}]
input: [{name: hypothesis, type: text}]
answer: {name: label, type: choice, options: [entailment, neutral, contradiction]}
validate:
  mode: %(mode)s
  votes: %(votes)d
  adjudicate_up_to: %(cap)d
  also_not_fooled: %(also)s
  ask: [{name: corrected, type: choice, options: [entailment, neutral, contradiction], when: incorrect}]
"""

CLAIM = {"label": "contradiction"}
WRONG = {"label": "neutral"}


class World:
    """One open round of one task, without models: the tests say what they predicted."""

    def __init__(self, db: Database, mode: str = "judge", votes: int = 2, cap: int = 5, also: bool = False) -> None:
        self.db = db
        self.task = "checks"
        self.source = CONFIG % {"mode": mode, "votes": votes, "cap": cap, "also": str(also).lower()}
        self.config = TaskConfig.parse(self.source)
        self.numbers = itertools.count(1)
        self.round_id = db.write(self._setting)
        self.owner = self.person(role="owner")

    def moved_to(self, db: Database) -> "World":
        """The same in a copy of its database."""
        world = copy.copy(self)
        world.db, world.numbers, world.tagged = db, copy.copy(self.numbers), dict(self.tagged)
        return world

    def _setting(self, session: Session) -> int:
        session.add(Task(id=self.task))
        session.flush()
        version = TaskVersion(task_id=self.task, number=1, source=self.source)
        session.add(version)
        session.flush()
        session.get_one(Task, self.task).version_id = version.id
        self.version_id = version.id
        context = Context(task_id=self.task, values={"premise": "It rains."}, digest="0" * 64, draw=1)
        opened = Round(task_id=self.task, number=1, version_id=version.id, state="open")
        opened.targets = [Target(position=0, model="m", version="1")]
        tagged = Context(task_id=self.task, values={"premise": "It pours."}, tag="rain", digest="1" * 64, draw=2)
        session.add_all([context, tagged, opened])
        session.flush()
        self.context_id, self.tagged = context.id, {"": context.id, "rain": tagged.id}
        return opened.id

    def person(self, role: str | None = None) -> Person:
        """Somebody new, perhaps with a role in the task."""
        number = next(self.numbers)

        def make(session: Session) -> Person:
            created = Person(
                username=f"person{number}", email=f"{number}@example.org", password_hash="", terms="1", agreed_at=now()
            )
            session.add(created)
            session.flush()
            if role:
                session.add(Role(task_id=self.task, person_id=created.id, role=role))
            return created

        return self.db.write(make)

    def example(self, author: Person, fooled: bool | None = True, **columns: Any) -> int:
        """An example by `author` with one prediction; `columns` override the row's."""
        return self.db.write(self.write_example, author, fooled, **columns)

    def write_example(
        self,
        session: Session,
        author: Person,
        fooled: bool | None = True,
        *,
        tag: str = "",
        models: bool = True,
        **columns: Any,
    ) -> int:
        """As `example`, in a transaction of the caller's; `models` is false where no model was asked."""
        number = next(self.numbers)
        handout = Handout(
            round_id=self.round_id,
            context_id=self.tagged[tag],
            person_id=author.id,
            start="blank",
            initial={},
        )
        session.add(handout)
        session.flush()
        values: dict[str, Any] = {
            "round_id": self.round_id,
            "context_id": self.tagged[tag],
            "handout_id": handout.id,
            "author_id": author.id,
            "version_id": self.version_id,
            "input": {"hypothesis": f"It is dry, {number}."},
            "answer": CLAIM,
            "fooled": fooled,
            "source": "person",
            "start": "blank",
            "attempt": 1,
            "seconds": 1.0,
            "latency_ms": 1.0,
            "key": str(number),
            "request": hashlib.sha256(str(number).encode()).hexdigest(),
        }
        example = Example(**(values | columns))
        session.add(example)
        session.flush()
        prediction = Prediction(
            position=0, model="m", version="1", answer=WRONG if fooled else CLAIM, probabilities=None
        )
        prediction.example_id, prediction.fooled, prediction.latency_ms = example.id, fooled, 1.0
        if models:
            session.add(prediction)
        right = int(models and fooled is False)
        projections.count_example(session, example, targets=int(models), targets_right=right, config=self.config)
        return example.id

    def retract(self, example_id: int) -> None:
        """The author takes an example back."""

        def take_back(session: Session) -> None:
            projections.locked(session, example_id)  # two retractions at once come one after the other
            if session.get(Retraction, example_id) is None:
                session.add(Retraction(example_id=example_id))
                projections.count_retraction(session, session.get_one(Example, example_id))

        self.db.write(take_back)

    def vote(self, person: Person, example_id: int, label: str, *, owner: bool = False, **values: Any) -> Outcome:
        """A vote by judging."""
        return self.db.write(service.vote, person, example_id, Ballot(vote=label, values=values, as_owner=owner))

    def answer(self, person: Person, example_id: int, label: str) -> Outcome:
        """A blind answer."""
        return self.db.write(service.vote, person, example_id, Ballot(answer={"label": label}))

    def undo(self, person: Person, example_id: int) -> Outcome:
        """Take the last vote back."""
        return self.db.write(undoing.undo, person, example_id, seconds=600)

    def next(self, person: Person, seconds: int = 600) -> places.CheckItem | None:
        """The next item for somebody."""
        return self.db.write(places.next_item, person, self.task, seconds=seconds)

    def skip(self, person: Person, example_id: int) -> None:
        """Pass an example on."""
        self.db.write(service.skip, person, example_id)

    def standing(self, example_id: int) -> Standing:
        """Return the state of an example."""
        return self.db.read(lambda session: session.get_one(Standing, example_id))

    def state(self, state: str) -> None:
        """Put the round into another state."""
        self.db.write(lambda session: setattr(session.get_one(Round, self.round_id), "state", state))

    def counted(self, example_id: int) -> list[Validation]:
        """Votes that stand, in order."""
        undone = select(Undo.validation_id)
        statement = select(Validation).where(Validation.example_id == example_id, Validation.id.not_in(undone))
        return self.db.read(lambda session: list(session.scalars(statement.order_by(Validation.id))))

    def projections(self) -> list[tuple[Any, ...]]:
        """Standings and tallies, comparable."""

        def rows(session: Session) -> list[tuple[Any, ...]]:
            result: list[tuple[Any, ...]] = []
            for table in (Standing, Tally):
                names = [column.key for column in inspect(table).column_attrs]
                result += sorted(tuple(getattr(row, name) for name in names) for row in session.scalars(select(table)))
            judged = select(Context.id, Context.good, Context.failed).order_by(Context.id)
            return result + [tuple(row) for row in session.execute(judged)]

        def packed(session: Session) -> list[tuple[Any, ...]]:
            groups = folding.read(session, self.round_id)
            return sorted((*group, *map(tuple, outcome.tolist())) for group, outcome in groups.items())

        def sets(session: Session) -> list[tuple[Any, ...]]:
            families = [*search.CHANGING.values(), [facet("fooled", True)], [facet("source", "expert")]]
            terms = [term for family in families for term in family]
            return [(term, tuple(search.matching(session, [[term]], None))) for term in terms]

        return self.db.read(rows) + self.db.read(packed) + self.db.read(sets)

    def rebuilt(self) -> list[tuple[Any, ...]]:
        """Standings and tallies as a recount of the ledger makes them."""
        rebuild_all(self.db)
        return self.projections()

    @contextmanager
    def later(self, monkeypatch: Any, by: timedelta) -> Iterator[None]:
        """The clock of votes and places runs `by` ahead."""

        def ahead() -> datetime:
            return now() + by

        with monkeypatch.context() as patch:
            patch.setattr(places, "now", ahead)
            patch.setattr(service, "now", ahead)
            patch.setattr(undoing, "now", ahead)
            yield


__all__ = ["CLAIM", "WRONG", "World", "rounds"]
