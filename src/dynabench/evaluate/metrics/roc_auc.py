"""The area under the ROC curve."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynabench.evaluate.columns import Floats, LabelsOrSets, Numbers, Weights
from dynabench.evaluate.label_states import WeightedRows, WeightedSample
from dynabench.evaluate.labels import Label, encode_labels
from dynabench.evaluate.module import Metric
from dynabench.evaluate.states import Sums
from dynabench.evaluate.values import ratio


def roc_area(scores: Floats, positive: NDArray[np.bool_], weights: NDArray[Any], max_fpr: float = 1) -> Floats:
    """Return the area for scores (U,), classes (U,) and weights (..., U), shape (...).

    NaN where a class has no weight.

    For a `max_fpr` below 1 the partial area, standardised so that chance gives 0.5: McClish (1989), equation 5.
    Equal scores are one step of the curve, with a straight line: half a point for each tie.
    """
    if not len(scores):
        return np.full(weights.shape[:-1], np.nan)
    order = np.argsort(-scores)
    ranked = scores[order]
    steps = np.flatnonzero(np.append(True, ranked[1:] != ranked[:-1]))
    is_positive = positive[order]
    sorted_weights = weights[..., order]
    hits = np.add.reduceat(sorted_weights * is_positive, steps, axis=-1)
    alarms = np.add.reduceat(sorted_weights * ~is_positive, steps, axis=-1)
    hit_sums = np.cumsum(hits, axis=-1)
    all_hits, all_alarms = hit_sums[..., -1], alarms.sum(-1)
    defined = (all_hits > 0) & (all_alarms > 0)
    if max_fpr < 1:
        alarms, hit_sums, hits = _until(max_fpr, alarms, hit_sums, hits)
    below = (alarms * (hit_sums - hits / 2)).sum(-1)
    share: Floats = np.divide(below, all_hits * all_alarms, out=np.full(below.shape, np.nan), where=defined)
    if max_fpr == 1:
        return share
    least = max_fpr**2 / 2
    standard: Floats = 0.5 * (1 + (share - least) / (max_fpr - least))
    return standard


def _until(max_fpr: float, alarms: Any, hit_sums: Any, hits: Any) -> tuple[Any, Any, Any]:
    """The steps of the curve, of which that over `max_fpr` ends there, and those beyond have no width."""
    after = np.cumsum(alarms, axis=-1)
    limit = max_fpr * after[..., -1:]
    alarms_kept = np.clip(limit - (after - alarms), 0, alarms)
    part = np.divide(alarms_kept, alarms, out=np.zeros(alarms_kept.shape), where=alarms > 0)
    part_hits = np.where(alarms > 0, hits * part, hits)
    return alarms_kept, hit_sums - hits + part_hits, part_hits


AVERAGES = ("macro", "micro", "weighted", "samples", None)


class RocAuc(Metric):
    """Probability that scores rank an example of a class above an example of another class."""

    columns = {"references": LabelsOrSets(), "prediction_scores": Numbers(wide=True, infinite=True)}
    optional = {"sample_weight": Weights()}
    configs = ("default", "multiclass", "multilabel")
    arrays = True
    takes_probabilities = True

    def of_probabilities(self, rows: Floats, references: Sequence[Label], labels: Sequence[Label]) -> dict[str, Any]:
        """Columns and options from a probability of each label in each row, (n, K), with the labels sorted."""
        if len(labels) == 2:
            return {"prediction_scores": rows[:, 1], "references": references}
        return {"prediction_scores": rows, "references": references, "labels": list(labels)}

    def update(
        self,
        references: Any,
        prediction_scores: Floats,
        sample_weight: Floats | None = None,
        *,
        average: str | None = "macro",
    ) -> WeightedRows | Sums:
        """Codes (or rows) of the references beside the scores; for average="samples" the area of each row."""
        if sample_weight is not None and (sample_weight < 0).any():
            raise ValueError(f"sample_weight: row {int((sample_weight < 0).argmax())} is negative")
        if isinstance(references, np.ndarray) and references.ndim == 2:
            if references.shape != prediction_scores.shape:
                raise ValueError(
                    f"references and prediction_scores need one shape (examples, classes), not {references.shape} and "
                    f"{prediction_scores.shape}"
                )
            if average == "samples":
                return _by_row(references, prediction_scores, sample_weight)
            return WeightedRows(np.column_stack([references, prediction_scores]), sample_weight)
        labels, (codes,) = encode_labels(references)
        return WeightedRows(np.column_stack([codes, prediction_scores]), sample_weight, labels)

    def formula(
        self,
        total: WeightedSample | Floats,
        *,
        average: str | None = "macro",
        max_fpr: float | None = None,
        multi_class: str = "raise",
        labels: Sequence[Label] | None = None,
    ) -> dict[str, Any]:
        """Return the area, or those of all classes; NaN for a class without examples, or with no others."""
        if average not in AVERAGES:
            raise ValueError(f"no average {average!r}; there are macro, micro, weighted, samples and None")
        if max_fpr is not None and not 0 < max_fpr <= 1:
            raise ValueError(f"max_fpr lies above 0 and at most at 1, not at {max_fpr}")
        if isinstance(total, np.ndarray):
            return {"roc_auc": ratio(total[..., 0], total[..., 1])}
        if average == "samples":
            raise ValueError("average='samples' needs rows of 0 and 1, with a place for each class")
        limit, width = max_fpr or 1, total.rows.shape[1]
        if total.labels is None:
            right, scores = total.rows[:, : width // 2] == 1, total.rows[:, width // 2 :]
            return {"roc_auc": _one_against_rest(right, scores, total.weights, average, limit)}
        if width == 2:
            return {"roc_auc": roc_area(total.rows[:, 1], _positive(total), total.weights, limit)}
        codes, scores = _codes(total, labels, multi_class, max_fpr), total.rows[:, 1:]
        if multi_class == "ovo":
            return {"roc_auc": _pairwise(codes, scores, total.weights, average)}
        right = codes[:, None] == np.arange(scores.shape[1])
        return {"roc_auc": _one_against_rest(right, scores, total.weights, average, limit)}

    def result(self, state: Any, **options: Any) -> dict[str, Any]:
        """Return the area. Raises ValueError where it is undefined."""
        areas = super().result(state, **options)
        if areas["roc_auc"] is None:
            raise ValueError("ROC AUC is undefined: a class has no examples, or no example against it")
        return areas


def _one_against_rest(right: Any, scores: Floats, weights: Any, average: str | None, max_fpr: float) -> Any:
    """Areas of each class against the rest, (..., K), or their average; `right` and `scores` have shape (U, K)."""
    if average == "micro":
        spread = np.repeat(weights, right.shape[1], axis=-1)
        return roc_area(scores.ravel(), right.ravel(), spread, max_fpr)
    areas = np.stack([roc_area(scores[:, k], right[:, k], weights, max_fpr) for k in range(right.shape[1])], -1)
    if average is None:
        return areas
    if average == "macro":
        return areas.mean(-1)
    share = weights @ right.astype(float)
    return ratio((areas * share).sum(-1), share.sum(-1), np.nan)


def _pairwise(codes: Any, scores: Floats, weights: Any, average: str | None) -> Any:
    """Hand and Till's mean over pairs of classes, equation 7; "weighted" weighs pairs by their frequency."""
    if average not in ("macro", "weighted"):
        raise ValueError(f"multi_class='ovo' takes the averages macro and weighted, not {average!r}")
    pair_areas, shares = [], []
    for first, second in combinations(range(scores.shape[1]), 2):
        of_pair = (codes == first) | (codes == second)
        pair_weights = weights[..., of_pair]
        ways = [
            roc_area(scores[of_pair, class_code], codes[of_pair] == class_code, pair_weights, 1)
            for class_code in (first, second)
        ]
        pair_areas.append((ways[0] + ways[1]) / 2)
        shares.append(pair_weights.sum(-1))
    areas, share = np.stack(pair_areas, -1), np.stack(shares, -1)
    return areas.mean(-1) if average == "macro" else ratio((areas * share).sum(-1), share.sum(-1), np.nan)


