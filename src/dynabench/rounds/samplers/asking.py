"""The request to a sampler, and the index walks that samplers are made of."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from sqlalchemy import ColumnElement, Select, select
from sqlalchemy.orm import InstrumentedAttribute, Session

from dynabench.rounds.tables import Context


@dataclass(frozen=True)
class Ask:
    """One context of a task is wanted, other than `but` (0: any).

    `draw` is a random key, 0 to `queries.KEYS`. `person_id` is 0 for visitors, for whom nothing is stored. `pool` names
    the few contexts that a round works on; None stands for all of the task.
    """

    session: Session
    task_id: str
    rng: random.Random
    draw: int
    but: int = 0
    person_id: int = 0
    pool: Sequence[int] | None = None

    def key(self, column: InstrumentedAttribute[Any]) -> ColumnElement[Any]:
        """A column to walk by. With a pool its index is kept out of use: the few are read by id, then sorted."""
        return column.expression if self.pool is None else column + 0

    def live(self, *conditions: ColumnElement[bool]) -> Select[Context]:
        """Contexts that may be handed out."""
        found = select(Context).where(Context.task_id == self.task_id, Context.retired_at.is_(None), *conditions)
        if self.pool is not None:
            found = found.where(Context.id.in_(self.pool))
        return found.where(Context.id != self.but) if self.but else found

    def first(self, *conditions: ColumnElement[bool], order: Sequence[ColumnElement[Any]]) -> Context | None:
        """The first context in an order."""
        return self.session.scalar(self.live(*conditions).order_by(*order).limit(1))

    def around(self, *conditions: ColumnElement[bool]) -> Context | None:
        """The context with the random key nearest above `draw`, around the corner if none: two index probes.

        Keys are drawn anew at each handout, so that a wide gap below a key favours its context once, not for good.
        """
        key = self.key(Context.draw)
        found = self.first(*conditions, key >= self.draw, order=[key])
        return found or self.first(*conditions, key < self.draw, order=[key])

    def least(self, column: InstrumentedAttribute[int]) -> Context | None:
        """The context with the lowest `column`, ties broken at random: at most four index probes."""
        key, draw = self.key(column), self.key(Context.draw)
        lowest = self.live().with_only_columns(column).order_by(key).limit(1)
        level = self.session.execute(lowest).scalar()
        return None if level is None else self.around(key == level) or self.first(order=[key, draw])


class Sampler(Protocol):
    """A way to draw contexts: what pages call it and say about it, and the pick itself."""

    label: str
    help: str

    def pick(self, ask: Ask) -> Context | None:
        """A context that may be handed out; None where there is none."""
        ...
