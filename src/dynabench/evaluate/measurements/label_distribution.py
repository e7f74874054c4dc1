"""The share of each label."""

from typing import Any

import numpy as np

from dynabench.evaluate.card import Card, Example, Output
from dynabench.evaluate.columns import Floats, Labels
from dynabench.evaluate.labels import Ints
from dynabench.evaluate.module import Measurement
from dynabench.evaluate.plain import plain
from dynabench.evaluate.ratios import ratio
from dynabench.evaluate.states.tallies import Counted, Tally
from dynabench.language import N_


class LabelDistribution(Measurement):
    """How often each label occurs, and how lopsided that is."""

    card = Card(
        description=N_("The share of each label in a data set, and the skewness of the labels as numbers."),
        formula=r"f_k = \frac{n_k}{n}, \qquad g_1 = \frac{m_3}{m_2^{3/2}}, \quad "
        r"m_j = \frac{1}{n} \sum_i (y_i - \bar y)^j",
        inputs={"data": "label of each example: whole numbers or texts"},
        outputs=(
            Output("label_distribution", "labels in the order of their first example, and the fraction of each"),
            Output("label_skew", "skewness: 0 balanced, above 0 where small labels prevail, below where large ones do"),
        ),
        examples=(
            Example(
                "Two labels",
                {"data": [1, 0, 1, 1, 0, 1, 0]},
                {
                    "label_distribution": {"labels": [1, 0], "fractions": [4 / 7, 3 / 7]},
                    "label_skew": -0.2886751345948127,
                },
            ),
            Example(
                "Texts",
                {"data": ["yes", "no", "yes", "yes"]},
                {"label_distribution": {"labels": ["yes", "no"], "fractions": [0.75, 0.25]}},
            ),
            Example("One label only", {"data": [3, 3]}, {"label_skew": 0.0}),
            Example("Scores are no labels", {"data": [0.5, 1]}, error="row 0 is 0.5, which is no label"),
        ),
        limits=(
            "The skewness takes labels for numbers, and texts for the order of their first example, as Hugging Face "
            "evaluate does: for classes without an order it means little, and it changes with the order of rows. It "
            "is 0 where there is one label only. With an interval, `fractions` has one for each label."
        ),
        citation="Joanes and Gill, Comparing measures of sample skewness and kurtosis, The Statistician 47 (1998).",
        tasks=("text-classification", "image-classification"),
    )
    columns = {"data": Labels()}

    def update(self, data: Ints | list[str]) -> Tally:
        """The labels' codes."""
        return Tally.of(data)

    def formula(self, total: Counted) -> dict[str, Floats]:
        """Fractions, shape (..., K), and skewness, shape (...)."""
        counts, labels = total.counts, total.labels
        texts = any(isinstance(label, str) for label in labels)
        values = np.arange(len(labels), dtype=float) if texts else np.array(labels, float)
        fractions = counts / counts.sum(-1, keepdims=True)
        off = values - (fractions @ values)[..., None]
        second, third = ((fractions * off**power).sum(-1) for power in (2, 3))
        alone = (counts > 0).sum(-1) == 1
        return {"fractions": fractions, "label_skew": ratio(np.where(alone, 0, third), second**1.5)}

    def result(self, state: Any, **options: Any) -> dict[str, Any]:
        """The original's form."""
        found = plain(self.formula(state.total()))
        return {
            "label_distribution": {"labels": list(state.labels), "fractions": found["fractions"]},
            "label_skew": found["label_skew"],
        }
