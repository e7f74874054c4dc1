"""Precision, recall and F1 of each tag, token by token."""

from typing import Any

import numpy as np

from dynabench.evaluate.classes.tag_counts import (
    TagTallies,
    TagTotals,
    by_label,
    check_same_lengths,
    intervals_by_label,
)
from dynabench.evaluate.columns import Tokens
from dynabench.evaluate.labels import encode_labels
from dynabench.evaluate.metrics.class_scores import f1, precision, recall
from dynabench.evaluate.module import Metric
from dynabench.evaluate.ratios import ratio, zero_division_value

KEYS = {"precision": "precision", "recall": "recall", "f1-score": "f1-score"}
SCORES = {"precision": precision, "recall": recall, "f1-score": f1}


class Poseval(Metric):
    """Precision, recall and F1 of each tag, with every token an observation of its own."""

    columns = {"predictions": Tokens(), "references": Tokens()}

    def update(self, predictions: list[list[str]], references: list[list[str]]) -> TagTallies:
        """Counts of each tag in each sequence."""
        check_same_lengths(predictions, references)
        flat = [[tag for tags in column for tag in tags] for column in (references, predictions)]
        labels, (true, predicted) = encode_labels(*flat)
        row = np.repeat(np.arange(len(references)), [len(tags) for tags in references])
        shape = (len(references), len(labels))
        right = true == predicted
        counts = [_counts(row[right], true[right], shape), _counts(row, true, shape), _counts(row, predicted, shape)]
        tokens = [counts[0].sum(1), counts[1].sum(1)]
        return TagTallies(np.stack(counts, 2), np.stack(tokens, 1), tuple(map(str, labels)))

    def formula(self, total: TagTotals, *, zero_division: Any = "warn") -> dict[str, Any]:
        """Scores of each tag, (..., K), and their averages, (..., 3)."""
        default, counts = zero_division_value(zero_division), total.counts
        by_tag = {key: score(counts, default) for key, score in SCORES.items()}
        stacked = np.stack(list(by_tag.values()), -1)
        weights = counts.true[..., None]
        return {
            **by_tag,
            "support": counts.true,
            "accuracy": ratio(total.right, total.tokens),
            "macro avg": stacked.mean(-2),
            "weighted avg": ratio((stacked * weights).sum(-2), weights.sum(-2)),
        }

    def result(self, state: TagTallies, **options: Any) -> dict[str, Any]:
        """Each tag with its scores, then accuracy and averages. Raises ValueError where there is no tag at all."""
        if not state.tokens[:, 1].any():
            raise ValueError("nothing to compute: no sequence has a tag")
        scores = super().result(state, **options)
        support = scores["support"] = [int(number) for number in scores["support"]]
        tags = by_label(scores, state.labels, {**KEYS, "support": "support"})
        averages = {
            key: {**dict(zip(KEYS, scores[key], strict=True)), "support": sum(support)}
            for key in ("macro avg", "weighted avg")
        }
        return {**tags, "accuracy": scores["accuracy"], **averages}

    def _intervals(self, state: Any, options: Any, *how: Any) -> dict[str, Any]:
        by_key = super()._intervals(state, options, *how)
        tags = intervals_by_label(by_key, state.labels, KEYS)
        averages = {
            key: intervals_by_label({"": by_key[key]}, tuple(KEYS), {"": ""}) for key in ("macro avg", "weighted avg")
        }
        flat = {key: {name: value[""] for name, value in entry.items()} for key, entry in averages.items()}
        return {**tags, "accuracy": by_key["accuracy"], **flat}


def _counts(row: Any, code: Any, shape: tuple[int, int]) -> Any:
    return np.bincount(row * shape[1] + code, minlength=shape[0] * shape[1]).reshape(shape)
