"""The metrics of GLUE."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from dynabench.evaluate.card import Card, Example, Output
from dynabench.evaluate.classes import benchmarks
from dynabench.evaluate.columns import Column, Labels, Numbers
from dynabench.evaluate.metrics.matthews_correlation import matthews
from dynabench.evaluate.module import Metric
from dynabench.evaluate.numbers.moments import correlation
from dynabench.evaluate.numbers.ranks import Correlated, rank_correlation
from dynabench.evaluate.states import Cells, Sums
from dynabench.language import N_

ACCURATE = ("sst2", "mnli", "mnli_mismatched", "mnli_matched", "qnli", "rte", "wnli", "hans")


class Glue(Metric):
    """The metrics of the nine tasks of GLUE, and of its diagnostics."""

    card = Card(
        description=N_(
            "The metrics of the GLUE benchmark, by config: accuracy; with F1 for mrpc and qqp; Matthews correlation "
            "for cola; Pearson's and Spearman's correlation for stsb. Without a config: accuracy, as for sst2."
        ),
        formula=r"\frac{1}{n} \sum_i [\hat y_i = y_i], \text{ or that of the config: see f1, matthews_correlation, "
        r"pearsonr, spearmanr}",
        inputs={
            "predictions": "predicted label of each example; for stsb the predicted similarity",
            "references": "right label of each example; for stsb the right similarity",
        },
        outputs=(
            Output("accuracy", "share of right labels (all configs but cola and stsb)", 0, 1, "higher"),
            Output("f1", "F1 of label 1 (mrpc, qqp)", 0, 1, "higher"),
            Output("matthews_correlation", "Matthews correlation (cola)", -1, 1, "higher"),
            Output("pearson", "Pearson's correlation (stsb)", -1, 1, "higher"),
            Output("spearmanr", "Spearman's correlation (stsb)", -1, 1, "higher"),
        ),
        examples=(
            Example("Sentiment", {"predictions": [0, 1], "references": [0, 1]}, {"accuracy": 1}, config="sst2"),
            Example(
                "Paraphrases",
                {"predictions": [0, 1, 1], "references": [0, 1, 0]},
                {"accuracy": 2 / 3, "f1": 2 / 3},
                config="mrpc",
            ),
            Example(
                "Similarity",
                {"predictions": [0.0, 1, 2, 3, 4, 6], "references": [0.0, 1, 2, 3, 4, 5]},
                {"pearson": 0.989743318610787, "spearmanr": 1},
                config="stsb",
            ),
            Example(
                "Acceptability, with one class predicted throughout",
                {"predictions": [1, 1, 1], "references": [0, 1, 1]},
                {"matthews_correlation": 0},
                config="cola",
            ),
            Example(
                "A constant has no correlation",
                {"predictions": [2.5, 2.5], "references": [1, 3]},
                error="one side is constant",
                config="stsb",
            ),
        ),
        limits=(
            "Test labels are private: figures are of the development sets unless the benchmark's server gave them. "
            "wnli and hans have adversarial splits, on which a majority vote beats many models."
        ),
        citation="Wang et al., GLUE: A Multi-Task Benchmark and Analysis Platform for Natural Language Understanding, "
        "ICLR 2019.",
        tasks=("text-classification", "natural-language-inference"),
        references=("https://gluebenchmark.com",),
    )
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
