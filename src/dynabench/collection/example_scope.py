"""The place of an example: its task, round and context.

Its counters and search terms need them besides the example itself.
"""

from dataclasses import dataclass
from typing import Any

from sqlalchemy.orm import Session

from dynabench.collection.tables import Example
from dynabench.rounds.tables import Context, Round


@dataclass(frozen=True)
class Place:
    """An example's task, its round's number and arms, its context's values and tag."""

    task_id: str
    round: int
    arms: list[Any]
    context: dict[str, Any]
    tag: str


def place_of(session: Session, example: Example) -> Place:
    """The place of a stored example: two probes of primary keys."""
    of, context = session.get_one(Round, example.round_id), session.get_one(Context, example.context_id)
    return Place(of.task_id, of.number, of.arms, context.values, context.tag)