def _codes(total: WeightedSample, labels: Sequence[Label] | None, multi_class: str, max_fpr: float | None) -> Any:
    """The column of each example's right class. Raises ValueError where classes, columns and options do not fit."""
    assert total.labels is not None
    if multi_class not in ("ovr", "ovo"):
        raise ValueError("more than two classes need multi_class='ovr' (each against the rest) or 'ovo' (each pair)")
    if max_fpr not in (None, 1):
        raise ValueError("max_fpr is for two classes, or several at once; leave it out")
    sums = total.rows[:, 1:].sum(1)
    if not np.allclose(sums, 1):
        row = int(np.argmin(np.isclose(sums, 1)))
        raise ValueError(
            f"prediction_scores: row {list(total.rows[row, 1:])} sums to {sums[row]:.6g}; give probabilities"
        )
    classes = total.labels if labels is None else tuple(labels)
    if len(classes) != total.rows.shape[1] - 1:
        raise ValueError(
            f"there are {len(classes)} classes but {total.rows.shape[1] - 1} scores for each example; "
            "give labels=, the sorted class of each column"
        )
    if labels is not None and list(labels) != sorted(set(labels)):
        raise ValueError("labels are to be sorted and different, as the columns of prediction_scores")
    strange = [label for label in total.labels if label not in classes]
    if strange:
        raise ValueError(f"references hold the class {strange[0]!r}, which is none of labels={list(classes)}")
    table = np.array([classes.index(label) for label in total.labels])
    return table[total.rows[:, 0].astype(np.int64)]


def _positive(total: WeightedSample) -> Any:
    """True for examples of the greater of two classes."""
    labels = total.labels or ()
    if len(labels) == 1:
        raise ValueError(f"ROC AUC is undefined: class {labels[0]!r} has no example against it")
    if len(labels) > 2:
        raise ValueError(
            f"references hold {len(labels)} classes, so each example needs a row of scores with one for each class"
        )
    return total.rows[:, 0] == 1


def _by_row(references: Any, scores: Floats, weights: Floats | None) -> Sums:
    """The area within each row of classes, and the row's weight."""
    bad = references.min(1) == references.max(1)
    if bad.any():
        raise ValueError(
            f"references: row {int(bad.argmax())} is all 0 or all 1, which has no area; drop it for average='samples'"
        )
    ones = np.ones(references.shape[1])
    areas = np.array([roc_area(score, row == 1, ones, 1) for score, row in zip(scores, references, strict=True)])
    weight = np.ones(len(areas)) if weights is None else weights
    return Sums(np.stack([areas * weight, weight], 1))
