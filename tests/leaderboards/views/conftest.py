"""A board of the task sentiment: three models on three datasets, of which one is hidden, with their answers."""

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from dynabench.benchmark.evaluations.tables import Evaluation, Score
from dynabench.benchmark.registry.tables import Submission
from dynabench.datasets.tables import Dataset
from dynabench.kit.db import Database
from dynabench.kit.settings import Settings
from dynabench.people.accounts.tables import Person
from dynabench.rounds.tables import Round
from tests import boards
from tests.collection import conftest as world
from tests.collection.conftest import open_rounds
from tests.furnished import Furnish

host, rules, client, admin, owner = world.host, world.rules, world.client, world.admin, world.owner
SKILLS = (0.9, 0.6, 0.6)
SETS = ("first", "second", "hushed")
METRICS = ("accuracy", "f1", "robustness", "throughput")


def scored(settings: Settings) -> Any:
    """Furnish: both tasks open, and the board of sentiment; `first` is the dataset of its round."""
    root = open_rounds(settings)

    def fill(session: Session) -> None:
        ids = boards.furnish(session, "sentiment", SKILLS, SETS, METRICS, rows=120)
        hidden = session.scalars(select(Dataset).where(Dataset.name == "hushed")).one()
        hidden.visibility = "hidden"
        source = session.scalars(select(Round).where(Round.task_id == "sentiment")).one()
        first = session.scalars(select(Dataset).where(Dataset.name == "first")).one()
        first.round_id, first.kind = source.id, "round"
        boards.answered(session, settings, ids, SKILLS)
        for row in session.scalars(select(Evaluation)):
            for tag, n in (("even", 60), ("rare", 7)):
                session.add(
                    Score(evaluation_id=row.id, metric="accuracy", slice=tag, value=0.5, low=0.4, high=0.6, n=n)
                )

    database = Database(settings.url)
    database.write(fill)
    database.close()
    return root


@pytest.fixture
def furnish() -> Furnish:
    return scored


@pytest.fixture
def change(database: Any) -> Callable[..., None]:
    """Change submissions: `change("model-1", visibility="private", person="ada")`."""

    def changed(which: str, /, person: str = "", **values: Any) -> None:
        def write(session: Session) -> None:
            source = session.scalars(select(Submission).where(Submission.name == which)).one()
            for key, value in values.items():
                setattr(source, key, value)
            if person:
                source.person_id = session.scalars(select(Person.id).where(Person.username == person)).one()

        database.write(write)

    return changed
