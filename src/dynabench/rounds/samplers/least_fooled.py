"""The contexts on which models were fooled least often."""

from dynabench.kit.language import _
from dynabench.rounds.samplers.asking import Ask
from dynabench.rounds.tables import Context


class LeastFooled:
    """One with the fewest examples that fooled."""

    label = _("Least fooled")
    help = _("One with the fewest examples that fooled; ties at random.")

    def pick(self, ask: Ask) -> Context | None:
        """At most four index probes."""
        return ask.least(Context.fooled)
