"""Precision, recall and F1 of chunks in tagged sequences."""

from typing import Any

import numpy as np

from dynabench.evaluate.classes.chunks import SCHEMES, Chunks, detected, parsed, strict, tolerant
from dynabench.evaluate.classes.tag_counts import Tallies, Tally, by_label, intervals_by_label, same_lengths
from dynabench.evaluate.columns import Floats, Tokens, Weights
from dynabench.evaluate.labels import Ints
from dynabench.evaluate.metrics.class_scores import f1, precision, recall
from dynabench.evaluate.module import Metric
from dynabench.evaluate.ratios import ratio, undefined

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
    ) -> Tallies:
        """Counts of chunks of each type in each sequence. Raises ValueError for tags that the scheme does not know."""
        if mode not in (None, "strict"):
            raise ValueError(f"mode is None or 'strict', not {mode!r}")
        if scheme is not None and scheme not in SCHEMES:
            raise ValueError(f"no scheme {scheme!r}; there are {', '.join(SCHEMES)}")
        same_lengths(predictions, references)
        read = (scheme or detected(references, suffix)) if mode else ""
        allowed, hint = (SCHEMES[read].prefixes, f"The scheme is {read}.") if read else ("OBIES", HINT)
        kinds: dict[str, int] = {"": 0}
        true, said = (
            strict(tags, SCHEMES[read]) if read else tolerant(tags)
            for tags in (
                parsed(references, "references", allowed, suffix, hint, kinds),
                parsed(predictions, "predictions", allowed, suffix, hint, kinds),
            )
        )
        labels, counts = _tallied(true, said, list(kinds), len(references))
        tokens = np.array(
            [[sum(map(str.__eq__, *pair)), len(pair[0])] for pair in zip(predictions, references, strict=True)]
        )
        if sample_weight is None:
            return Tallies(counts, tokens, labels, read)
        return Tallies(counts * sample_weight[:, None, None], tokens * sample_weight[:, None], labels, read)

    def formula(self, total: Tally, *, zero_division: Any = "warn") -> dict[str, Any]:
        """Precision, recall and F1 of each type, (..., K), and of all together."""
        default, counts, pooled = undefined(zero_division), total.counts, total.counts.pooled()
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

    def result(self, state: Tallies, **options: Any) -> dict[str, Any]:
        """Each type with its scores, then the overall ones. Raises ValueError where there is no tag at all."""
        if not state.tokens[:, 1].any():
            raise ValueError("nothing to compute: no sequence has a tag")
        found = super().result(state, **options)
        if state.counts.dtype.kind == "i":
            found["number"] = [int(number) for number in found["number"]]
        types = by_label(found, state.labels, {**KEYS, "number": "number"})
        return {**types, **{key: value for key, value in found.items() if key.startswith("overall_")}}

    def _intervals(self, state: Any, options: Any, *how: Any) -> dict[str, Any]:
        found = super()._intervals(state, options, *how)
        types = intervals_by_label(found, state.labels, KEYS)
        return {**types, **{key: value for key, value in found.items() if key.startswith("overall_")}}


def _tallied(true: Chunks, said: Chunks, kinds: list[str], rows: int) -> tuple[tuple[str, ...], Ints]:
    """The types that occur, sorted, and of each row and type how many chunks are right, true and said, (n, K, 3)."""
    labels = tuple(sorted(kinds[code] for code in np.unique(np.concatenate([true.kind, said.kind]))))
    place = np.array([labels.index(kind) if kind in labels else 0 for kind in kinds])
    begins = np.full(max(true.start.max(initial=0), said.start.max(initial=0)) + 1, -1)
    begins[true.start] = np.arange(len(true.start))
    match = begins[said.start]  # the true chunk that starts where the predicted one does, -1 for none
    right = (np.append(true.end, -1)[match] == said.end) & (np.append(true.kind, -1)[match] == said.kind)
    counts = np.zeros((rows, len(labels), 3), np.int64)
    columns = ((said.row[right], said.kind[right]), (true.row, true.kind), (said.row, said.kind))
    for column, (row, kind) in enumerate(columns):
        cells = np.bincount(row * len(labels) + place[kind], minlength=rows * len(labels))
        counts[:, :, column] = cells.reshape(rows, len(labels))
    return labels, counts
