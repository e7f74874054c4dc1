"""What candidates are called: after their task, round, way of training and seed."""

from sqlalchemy.orm import Session

from dynabench.models import catalog
from dynabench.registry import submission_queries
from dynabench.registry.tables import ModelListing
from dynabench.settings import get_settings


def model(task: str, number: int, candidate: str, seed: int) -> str:
    """The name of a candidate's model; the same again where a turn of the same round is repeated."""
    tail = f"-r{number}-{candidate}-s{seed}"
    return f"{task[: 64 - len(tail)].rstrip('-')}{tail}"


def taken(session: Session, task: str, name: str) -> bool:
    """Whether a name is that of another task's model, or of somebody's submission."""
    before = session.scalars(submission_queries.named(name)).first()
    if before is not None:
        return before.task_id != task or before.kind != "installed"
    if session.get(ModelListing, name) is not None:
        return True
    return name in catalog.names(get_settings()) and catalog.entry(name).card is not None and _foreign(task, name)


def _foreign(task: str, name: str) -> bool:
    card = catalog.entry(name).card
    return card is not None and card.task != task
