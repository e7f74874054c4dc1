"""Contexts whose examples did not hold."""

from sqlalchemy import ColumnClause, literal_column

from dynabench.kit.language import _
from dynabench.rounds.samplers.asking import Ask
from dynabench.rounds.tables import Context

ZERO: ColumnClause[int] = literal_column(
    "0"
)  # not a parameter: only with the very number the partial index is known to apply


class FailedValidation:
    """One whose fooling examples all failed validation, with none that waits for votes; else a least used one."""

    label = _("Failed validation")
    help = _("One whose fooling examples were all found wrong; where there is none, a least used one.")

    def pick(self, ask: Ask) -> Context | None:
        """Two index probes, and those of the least used where no context qualifies."""
        return ask.around(Context.failed > ZERO, Context.good == ZERO) or ask.least(Context.used)
