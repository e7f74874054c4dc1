"""People with uploaded files, and open evaluations that a worker runs in this process."""

import uuid
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy.orm import Session

from dynabench.kit.db import Database
from dynabench.kit.settings import Settings
from dynabench.models import catalog
from dynabench.models.protocol import ModelCard
from dynabench.open_evaluations import jobs, planning, service
from dynabench.open_evaluations.choices import OpenChoices
from dynabench.open_evaluations.planning import OpenPlan
from dynabench.people.accounts.tables import Person
from tests.jobs.conftest import worker
from tests.scoring.conftest import owner_of, place, worker_here

__all__ = ["owner_of", "place", "worker"]
GOOD = "a warm, funny and wonderful film that I loved"
BAD = "a dull, boring and terrible film that I hated"


def reviews(rows: int) -> bytes:
    """A file of reviews whose labels are not called as the models call them."""
    lines = ["review,sentiment,stars"]
    lines += [
        f'"{BAD if n % 3 == 0 else GOOD}, scene {n}",{"neg" if n % 3 == 0 else "pos"},{n % 5}' for n in range(rows)
    ]
    return "\n".join(lines).encode()


class Desk:
    """One person who evaluates models."""

    def __init__(self, database: Database, settings: Settings, person: int) -> None:
        self.database, self.settings, self.person = database, settings, person

    def someone(self, session: Session) -> Person:
        return session.get_one(Person, self.person)

    def cards(self) -> list[ModelCard]:
        return [entry.card for entry in catalog.find() if entry.card is not None]

    def upload(self, name: str, content: bytes) -> str:
        """Upload a file; what names it as a dataset."""
        id = str(uuid.uuid4())
        service.new_file_path(self.settings, id).write_bytes(content)
        facts = service.check_file(self.settings, id, name)
        return self.database.write(
            lambda session: service.add_file(session, self.settings, self.someone(session), id, name, facts)
        )

    def plan(self, dataset: str, **choices: Any) -> OpenPlan:
        chosen = OpenChoices.parse({"dataset": dataset} | choices)
        return self.database.read(
            lambda session: planning.make_plan(session, self.settings, self.someone(session), chosen, self.cards())
        )

    def start(self, dataset: str, models: list[str], **choices: Any) -> int:
        chosen = OpenChoices.parse({"dataset": dataset, "models": models} | choices)

        def begin(session: Session) -> int:
            someone = self.someone(session)
            evaluation = service.start_evaluation(session, self.settings, someone, chosen, self.cards())
            session.flush()
            return evaluation.id

        return self.database.write(begin)

    def seen(self, id: int) -> service.VisibleEvaluation:
        return self.database.read(lambda s: service.find_evaluation(s, self.someone(s), id))

    def run(self, id: int) -> service.VisibleEvaluation:
        """Run an open evaluation by the steps that the worker takes."""
        job = self.seen(id).evaluation.job_id
        assert job is not None
        with worker_here(self.database, self.settings):
            jobs._run(job, id)
        return self.seen(id)


@pytest.fixture
def desk(place: Any, owner_of: Callable[[str], int], database: Database, settings: Settings) -> Desk:
    """Somebody with an account and the models of the platform."""
    return Desk(database, settings, owner_of("eve"))
