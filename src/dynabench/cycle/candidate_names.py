"""The names of candidates' models, made of their task, round, way of training and seed."""

from sqlalchemy.orm import Session

from dynabench.benchmark.registry import queries
from dynabench.benchmark.registry.tables import ModelListing
from dynabench.kit.settings import get_settings
from dynabench.models import catalog


def model_name(task: str, number: int, candidate: str, seed: int) -> str:
    """Return the name of a candidate's model, 64 characters at most; a repeated turn of the round gives the same
    name."""
    tail = f"-r{number}-{candidate}-s{seed}"
    return f"{task[: 64 - len(tail)].rstrip('-')}{tail}"


def is_taken(session: Session, task: str, name: str) -> bool:
    """Return True if a name belongs to another task's model or to a person's submission."""
    submission = session.scalars(queries.submissions_named(name)).first()
    if submission is not None:
        return submission.task_id != task or submission.kind != "installed"
    if session.get(ModelListing, name) is not None:
        return True
    return name in catalog.names(get_settings()) and catalog.entry(name).card is not None and _foreign(task, name)


def _foreign(task: str, name: str) -> bool:
    card = catalog.entry(name).card
    return card is not None and card.task != task
