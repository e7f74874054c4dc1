"""A world with control items, and what validators do with them."""

from collections import Counter
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from dynabench.kit.db import Database
from dynabench.people.accounts.tables import Notice, Person
from dynabench.rounds.tables import Task, TaskVersion
from dynabench.tasks import TaskConfig
from dynabench.validation import places
from dynabench.validation.controls import items
from dynabench.validation.controls.items import ControlRow
from dynabench.validation.controls.tables import ControlAnswer, ControlDecision, ControlPlace
from tests.validation.world import World


class ControlWorld(World):
    """A world whose newest config has controls, and which has gold items."""

    def __init__(self, db: Database, controls: str, gold: int = 0, **rules: Any) -> None:
        super().__init__(db, **rules)
        self.author = self.person()
        self.configure(controls)
        self.gold = [self.add_gold(number) for number in range(gold)]

    def configure(self, controls: str) -> None:
        """Save another version of the config with these controls; the round keeps its own."""
        source = self.source + f"  controls: {controls}\n"
        TaskConfig.parse(source)

        def save(session: Session) -> None:
            number = session.scalar(select(func.count()).select_from(TaskVersion)) or 0
            version = TaskVersion(task_id=self.task, number=number + 1, source=source)
            session.add(version)
            session.flush()
            session.get_one(Task, self.task).version_id = version.id

        self.db.write(save)

    def add_gold(self, number: int, vote: str = "incorrect", kind: str = "gold") -> int:
        """A gold item from a file; its id."""
        groups = {
            "context": {"premise": "It snows."},
            "input": {"hypothesis": f"{kind} {number} is known."},
            "answer": {"label": "neutral"},
        }
        row = ControlRow(number + 1, groups, vote=vote, kind=kind)
        result = self.db.write(items.add_rows, None, self.task, [row], "gold.csv")
        assert (result.created, result.errors) == (1, [])
        return max(row.item.id for row in self.db.read(items.list_items, None, self.task))

    def places(self, person: Person) -> list[ControlPlace]:
        """The controls that somebody saw."""
        statement = select(ControlPlace).where(ControlPlace.person_id == person.id)
        return self.db.read(lambda session: list(session.scalars(statement)))

    def check(self, person: Person, count: int, right: bool = True) -> Counter[str]:
        """Vote on the next `count` items as a validator: on gold rightly or not; the kinds that were answered."""
        kinds: Counter[str] = Counter()
        for _number in range(count):
            item = self.next(person)
            if item is None:
                break
            is_gold = "is known." in item.input["hypothesis"]
            label = ("incorrect" if right else "correct") if is_gold else "correct"
            self.vote(person, item.example_id, label)
            kinds["gold" if is_gold else "real"] += 1
        return kinds

    def decisions(self) -> list[ControlDecision]:
        """The decisions, oldest first."""
        return self.db.read(lambda session: list(session.scalars(select(ControlDecision).order_by(ControlDecision.id))))

    def notices(self, person: Person) -> list[str]:
        """The kinds of notices of a person."""
        statement = select(Notice.kind).where(Notice.person_id == person.id).order_by(Notice.id)
        return self.db.read(lambda session: list(session.scalars(statement)))


def answer_gold(world: ControlWorld, validator: Person, count: int, right: bool) -> None:
    """Check until `count` more gold items are answered."""
    done = 0
    while done < count:
        done += world.check(validator, 1, right)["gold"]


def force_control(world: ControlWorld, validator: Person) -> places.CheckItem:
    """Skip and ask until a gold item is shown."""
    while True:
        item = world.next(validator)
        if "is known." in item.input["hypothesis"]:
            return item
        world.skip(validator, item.example_id)


def answers_of(db: Database) -> list[ControlAnswer]:
    """The answers that stand."""
    return db.read(lambda session: list(session.scalars(select(ControlAnswer).where(~ControlAnswer.taken_back))))
