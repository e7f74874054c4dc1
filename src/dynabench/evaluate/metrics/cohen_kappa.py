"""Cohen's kappa."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from dynabench.evaluate.columns import Floats, Labels, Weights
from dynabench.evaluate.labels import Label
from dynabench.evaluate.module import Metric
from dynabench.evaluate.ratios import ratio
from dynabench.evaluate.states import Cells, Confusion


class CohenKappa(Metric):
    """Agreement of two raters beyond chance."""

    columns = {"predictions": Labels(), "references": Labels()}
    optional = {"sample_weight": Weights()}

    def update(self, predictions: Any, references: Any, sample_weight: Floats | None = None) -> Cells:
        """The cell of each row."""
        return Cells.of(references, predictions, sample_weight)

    def formula(
        self, total: Confusion, *, weights: str | None = None, labels: Sequence[Label] | None = None
    ) -> dict[str, Floats]:
        """1 - disagreement / disagreement by chance, shape (...); NaN where chance cannot disagree."""
        if weights not in (None, "linear", "quadratic"):
            raise ValueError(f"weights is None, 'linear' or 'quadratic', not {weights!r}")
        if weights and labels is None and any(isinstance(label, str) for label in total.labels):
            raise ValueError(f"weights={weights!r} over texts: give labels=, in the order of the scale")
        scale = list(total.labels if labels is None else labels)
        codes = [code for code, label in enumerate(total.labels) if label in scale]
        if not codes:
            raise ValueError(f"none of labels={scale} occurs; there are {', '.join(map(repr, total.labels))}")
        cells = total.counts[..., codes, :][..., codes].astype(float)
        place = np.array([scale.index(total.labels[code]) for code in codes], float)
        steps = np.abs(place[:, None] - place)
        distances = (steps > 0).astype(float) if weights is None else steps if weights == "linear" else steps**2
        true, predicted, n = cells.sum(-1), cells.sum(-2), cells.sum((-1, -2))
        chance = ratio(((true @ distances) * predicted).sum(-1), n)
        return {"cohen_kappa": 1 - ratio((cells * distances).sum((-1, -2)), chance, np.nan)}

    def result(self, state: Cells, **options: Any) -> dict[str, Any]:
        """Return kappa. Raises ValueError where it is undefined."""
        scores = super().result(state, **options)
        if scores["cohen_kappa"] is None:
            raise ValueError("kappa is undefined: both raters use one and the same class throughout")
        return scores
