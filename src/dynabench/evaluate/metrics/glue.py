"""The metrics of GLUE."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from dynabench.evaluate.classes import benchmarks
from dynabench.evaluate.columns import Column, Labels, Numbers
from dynabench.evaluate.metrics.matthews_correlation import matthews
from dynabench.evaluate.module import Metric
from dynabench.evaluate.numbers.moments import correlation
from dynabench.evaluate.numbers.ranks import Correlated, rank_correlation
from dynabench.evaluate.states import Cells, Sums

ACCURATE = ("sst2", "mnli", "mnli_mismatched", "mnli_matched", "qnli", "rte", "wnli", "hans")


class Glue(Metric):
    """The metrics of the nine tasks of GLUE, and of its diagnostics."""

    columns = {"predictions": Labels(), "references": Labels()}
    configs = (*ACCURATE, "cola", "stsb", "mrpc", "qqp")

    @property
    def features(self) -> dict[str, Column]:
        """Labels, or numbers for stsb."""
        return dict.fromkeys(self.columns, Numbers()) if self.config_name == "stsb" else super().features

    def update(self, predictions: Any, references: Any) -> Sums | Cells | Correlated:
        """Hits; cells of a confusion matrix; or the numbers themselves."""
        if self.config_name == "stsb":
            return Correlated(np.stack([predictions, references], 1))
        if self.config_name in ("cola", "mrpc", "qqp"):
            return Cells.of(references, predictions)
        return benchmarks.hits(predictions, references)

    def formula(self, total: Any) -> Mapping[str, Any]:
        """The config's metrics."""
        if self.config_name == "stsb":
            return {"pearson": correlation(total[..., 3:]), "spearmanr": rank_correlation(total[..., :3])}
        if self.config_name == "cola":
            return {"matthews_correlation": matthews(total.hits.sum(-1), total.true, total.said)}
        if self.config_name in ("mrpc", "qqp"):
            return {"accuracy": benchmarks.accuracy(total), "f1": benchmarks.binary_f1(total, self.config_name)}
        return {"accuracy": benchmarks.accuracy(total)}

    def result(self, state: Any, **options: Any) -> dict[str, Any]:
        """Raises ValueError where a correlation is undefined."""
        found = super().result(state, **options)
        if None in found.values():
            raise ValueError("a correlation needs two examples that differ: one side is constant")
        return found
