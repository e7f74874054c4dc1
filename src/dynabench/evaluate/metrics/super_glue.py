"""The metrics of SuperGLUE."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from dynabench.evaluate.classes import benchmarks
from dynabench.evaluate.columns import Column, Labels, Records
from dynabench.evaluate.metrics.matthews_correlation import matthews
from dynabench.evaluate.module import Metric
from dynabench.evaluate.ratios import ratio
from dynabench.evaluate.states import Cells, Sums
from dynabench.evaluate.texts.reading import Questions, best_match, question_of, rows_of


class SuperGlue(Metric):
    """The metrics of the tasks of SuperGLUE."""

    columns = {"predictions": Labels(), "references": Labels()}
    configs = ("boolq", "cb", "copa", "multirc", "record", "rte", "wic", "wsc", "wsc.fixed", "axb", "axg")

    @property
    def features(self) -> dict[str, Column]:
        """Labels, or dictionaries for record and multirc."""
        if self.config_name == "record":
            return {"predictions": Records(("idx", "prediction_text")), "references": Records(("idx", "answers"))}
        if self.config_name == "multirc":
            return {"predictions": Records(("idx", "prediction")), "references": Labels()}
        return super().features

    def update(self, predictions: Any, references: Any) -> Sums | Cells | Questions:
        """Hits, cells of a confusion matrix, (exact match, F1) of each answer, or answers by question."""
        if self.config_name == "multirc":
            said = Labels().clean([row["prediction"] for row in predictions], "predictions")
            keys = [question_of(row["idx"], place) for place, row in enumerate(predictions)]
            return Questions.of(keys, references, said)
        if self.config_name == "record":
            pairs = rows_of(predictions, references)
            return Sums(np.array([best_match(text, answers) for text, answers in pairs], float).reshape(-1, 2))
        if self.config_name in ("cb", "axb"):
            return Cells.of(references, predictions)
        return benchmarks.hits(predictions, references)

    def formula(self, total: Any) -> Mapping[str, Any]:
        """The config's metrics."""
        if self.config_name == "multirc":
            exact, within, right, ones, n = np.moveaxis(total, -1, 0)
            return {"exact_match": ratio(exact, n), "f1_m": ratio(within, n), "f1_a": ratio(2 * right, ones)}
        if self.config_name == "record":
            return {"exact_match": ratio(total[..., 0], total[..., 2]), "f1": ratio(total[..., 1], total[..., 2])}
        if self.config_name == "axb":
            return {"matthews_correlation": matthews(total.hits.sum(-1), total.true, total.said)}
        if self.config_name == "cb":
            return {"accuracy": benchmarks.accuracy(total), "f1": benchmarks.macro_f1(total)}
        return {"accuracy": benchmarks.accuracy(total)}
