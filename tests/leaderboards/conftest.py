"""A task with a furnished board, and people in front of it."""

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import update
from sqlalchemy.orm import Session

from dynabench.benchmark.registry.tables import Submission
from dynabench.datasets.tables import Dataset
from dynabench.kit.db import Database
from dynabench.rounds import service
from dynabench.tasks import shipped_tasks
from tests import boards
from tests.conftest import Caller
from tests.furnished import Furnish

SKILLS = (0.95, 0.8, 0.8, 0.6)


def seed(session: Session) -> list[int]:
    """The task sentiment with a board of four models, two of them alike, on two datasets."""
    shipped = next(shipped_task for shipped_task in shipped_tasks() if shipped_task.config.id == "sentiment")
    service.save_task(session, None, shipped.source)
    return boards.furnish(session, "sentiment", SKILLS, metrics=(*boards.METRICS, "f1"))


def furnished(settings: Any) -> list[int]:
    database = Database(settings.url)
    result = database.write(seed)
    database.close()
    return result


@pytest.fixture
def furnish() -> Furnish:
    return furnished


@pytest.fixture
def ids(furnished: tuple[str, list[int]], client: Any) -> list[int]:
    """The submissions' numbers, by skill as in `SKILLS`."""
    return furnished[1]


@pytest.fixture
def become(database: Database) -> Callable[..., None]:
    """Change a submission: `become(id, visibility="private", person_id=3)`."""
    return lambda id, **values: database.write(
        lambda session: session.execute(update(Submission).where(Submission.id == id).values(**values))
    )


@pytest.fixture
def hide(database: Database) -> Callable[[str], None]:
    """Make a dataset hidden."""
    return lambda name: database.write(
        lambda session: session.execute(update(Dataset).where(Dataset.name == name).values(visibility="hidden"))
    )


@pytest.fixture
def ada(person: Callable[[str], Caller]) -> Caller:
    return person("ada")
