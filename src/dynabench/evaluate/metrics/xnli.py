"""The metric of XNLI."""

from typing import Any

from dynabench.evaluate.card import Card, Example, Output
from dynabench.evaluate.classes import benchmarks
from dynabench.evaluate.columns import Floats, Labels
from dynabench.evaluate.module import Metric
from dynabench.evaluate.states import Sums
from dynabench.language import N_


class Xnli(Metric):
    """Accuracy, the metric of the cross-lingual inference corpus XNLI."""

    card = Card(
        description=N_("The metric of XNLI, natural language inference in 15 languages: the share of right labels."),
        formula=r"\frac{1}{n} \sum_i [\hat y_i = y_i]",
        inputs={
            "predictions": "predicted label of each pair: whole numbers or texts",
            "references": "right label of each pair, of the same kind",
        },
        outputs=(Output("accuracy", "share of right labels", 0, 1, "higher"),),
        examples=(
            Example("Half are right", {"predictions": [0, 1], "references": [0, 2]}, {"accuracy": 0.5}),
            Example(
                "Texts against numbers",
                {"predictions": ["neutral"], "references": [1]},
                error="give predictions and references of one kind",
            ),
        ),
        limits="One figure for one language: report each of the 15 and their mean, as the gap to English is the point.",
        citation="Conneau et al., XNLI: Evaluating Cross-lingual Sentence Representations, EMNLP 2018.",
        tasks=("natural-language-inference",),
        references=("https://aclanthology.org/D18-1269",),
    )
    columns = {"predictions": Labels(), "references": Labels()}

    def update(self, predictions: Any, references: Any) -> Sums:
        """Whether each row is right."""
        return benchmarks.hits(predictions, references)

    def formula(self, total: Floats) -> dict[str, Floats]:
        """The share of right rows."""
        return {"accuracy": benchmarks.accuracy(total)}
