"""Contexts that this person was not given yet."""

from sqlalchemy import column, select, table

from dynabench.kit.language import _
from dynabench.rounds.samplers.asking import Ask
from dynabench.rounds.tables import Context

HANDOUTS = table("handouts", column("person_id"), column("context_id"))  # their class belongs to a later feature


class Unseen:
    """One that this person was never given, in any round; else a least used one."""

    label = _("Unseen by this person")
    help = _("One that this person was never given; where they know all, a least used one.")

    def pick(self, ask: Ask) -> Context | None:
        """An index walk in random order, with a probe for each context passed over because it is known."""
        if not ask.person_id:
            return ask.around()
        mine = (HANDOUTS.c.person_id == ask.person_id) & (HANDOUTS.c.context_id == Context.id)
        return ask.around(~select(HANDOUTS.c.context_id).where(mine).exists()) or ask.least(Context.used)
