"""F1 of labelled spans, such as the names in a text."""

from typing import Any

import numpy as np

from dynabench.evaluate.classes.labelled_spans import LabelledSpan, SpanLists, count_span_hits
from dynabench.evaluate.columns import Floats
from dynabench.evaluate.module import Metric
from dynabench.evaluate.ratios import ratio, zero_division_value
from dynabench.evaluate.states import Sums

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
