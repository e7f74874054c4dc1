"""The metric of XNLI."""

from typing import Any

from dynabench.evaluate.classes import benchmarks
from dynabench.evaluate.columns import Floats, Labels
from dynabench.evaluate.module import Metric
from dynabench.evaluate.states import Sums


class Xnli(Metric):
    """Accuracy, the metric of the cross-lingual inference corpus XNLI."""

    columns = {"predictions": Labels(), "references": Labels()}

    def update(self, predictions: Any, references: Any) -> Sums:
        """Whether each row is right."""
        return benchmarks.hits(predictions, references)

    def formula(self, total: Floats) -> dict[str, Floats]:
        """The share of right rows."""
        return {"accuracy": benchmarks.accuracy(total)}
