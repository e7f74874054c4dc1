"""Contexts by their weights, exactly: each has a clock that rings at the rate of its weight, and the next to ring is
drawn.

Of independent exponential waits with rates w, the shortest is that of context i with probability w_i / sum(w), and
what is left of the others is distributed as before. So one probe of an index draws with probability proportional to
the weight, whatever the weights are, if only the drawn context's clock is wound up again.
"""

import random

from sqlalchemy import select
from sqlalchemy.orm import Session

from dynabench.kit.language import _
from dynabench.rounds.samplers.asking import Ask
from dynabench.rounds.tables import Context

NEVER = 1e300
"""The clock of a context with weight 0."""
CHOICE = 20


def wound(since: float, weight: float, rng: random.Random) -> float:
    """Return the time of the next ring of a clock that is wound up at `since`; `NEVER` for weight 0."""
    return min(since + rng.expovariate(weight), NEVER) if weight > 0 else NEVER


def time(session: Session, task_id: str) -> float:
    """The moment that it is for a task's contexts: when the next clock rings. One index probe."""
    live = select(Context.clock).where(Context.task_id == task_id, Context.retired_at.is_(None))
    found = session.scalar(live.order_by(Context.clock).limit(1))
    return 0.0 if found is None or found >= NEVER else found


class Weighted:
    """One by its weight: a context of weight 2 comes twice as often as one of weight 1, one of weight 0 never."""

    label = _("By weight")
    help = _("A context of weight 2 comes twice as often as one of weight 1, and one of weight 0 never.")

    def pick(self, ask: Ask) -> Context | None:
        """One index probe. Visitors wind up no clock, so they get one of the next twenty."""
        key = ask.key(Context.clock)
        rows = 1 if ask.person_id else CHOICE
        found = ask.session.scalars(ask.live(key < NEVER).order_by(key).limit(rows)).all()
        return ask.rng.choice(found) if found else None
