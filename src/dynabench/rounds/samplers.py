"""Ways to draw the next context: index walks that take as long for ten contexts as for a million."""

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from sqlalchemy import ColumnClause, ColumnElement, Select, column, literal_column, select, table
from sqlalchemy.orm import InstrumentedAttribute, Session

from dynabench.kit import plugins
from dynabench.kit.language import _
from dynabench.rounds.tables import Context


@dataclass(frozen=True)
class Ask:
    """One context of a task is wanted, other than `but` (0: any).

    `draw` is a random key, 0 to `queries.KEYS`. `person_id` is 0 for visitors, for whom nothing is stored. `pool` names
    the few contexts that a round works on; None stands for all of the task. Where `languages` are given, contexts in
    others are passed over.
    """

    session: Session
    task_id: str
    rng: random.Random
    draw: int
    but: int = 0
    person_id: int = 0
    pool: Sequence[int] | None = None
    languages: Sequence[str] = ()

    def key(self, column: InstrumentedAttribute[Any]) -> ColumnElement[Any]:
        """A column to walk by. With a pool its index is kept out of use: the few are read by id, then sorted."""
        return column.expression if self.pool is None else column + 0

    def live(self, *conditions: ColumnElement[bool]) -> Select[Context]:
        """Contexts that may be handed out."""
        statement = select(Context).where(Context.task_id == self.task_id, Context.retired_at.is_(None), *conditions)
        if self.pool is not None:
            statement = statement.where(Context.id.in_(self.pool))
        if self.languages:
            statement = statement.where(in_languages(self.languages))
        return statement.where(Context.id != self.but) if self.but else statement

    def first(self, *conditions: ColumnElement[bool], order: Sequence[ColumnElement[Any]]) -> Context | None:
        """The first context in an order."""
        return self.session.scalar(self.live(*conditions).order_by(*order).limit(1))

    def around(self, *conditions: ColumnElement[bool]) -> Context | None:
        """The context with the random key nearest above `draw`, around the corner if none: two index probes.

        Keys are drawn anew at each handout, so that a wide gap below a key favours its context once, not for good.
        """
        key = self.key(Context.draw)
        context = self.first(*conditions, key >= self.draw, order=[key])
        return context or self.first(*conditions, key < self.draw, order=[key])

    def least(self, column: InstrumentedAttribute[int]) -> Context | None:
        """The context with the lowest `column`, ties broken at random: at most four index probes."""
        key, draw = self.key(column), self.key(Context.draw)
        lowest = self.live().with_only_columns(column).order_by(key).limit(1)
        level = self.session.execute(lowest).scalar()
        return None if level is None else self.around(key == level) or self.first(order=[key, draw])


def in_languages(languages: Sequence[str]) -> ColumnElement[bool]:
    """Return the where-clause of contexts in one of some languages, or without one."""
    clause: ColumnElement[bool] = Context.language.in_(["", *languages])
    return clause


class Sampler(Protocol):
    """A way to draw contexts: what pages call it and say about it, and the pick itself."""

    label: str
    help: str

    def pick(self, ask: Ask) -> Context | None:
        """A context that may be handed out; None where there is none."""
        ...


ZERO: ColumnClause[int] = literal_column(
    "0"
)  # not a parameter: only with the very number the partial index is known to apply


class FailedValidation:
    """One whose fooling examples all failed validation, with none that waits for votes; else a least used one."""

    label = _("Failed validation")
    help = _("A context whose fooling examples were all found wrong; if there is none, a least used one.")

    def pick(self, ask: Ask) -> Context | None:
        """Two index probes, and those of the least used where no context qualifies."""
        return ask.around(Context.failed > ZERO, Context.good == ZERO) or ask.least(Context.used)


class LeastFooled:
    """One with the fewest examples that fooled."""

    label = _("Least fooled")
    help = _("The context with the fewest fooling examples; ties at random.")

    def pick(self, ask: Ask) -> Context | None:
        """At most four index probes."""
        return ask.least(Context.fooled)


