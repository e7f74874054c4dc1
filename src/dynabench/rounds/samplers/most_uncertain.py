"""Contexts on which the targets were least sure of their answers."""

from dynabench.kit.language import _
from dynabench.rounds.samplers.asking import Ask
from dynabench.rounds.tables import Context

TOP = 20
FADES = 4
"""A new example counts for a fourth of its context's doubt, so that it follows the targets of the newest round."""


class MostUncertain:
    """One of the twenty on which targets were least sure lately. Contexts without examples stand in the middle."""

    label = _("Most uncertain")
    help = _("One of the twenty on which the targets were least sure lately; new contexts stand in the middle.")

    def pick(self, ask: Ask) -> Context | None:
        """One index range of twenty rows."""
        order = [ask.key(Context.doubt).desc(), ask.key(Context.draw).desc()]
        found = ask.session.scalars(ask.live().order_by(*order).limit(TOP)).all()
        return ask.rng.choice(found) if found else None
