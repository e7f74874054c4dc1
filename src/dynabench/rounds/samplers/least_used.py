"""The contexts that the fewest examples were written on."""

from dynabench.kit.language import _
from dynabench.rounds.samplers.asking import Ask
from dynabench.rounds.tables import Context


class LeastUsed:
    """One with the fewest examples."""

    label = _("Least used")
    help = _("One with the fewest examples; ties at random.")

    def pick(self, ask: Ask) -> Context | None:
        """At most four index probes."""
        return ask.least(Context.used)