class LeastUsed:
    """One with the fewest examples."""

    label = _("Least used")
    help = _("The context with the fewest examples; ties at random.")

    def pick(self, ask: Ask) -> Context | None:
        """At most four index probes."""
        return ask.least(Context.used)


MOST_UNCERTAIN_ROWS = 20
FADES = 4
"""A new example counts for a fourth of its context's doubt, so that it follows the targets of the newest round."""


class MostUncertain:
    """One of the twenty on which targets were least sure lately. Contexts without examples stand in the middle."""

    label = _("Most uncertain")
    help = _(
        "One of the twenty contexts on which the targets were least certain recently; new contexts rank in the middle."
    )

    def pick(self, ask: Ask) -> Context | None:
        """One index range of twenty rows."""
        order = [ask.key(Context.doubt).desc(), ask.key(Context.draw).desc()]
        contexts = ask.session.scalars(ask.live().order_by(*order).limit(MOST_UNCERTAIN_ROWS)).all()
        return ask.rng.choice(contexts) if contexts else None


class Uniform:
    """Any context, each as likely as another."""

    label = _("At random")
    help = _("Any context with equal probability.")

    def pick(self, ask: Ask) -> Context | None:
        """At most two index probes."""
        return ask.around()


HANDOUTS = table("handouts", column("person_id"), column("context_id"))  # their class belongs to a later feature


class Unseen:
    """One that this person was never given, in any round; else a least used one."""

    label = _("Unseen by this person")
    help = _("A context that this person has not seen; if they have seen all, a least used one.")

    def pick(self, ask: Ask) -> Context | None:
        """An index walk in random order, with a probe for each context passed over because it is known."""
        if not ask.person_id:
            return ask.around()
        mine = (HANDOUTS.c.person_id == ask.person_id) & (HANDOUTS.c.context_id == Context.id)
        return ask.around(~select(HANDOUTS.c.context_id).where(mine).exists()) or ask.least(Context.used)


NEVER = 1e300
"""The clock of a context with weight 0."""
VISITOR_CHOICE = 20


def wind_clock(since: float, weight: float, rng: random.Random) -> float:
    """Return the time of the next ring of a clock that is wound up at `since`; `NEVER` for weight 0."""
    return min(since + rng.expovariate(weight), NEVER) if weight > 0 else NEVER


def clock_time(session: Session, task_id: str) -> float:
    """The moment that it is for a task's contexts: when the next clock rings. One index probe."""
    live = select(Context.clock).where(Context.task_id == task_id, Context.retired_at.is_(None))
    next_ring = session.scalar(live.order_by(Context.clock).limit(1))
    return 0.0 if next_ring is None or next_ring >= NEVER else next_ring


class Weighted:
    """One by its weight: a context of weight 2 comes twice as often as one of weight 1, one of weight 0 never."""

    label = _("By weight")
    help = _("A context of weight 2 is drawn twice as often as one of weight 1, and one of weight 0 never.")

    def pick(self, ask: Ask) -> Context | None:
        """One index probe. Visitors wind up no clock, so they get one of the next twenty."""
        key = ask.key(Context.clock)
        rows = 1 if ask.person_id else VISITOR_CHOICE
        contexts = ask.session.scalars(ask.live(key < NEVER).order_by(key).limit(rows)).all()
        return ask.rng.choice(contexts) if contexts else None


SHIPPED: dict[str, Sampler] = {
    "least_used": LeastUsed(),
    "uniform": Uniform(),
    "least_fooled": LeastFooled(),
    "failed_validation": FailedValidation(),
    "unseen": Unseen(),
    "weighted": Weighted(),
    "most_uncertain": MostUncertain(),
}


def _checked_samplers(contributed: Any) -> Iterable[tuple[str, Sampler]]:
    for name, sampler in dict(contributed).items():
        if not (callable(getattr(sampler, "pick", None)) and sampler.label and sampler.help):
            raise TypeError(f"the sampler {name!r} needs a label, a help and a method pick(ask)")
        yield name, sampler


def all_samplers() -> Mapping[str, Sampler]:
    """All samplers by the name that configs and round plans call them by, ours first, as pages list them."""
    return plugins.gather("dynabench_samplers", _checked_samplers)
