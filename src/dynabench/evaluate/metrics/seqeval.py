"""Precision, recall and F1 of chunks in tagged sequences."""

from typing import Any

import numpy as np

from dynabench.evaluate.classes.chunks import SCHEMES, Chunks, detect_scheme, parse_tags, strict_chunks, tolerant_chunks
from dynabench.evaluate.classes.tag_counts import (
    TagTallies,
    TagTotals,
    by_label,
    check_same_lengths,
    intervals_by_label,
)
from dynabench.evaluate.columns import Floats, Tokens, Weights
from dynabench.evaluate.labels import Ints
from dynabench.evaluate.metrics.class_scores import f1, precision, recall
from dynabench.evaluate.module import Metric
from dynabench.evaluate.ratios import ratio, zero_division_value

KEYS = {"precision": "precision", "recall": "recall", "f1": "f1"}
HINT = "For tags that are no chunks, such as parts of speech, take poseval; for BILOU give mode='strict'."


class Seqeval(Metric):
    """Precision, recall and F1 of chunks, such as names, for each type and overall."""

    columns = {"predictions": Tokens(), "references": Tokens()}
    optional = {"sample_weight": Weights()}

    def update(
        self,
        predictions: list[list[str]],
        references: list[list[str]],
        sample_weight: Floats | None = None,
        *,
        suffix: bool = False,
        scheme: str | None = None,
        mode: str | None = None,
    ) -> TagTallies:
        """Counts of chunks of each type in each sequence. Raises ValueError for tags that the scheme does not know."""
        if mode not in (None, "strict"):
            raise ValueError(f"mode is None or 'strict', not {mode!r}")
        if scheme is not None and scheme not in SCHEMES:
            raise ValueError(f"no scheme {scheme!r}; there are {', '.join(SCHEMES)}")
        check_same_lengths(predictions, references)
        scheme_name = (scheme or detect_scheme(references, suffix)) if mode else ""
        allowed, hint = (
            (SCHEMES[scheme_name].prefixes, f"The scheme is {scheme_name}.") if scheme_name else ("OBIES", HINT)
        )
        kinds: dict[str, int] = {"": 0}
        true, predicted = (
            strict_chunks(tags, SCHEMES[scheme_name]) if scheme_name else tolerant_chunks(tags)
            for tags in (
                parse_tags(references, "references", allowed, suffix, hint, kinds),
                parse_tags(predictions, "predictions", allowed, suffix, hint, kinds),
            )
        )
        labels, counts = _count_chunks(true, predicted, list(kinds), len(references))
        tokens = np.array(
            [[sum(map(str.__eq__, *pair)), len(pair[0])] for pair in zip(predictions, references, strict=True)]
        )
        if sample_weight is None:
            return TagTallies(counts, tokens, labels, scheme_name)
        return TagTallies(counts * sample_weight[:, None, None], tokens * sample_weight[:, None], labels, scheme_name)

    def formula(self, total: TagTotals, *, zero_division: Any = "warn") -> dict[str, Any]:
        """Precision, recall and F1 of each type, (..., K), and of all together."""
        default, counts, pooled = zero_division_value(zero_division), total.counts, total.counts.pooled()
        return {
            "precision": precision(counts, default),
            "recall": recall(counts, default),
            "f1": f1(counts, default),
            "number": counts.true,
            "overall_precision": precision(pooled, default)[..., 0],
            "overall_recall": recall(pooled, default)[..., 0],
            "overall_f1": f1(pooled, default)[..., 0],
            "overall_accuracy": ratio(total.right, total.tokens),
        }

    def result(self, state: TagTallies, **options: Any) -> dict[str, Any]:
        """Each type with its scores, then the overall ones. Raises ValueError where there is no tag at all."""
        if not state.tokens[:, 1].any():
            raise ValueError("nothing to compute: no sequence has a tag")
        scores = super().result(state, **options)
        if state.counts.dtype.kind == "i":
            scores["number"] = [int(number) for number in scores["number"]]
        types = by_label(scores, state.labels, {**KEYS, "number": "number"})
        return {**types, **{key: value for key, value in scores.items() if key.startswith("overall_")}}

    def _intervals(self, state: Any, options: Any, *how: Any) -> dict[str, Any]:
        by_key = super()._intervals(state, options, *how)
        types = intervals_by_label(by_key, state.labels, KEYS)
        return {**types, **{key: value for key, value in by_key.items() if key.startswith("overall_")}}


def _count_chunks(true: Chunks, predicted: Chunks, kinds: list[str], rows: int) -> tuple[tuple[str, ...], Ints]:
    """The sorted types that occur, and counts of right, true and predicted chunks by row and type, (n, K, 3)."""
    labels = tuple(sorted(kinds[code] for code in np.unique(np.concatenate([true.kind, predicted.kind]))))
    place = np.array([labels.index(kind) if kind in labels else 0 for kind in kinds])
    begins = np.full(max(true.start.max(initial=0), predicted.start.max(initial=0)) + 1, -1)
    begins[true.start] = np.arange(len(true.start))
    match = begins[predicted.start]  # the true chunk that starts where the predicted one does, -1 for none
    right = (np.append(true.end, -1)[match] == predicted.end) & (np.append(true.kind, -1)[match] == predicted.kind)
    counts = np.zeros((rows, len(labels), 3), np.int64)
    columns = ((predicted.row[right], predicted.kind[right]), (true.row, true.kind), (predicted.row, predicted.kind))
    for column, (row, kind) in enumerate(columns):
        cells = np.bincount(row * len(labels) + place[kind], minlength=rows * len(labels))
        counts[:, :, column] = cells.reshape(rows, len(labels))
    return labels, counts
