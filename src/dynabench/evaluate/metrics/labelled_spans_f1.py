"""The F1 of labelled spans, and the labels that offsets of characters give.

The counts of a pairing are those of SemEval-2013 task 9.1 (Segura-Bedmar, Martínez and Herrero-Zazo, *SEM 2013,
section 4), which are those of MUC-5 (Chinchor and Sundheim 1993): strict, exact, partial and type.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from dynabench.evaluate.columns import Floats, RowColumn
from dynabench.evaluate.module import Metric
from dynabench.evaluate.states import Sums
from dynabench.evaluate.values import best_pairing, ratio, zero_division_value

PARTIAL_CREDIT = 0.5
"""What an overlap is worth beside the same place."""


class LabelledSpan(NamedTuple):
    """A stretch from `start` to `end` (exclusive) with a label.

    Offsets count the units of the text, such as characters.
    """

    start: int
    end: int
    label: str


class SpanLists(RowColumn):
    """For each example a list of spans, {start, end, label} or [start, end, label]; other keys are ignored.

    Becomes sorted spans without duplicates.
    """

    dtype = "list of {start, end, label}"
    text = "spans of each example: a list of {start, end, label}, empty where there are none"

    def _row(self, item: Any, where: str) -> list[LabelledSpan]:
        if isinstance(item, str | Mapping) or not isinstance(item, Sequence):
            raise ValueError(f"{where} is {item!r}; give a list of {{start, end, label}}")
        return sorted({_span(span_item, where) for span_item in item})


def _span(item: Any, where: str) -> LabelledSpan:
    parts: Any = [item.get(key) for key in LabelledSpan._fields] if isinstance(item, Mapping) else item
    if not isinstance(parts, Sequence) or isinstance(parts, str) or len(parts) != len(LabelledSpan._fields):
        raise ValueError(f"{where} has {item!r}; a span is {{start, end, label}}")
    start, end, label = parts
    if not all(isinstance(at, int | np.integer) and not isinstance(at, bool) for at in (start, end)):
        raise ValueError(f"{where} has {item!r}; start and end are whole numbers")
    if not isinstance(label, str):
        raise ValueError(f"{where} has {item!r}; the label is a text")
    if not 0 <= start < end:
        raise ValueError(f"{where} has {item!r}; a span ends after it starts, and starts at 0 or later")
    return LabelledSpan(int(start), int(end), label)


def count_span_hits(
    predicted: Sequence[LabelledSpan], right: Sequence[LabelledSpan]
) -> tuple[float, float, float, float]:
    """Return how many spans of two lists agree strictly, in place, partly, and in label.

    Strict: place and label; place: start and end; partly: an overlap is worth `PARTIAL_CREDIT`; label: labels of
    spans that overlap. Each span is paired with at most one other, for each number so that it is largest.
    """
    strict = len(set(predicted) & set(right))
    places = [Counter((span.start, span.end) for span in spans) for spans in (predicted, right)]
    exact = (places[0] & places[1]).total()
    if strict == exact == len(predicted) == len(right):
        return strict, exact, exact, exact
    weights = np.zeros((2, len(predicted), len(right)))
    for row, predicted_span in enumerate(predicted):
        for column, other in enumerate(right):
            if predicted_span.start < other.end and other.start < predicted_span.end:
                weights[0, row, column] = 1 if predicted_span[:2] == other[:2] else PARTIAL_CREDIT
                weights[1, row, column] = predicted_span.label == other.label
    return strict, exact, best_pairing(weights[0]), best_pairing(weights[1])


# Columns of the state: what `hits` counts, then predicted and right spans.
STRICT, EXACT, PARTIAL, TYPE, PREDICTED, RIGHT = range(6)


class LabelledSpansF1(Metric):
    """Precision, recall and F1 of spans with labels, by place and label, by place alone, and with credit for parts."""

    columns = {"predictions": SpanLists(), "references": SpanLists()}

    def update(self, predictions: list[list[LabelledSpan]], references: list[list[LabelledSpan]]) -> Sums:
        """The six counts of each example."""
        rows = [
            (*count_span_hits(predicted, right), len(predicted), len(right))
            for predicted, right in zip(predictions, references, strict=True)
        ]
        return Sums(np.array(rows, float).reshape(-1, 6))

    def formula(self, total: Floats, *, zero_division: Any = "warn") -> dict[str, Floats]:
        """Precision, recall and F1 of counts of shape (..., 7), the last of them that of examples."""
        default, predicted, right = zero_division_value(zero_division), total[..., PREDICTED], total[..., RIGHT]
        scores = {
            name: ratio(2 * total[..., kind], predicted + right, default)
            for name, kind in (("f1", STRICT), ("exact_f1", EXACT), ("partial_f1", PARTIAL), ("type_f1", TYPE))
        }
        return {
            "f1": scores.pop("f1"),
            "precision": ratio(total[..., STRICT], predicted, default),
            "recall": ratio(total[..., STRICT], right, default),
            **scores,
        }

    def result(self, state: Sums, **options: Any) -> dict[str, Any]:
        """The scores and the number of right spans."""
        return {**super().result(state, **options), "number": int(state.rows[:, RIGHT].sum())}
