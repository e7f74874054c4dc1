"""Precision, recall and F1 of tags and chunks in tagged sequences: seqeval and poseval.

Source of the default rules: the script conlleval of the CoNLL-2000 shared task, whose tolerant reading begins a chunk
wherever a tag cannot continue the one before. The strict rules of each scheme accept a chunk only where its first,
inner and last tags are as the scheme says; they are those of the library seqeval.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynabench.evaluate.columns import Floats, Tokens, Weights
from dynabench.evaluate.labels import Ints, encode_labels, merge_labels, recode_labels
from dynabench.evaluate.metrics.classification import ClassCounts, f1, mean_over_classes, precision, recall
from dynabench.evaluate.module import Metric
from dynabench.evaluate.states import SummedState, Sums
from dynabench.evaluate.tag_chunks import (
    SCHEMES,
    Chunks,
    detect_scheme,
    parse_tags,
    strict_chunks,
    tolerant_chunks,
)
from dynabench.evaluate.values import ratio, zero_division_value


@dataclass(frozen=True)
class TagTotals:
    """Counts of each label, and numbers of right tokens and of all tokens, each of shape (...)."""

    counts: ClassCounts
    right: NDArray[Any]
    tokens: NDArray[Any]


@dataclass(frozen=True)
class TagTallies(SummedState):
    """Counts of hits, true and predicted chunks by example and label, shape (n, K, 3), and the K labels.

    `tokens`, shape (n, 2), counts right tokens and all tokens. `scheme` says how the labels were read.
    """

    counts: NDArray[Any]
    tokens: NDArray[Any]
    labels: tuple[str, ...]
    scheme: str = ""

    def __add__(self, other: "TagTallies") -> "TagTallies":
        if self.scheme != other.scheme:
            raise ValueError(
                f"one batch was read as {self.scheme} and another as {other.scheme}; say which it is with scheme="
            )
        labels = merge_labels(self.labels, other.labels)
        counts = np.concatenate([side._over(labels) for side in (self, other)])
        return TagTallies(counts, np.concatenate([self.tokens, other.tokens]), tuple(map(str, labels)), self.scheme)

    def _over(self, labels: tuple[Any, ...]) -> NDArray[Any]:
        wide = np.zeros((len(self.counts), len(labels), 3), self.counts.dtype)
        wide[:, recode_labels(self.labels, labels)] = self.counts
        return wide

    @cached_property
    def sums(self) -> Sums:
        """A row for each example: its counts, then its tokens."""
        return Sums(np.concatenate([self.counts.reshape(len(self.counts), -1), self.tokens], axis=1))

    def wrapped(self, total: Floats) -> TagTotals:
        """See `SummedState`."""
        size = len(self.labels)
        label_counts = total[..., : 3 * size].reshape(*total.shape[:-1], size, 3)
        counts = ClassCounts(label_counts[..., 0], label_counts[..., 1], label_counts[..., 2], self.labels)
        return TagTotals(counts, total[..., -3], total[..., -2])


def by_label(scores: Mapping[str, Any], labels: tuple[str, ...], names: Mapping[str, str]) -> dict[str, Any]:
    """Return {label: {key: value}} from {name: list with a value for each label}.

    `names` gives the name of each key.
    """
    return {label: {key: scores[name][place] for key, name in names.items()} for place, label in enumerate(labels)}


def intervals_by_label(
    intervals: Mapping[str, Any], labels: tuple[str, ...], names: Mapping[str, str]
) -> dict[str, Any]:
    """Return {label: {key: interval}} from intervals whose limits and errors are lists with a value for each label."""
    return {
        label: {
            key: {part: value[place] if isinstance(value, list) else value for part, value in intervals[name].items()}
            for key, name in names.items()
        }
        for place, label in enumerate(labels)
    }


def check_same_lengths(predictions: list[list[str]], references: list[list[str]]) -> None:
    """Raise ValueError where a row has not as many predicted tags as right ones."""
    for row, (predicted, true) in enumerate(zip(predictions, references, strict=True)):
        if len(predicted) != len(true):
            raise ValueError(
                f"predictions: row {row} has {len(predicted)} tags, its reference {len(true)}; give one for each token"
            )


SEQEVAL_KEYS = {"precision": "precision", "recall": "recall", "f1": "f1"}
HINT = "For tags that are no chunks, such as parts of speech, take poseval; for BILOU give mode='strict'."


class Seqeval(Metric, name="seqeval"):
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
        types = by_label(scores, state.labels, {**SEQEVAL_KEYS, "number": "number"})
        return {**types, **{key: value for key, value in scores.items() if key.startswith("overall_")}}

    def _intervals(self, state: Any, options: Any, *how: Any) -> dict[str, Any]:
        by_key = super()._intervals(state, options, *how)
        types = intervals_by_label(by_key, state.labels, SEQEVAL_KEYS)
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


POSEVAL_KEYS = {"precision": "precision", "recall": "recall", "f1-score": "f1-score"}
SCORES = {"precision": precision, "recall": recall, "f1-score": f1}


class Poseval(Metric, name="poseval"):
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
        means = [mean_over_classes(scores, counts.true + counts.predicted) for scores in by_tag.values()]
        return {
            **by_tag,
            "support": counts.true,
            "accuracy": ratio(total.right, total.tokens),
            "macro avg": np.stack(means, -1),
            "weighted avg": ratio((stacked * weights).sum(-2), weights.sum(-2)),
        }

    def result(self, state: TagTallies, **options: Any) -> dict[str, Any]:
        """Each tag with its scores, then accuracy and averages. Raises ValueError where there is no tag at all."""
        if not state.tokens[:, 1].any():
            raise ValueError("nothing to compute: no sequence has a tag")
        scores = super().result(state, **options)
        support = scores["support"] = [int(number) for number in scores["support"]]
        tags = by_label(scores, state.labels, {**POSEVAL_KEYS, "support": "support"})
        averages = {
            key: {**dict(zip(POSEVAL_KEYS, scores[key], strict=True)), "support": sum(support)}
            for key in ("macro avg", "weighted avg")
        }
        return {**tags, "accuracy": scores["accuracy"], **averages}

    def _intervals(self, state: Any, options: Any, *how: Any) -> dict[str, Any]:
        by_key = super()._intervals(state, options, *how)
        tags = intervals_by_label(by_key, state.labels, POSEVAL_KEYS)
        averages = {
            key: intervals_by_label({"": by_key[key]}, tuple(POSEVAL_KEYS), {"": ""})
            for key in ("macro avg", "weighted avg")
        }
        flat = {key: {name: value[""] for name, value in entry.items()} for key, entry in averages.items()}
        return {**tags, "accuracy": by_key["accuracy"], **flat}


def _counts(row: Any, code: Any, shape: tuple[int, int]) -> Any:
    return np.bincount(row * shape[1] + code, minlength=shape[0] * shape[1]).reshape(shape)
