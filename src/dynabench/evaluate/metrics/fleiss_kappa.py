"""Fleiss' kappa."""

from typing import Any

import numpy as np

from dynabench.evaluate.classes.ratings import Answer, RatingCounts, Ratings, RatingTables
from dynabench.evaluate.columns import Floats
from dynabench.evaluate.module import Metric
from dynabench.evaluate.ratios import ratio


class FleissKappa(Metric):
    """Agreement of several raters beyond chance."""

    columns = {"ratings": Ratings()}

    def update(self, ratings: list[list[Answer]]) -> RatingTables:
        """Return counts of each class for each item."""
        sizes = [len(row) for row in ratings]
        for row, size in enumerate(sizes):
            if size != sizes[0]:
                raise ValueError(
                    f"ratings: row {row} has {size} ratings, row 0 has {sizes[0]}; kappa needs as many for each item, "
                    "krippendorff_alpha does not"
                )
        if sizes and sizes[0] < 2:
            raise ValueError("ratings: agreement needs two ratings or more of each item")
        return RatingTables.of(ratings)

    def formula(self, total: RatingCounts) -> dict[str, Floats]:
        """Observed beyond expected agreement, shape (...); NaN where chance cannot disagree."""
        raters = total.counts.sum(1)
        pairs = ratio((total.counts * (total.counts - 1)).sum(1), raters * (raters - 1))
        observed = ratio(total.weights @ pairs, total.weights.sum(-1))
        shares = ratio(total.weights @ total.counts, (total.weights @ raters)[..., None])
        several = (shares > 0).sum(-1) > 1
        expected = np.where(several, (shares**2).sum(-1), 1)
        return {"fleiss_kappa": ratio(observed - expected, 1 - expected, np.nan)}

    def result(self, state: RatingTables, **options: Any) -> dict[str, Any]:
        """Return kappa. Raises ValueError where it is undefined."""
        if len(set(state.counts.sum(1).tolist())) > 1:
            raise ValueError("the batches have different numbers of ratings for an item; kappa needs as many for each")
        scores = super().result(state, **options)
        if scores["fleiss_kappa"] is None:
            raise ValueError("kappa is undefined: all ratings are of one class")
        return scores
