"""The chart that shows a result best, chosen by the columns of the computation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np

from dynabench.evaluate.columns import Labels, Numbers
from dynabench.evaluate.labels import encode_labels
from dynabench.evaluate.module import Module
from dynabench.kit.language import Amount, _

CLASSES = 20  # beyond which a matrix cannot be read
SCORES = 8  # rows from which a histogram says something


@dataclass(frozen=True)
class ResultChart:
    """A chart: `title` states the finding; `spec` is Vega-Lite; `columns` and `rows` hold the same as a table."""

    title: str
    spec: dict[str, Any]
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


def chart_of_result(
    module: type[Module], columns: Mapping[str, Any], per_example: Mapping[str, Any]
) -> ResultChart | None:
    """Return a confusion matrix of classes, a reliability diagram of probabilities, or a histogram of scores by row.

    None where none of them fits, or the columns are not those that the module takes.
    """
    try:
        return _confusion(module, columns) or _reliability(module, columns) or _histogram(per_example)
    except (ValueError, TypeError, ImportError):
        return None


def _confusion(module: type[Module], columns: Mapping[str, Any]) -> ResultChart | None:
    kinds = module.columns
    if not all(isinstance(kinds.get(name), Labels) for name in ("predictions", "references")):
        return None
    clean = Labels()
    true, predicted = (clean.clean(columns[name], name) for name in ("references", "predictions"))
    labels, (rows, places) = encode_labels(true, predicted)
    size = len(labels)
    if not 2 <= size <= CLASSES:
        return None
    from dynabench.evaluate.visualization import confusion_heat_map

    counts = np.bincount(rows * size + places, minlength=size * size).reshape(size, size)
    names = [str(label) for label in labels]
    table = [[name, *(f"{count:,}" for count in row)] for name, row in zip(names, counts.tolist(), strict=True)]
    head = [_("Reference"), *(_("predicted as %(name)s", name=name) for name in names)]
    return ResultChart(_confusion_title(counts, names), confusion_heat_map(counts, names), head, table)


def _confusion_title(counts: Any, names: Sequence[str]) -> str:
    wrong = counts.copy()
    np.fill_diagonal(wrong, 0)
    if not wrong.any():
        return _("No row is taken for another class")
    row, place = divmod(int(wrong.argmax()), len(names))
    mistaken, total = int(wrong[row, place]), int(counts[row].sum())
    return _(
        "%(true)s is most often taken for another class: for %(said)s in %(taken)s of %(total)s rows",
        true=names[row], said=names[place], taken=Amount(mistaken), total=Amount(total),
    )  # fmt: skip


def _reliability(module: type[Module], columns: Mapping[str, Any]) -> ResultChart | None:
    kinds = module.columns
    name = next((column_name for column_name in ("predictions", "prediction_scores") if column_name in kinds), "")
    if not isinstance(kinds.get(name), Numbers) or not isinstance(kinds.get("references"), Labels):
        return None
    sure = Numbers().clean(columns[name], name)
    right = np.asarray(Labels().clean(columns["references"], "references"))
    if sure.min() < 0 or sure.max() > 1 or right.dtype.kind != "i" or not np.isin(right, (0, 1)).all():
        return None
    from dynabench.evaluate.visualization import reliability_diagram

    place = np.minimum(sure * 10, 9).astype(int)
    rows = [
        [
            _span(bin_number / 10, (bin_number + 1) / 10, ".1f"),
            Amount(right[place == bin_number].mean(), ".1%"),
            Amount(sum(place == bin_number)),
        ]
        for bin_number in np.unique(place)
    ]
    title = _(
        "On average it is %(sure)s sure of class 1; %(share)s of the rows are of it",
        sure=Amount(sure.mean(), ".0%"), share=Amount(right.mean(), ".0%"),
    )  # fmt: skip
    return ResultChart(title, reliability_diagram(sure, right), [_("Confidence"), _("Class 1"), _("Rows")], rows)


def _span(low: float, high: float, spec: str) -> str:
    return _("%(low)s to %(high)s", low=Amount(low, spec), high=Amount(high, spec))


def _histogram(per_example: Mapping[str, Any]) -> ResultChart | None:
    for name, scores in per_example.items():
        numbers = [score for score in scores if isinstance(score, int | float)] if isinstance(scores, list) else []
        if len(numbers) >= SCORES and len(numbers) == len(scores) and len(set(numbers)) > 2:
            from dynabench.evaluate.visualization import scores_histogram

            middle, low, high = median(numbers), min(numbers), max(numbers)
            title = _(
                "Half of the rows have %(name)s below %(middle)s; they reach from %(low)s to %(high)s",
                name=name, middle=f"{middle:.3g}", low=f"{low:.3g}", high=f"{high:.3g}",
            )  # fmt: skip
            table = [[str(row), f"{score:.4g}"] for row, score in enumerate(numbers[:200])]
            return ResultChart(title, scores_histogram(numbers, name), [_("Row"), name], table)
    return None
