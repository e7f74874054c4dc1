"""Any context."""

from dynabench.kit.language import _
from dynabench.rounds.samplers.asking import Ask
from dynabench.rounds.tables import Context


class Uniform:
    """Any context, each as likely as another."""

    label = _("At random")
    help = _("Any context, each as likely as another.")

    def pick(self, ask: Ask) -> Context | None:
        """At most two index probes."""
        return ask.around()
