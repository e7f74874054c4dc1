"""Fleiss' kappa."""

from typing import Any

import numpy as np

from dynabench.evaluate.card import Card, Example, Output
from dynabench.evaluate.classes.ratings import Answer, Counted, Ratings, Tables
from dynabench.evaluate.columns import Floats
from dynabench.evaluate.module import Metric
from dynabench.evaluate.ratios import ratio
from dynabench.language import N_


class FleissKappa(Metric):
    """Agreement of several raters beyond chance."""

    card = Card(
        description=N_(
            "How far several raters agree beyond chance when each item gets the same number of ratings, not "
            "necessarily by the same people: 1 is full agreement, 0 that of ratings drawn at random with the classes' "
            "frequencies."
        ),
        formula=r"\kappa = \frac{\bar P - \bar P_e}{1 - \bar P_e},\quad P_i = \frac{\sum_j n_{ij}(n_{ij}-1)}{m(m-1)},"
        r"\quad \bar P_e = \sum_j p_j^2",
        inputs={"ratings": "classes that each item was given, one by each of its raters: numbers or texts"},
        outputs=(Output("fleiss_kappa", "agreement beyond chance", -1, 1, "higher"),),
        examples=(
            Example(
                "Three raters, one dissent",
                {"ratings": [["a", "a", "a"], ["b", "b", "b"], ["a", "a", "b"], ["b", "b", "b"]]},
                {"fleiss_kappa": 23 / 35},
            ),
            Example(
                "No item with two equal ratings",
                {"ratings": [[0, 1], [1, 0]]},
                {"fleiss_kappa": -1},
            ),
            Example(
                "An item with fewer ratings",
                {"ratings": [[0, 1, 1], [1, 0]]},
                error="row 1 has 2 ratings, row 0 has 3",
            ),
        ),
        limits=(
            "Needs as many ratings for each item (krippendorff_alpha does not). Low where one class is very frequent, "
            "however much the raters agree. Undefined, and an error, where all ratings are of one class. Takes classes "
            "as equal or not: for scales see krippendorff_alpha."
        ),
        citation="Fleiss, Measuring nominal scale agreement among many raters, Psychological Bulletin 76 (1971).",
        tasks=("annotation",),
    )
    columns = {"ratings": Ratings()}

    def update(self, ratings: list[list[Answer]]) -> Tables:
        """How often each class was given to each item."""
        sizes = [len(row) for row in ratings]
        for row, size in enumerate(sizes):
            if size != sizes[0]:
                raise ValueError(
                    f"ratings: row {row} has {size} ratings, row 0 has {sizes[0]}; kappa needs as many for each item, "
                    "krippendorff_alpha does not"
                )
        if sizes and sizes[0] < 2:
            raise ValueError("ratings: agreement needs two ratings or more of each item")
        return Tables.of(ratings)

    def formula(self, total: Counted) -> dict[str, Floats]:
        """Observed beyond expected agreement, shape (...); NaN where chance cannot disagree."""
        raters = total.counts.sum(1)
        pairs = ratio((total.counts * (total.counts - 1)).sum(1), raters * (raters - 1))
        observed = ratio(total.weights @ pairs, total.weights.sum(-1))
        shares = ratio(total.weights @ total.counts, (total.weights @ raters)[..., None])
        several = (shares > 0).sum(-1) > 1
        expected = np.where(several, (shares**2).sum(-1), 1)
        return {"fleiss_kappa": ratio(observed - expected, 1 - expected, np.nan)}

    def result(self, state: Tables, **options: Any) -> dict[str, Any]:
        """Raises ValueError where kappa is undefined."""
        if len(set(state.counts.sum(1).tolist())) > 1:
            raise ValueError("the batches have different numbers of ratings for an item; kappa needs as many for each")
        found = super().result(state, **options)
        if found["fleiss_kappa"] is None:
            raise ValueError("kappa is undefined: all ratings are of one class")
        return found
