"""Cohen's kappa."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from dynabench.evaluate.card import Card, Example, Output
from dynabench.evaluate.columns import Floats, Labels, Weights
from dynabench.evaluate.labels import Label
from dynabench.evaluate.module import Metric
from dynabench.evaluate.ratios import ratio
from dynabench.evaluate.states import Cells, Confusion
from dynabench.language import N_


class CohenKappa(Metric):
    """Agreement of two raters beyond chance."""

    card = Card(
        description=N_(
            "How far two raters (or a model and a person) agree beyond what they would by chance, given how often each "
            "of them uses each class: 1 is full agreement, 0 that of chance. With weights, classes that lie near each "
            "other on a scale count as half agreed."
        ),
        formula=r"\kappa = 1 - \frac{\sum_{ij} d_{ij} n_{ij}}{\sum_{ij} d_{ij} n_{i\cdot} n_{\cdot j} / n}, "
        r"\quad d_{ij} = [i \ne j],\ |i-j| \text{ or } (i-j)^2",
        inputs={
            "predictions": "class that one rater gives each example: whole numbers or texts",
            "references": "class that the other gives, of the same kind",
            "sample_weight": "weight of each example; all weigh the same by default",
        },
        options={
            "weights": "None: classes are equal or not; 'linear' or 'quadratic': distance on the scale of classes",
            "labels": "the classes in the order of the scale; sorted by default. Examples of others are left out",
        },
        outputs=(Output("cohen_kappa", "agreement beyond chance", -1, 1, "higher"),),
        examples=(
            Example(
                "Four of five agree",
                {
                    "predictions": ["neg", "pos", "neg", "neutral", "pos"],
                    "references": ["neg", "pos", "neg", "neutral", "neg"],
                },
                {"cohen_kappa": 0.6875},
            ),
            Example(
                "One step apart on a scale is nearly agreed",
                {"predictions": [1, 2, 3, 4], "references": [1, 2, 3, 3]},
                {"cohen_kappa": 7 / 8},
                {"weights": "quadratic"},
            ),
            Example(
                "Both use one class throughout",
                {"predictions": [1, 1], "references": [1, 1]},
                error="kappa is undefined",
            ),
            Example(
                "Texts have no order of their own",
                {"predictions": ["low", "high"], "references": ["low", "low"]},
                error="give labels=, in the order of the scale",
                options={"weights": "linear"},
            ),
        ),
        limits=(
            "Low where one class is very frequent, however much the raters agree: show the confusion matrix beside it. "
            "Undefined, and an error, where both use one and the same class throughout. Weighted kappa takes the "
            "distance between places on the scale of classes that occur, so name all of them in `labels`."
        ),
        citation=(
            "Cohen, A Coefficient of Agreement for Nominal Scales, Educational and Psychological Measurement 20 (1960) "
            "37-46; Cohen, Weighted kappa, Psychological Bulletin 70 (1968) 213-220."
        ),
        tasks=("text-classification", "annotation"),
    )
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
        kept = [code for code, label in enumerate(total.labels) if label in scale]
        if not kept:
            raise ValueError(f"none of labels={scale} occurs; there are {', '.join(map(repr, total.labels))}")
        cells = total.counts[..., kept, :][..., kept].astype(float)
        place = np.array([scale.index(total.labels[code]) for code in kept], float)
        steps = np.abs(place[:, None] - place)
        apart = (steps > 0).astype(float) if weights is None else steps if weights == "linear" else steps**2
        true, said, n = cells.sum(-1), cells.sum(-2), cells.sum((-1, -2))
        chance = ratio(((true @ apart) * said).sum(-1), n)
        return {"cohen_kappa": 1 - ratio((cells * apart).sum((-1, -2)), chance, np.nan)}

    def result(self, state: Cells, **options: Any) -> dict[str, Any]:
        """Raises ValueError where kappa is undefined."""
        found = super().result(state, **options)
        if found["cohen_kappa"] is None:
            raise ValueError("kappa is undefined: both raters use one and the same class throughout")
        return found
