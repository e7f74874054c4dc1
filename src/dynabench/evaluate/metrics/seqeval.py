"""Precision, recall and F1 of chunks in tagged sequences."""

from typing import Any

import numpy as np

from dynabench.evaluate.card import Card, Example, Output
from dynabench.evaluate.classes.chunks import SCHEMES, Chunks, detected, parsed, strict, tolerant
from dynabench.evaluate.classes.tag_counts import Tallies, Tally, by_label, intervals_by_label, same_lengths
from dynabench.evaluate.columns import Floats, Tokens, Weights
from dynabench.evaluate.labels import Ints
from dynabench.evaluate.metrics.f1 import f1
from dynabench.evaluate.metrics.precision import precision
from dynabench.evaluate.metrics.recall import recall
from dynabench.evaluate.module import Metric
from dynabench.evaluate.ratios import ratio, undefined
from dynabench.language import N_

KEYS = {"precision": "precision", "recall": "recall", "f1": "f1"}
HINT = "For tags that are no chunks, such as parts of speech, take poseval; for BILOU give mode='strict'."


class Seqeval(Metric):
    """Precision, recall and F1 of chunks, such as names, for each type and overall."""

    card = Card(
        description=N_(
            "Compares chunks (names, phrases) rather than tags: a predicted chunk is right if its first word, its "
            "last word and its type are. By default tags are read tolerantly, as the script conlleval does; with "
            "mode='strict' only chunks that are tagged as the scheme says count."
        ),
        formula=r"P = \frac{|\hat C \cap C|}{|\hat C|},\; R = \frac{|\hat C \cap C|}{|C|},\; F_1 = \frac{2PR}{P+R}",
        inputs={
            "predictions": "predicted tags of each sequence, such as B-PER, I-PER, O",
            "references": "right tags of each sequence, as many",
            "sample_weight": "weight of each sequence; all weigh the same by default",
        },
        options={
            "suffix": "True where the prefix follows the type, as in PER-B",
            "scheme": "IOB1, IOB2, IOE1, IOE2, IOBES or BILOU, used with mode='strict'; found from the references "
            "by default",
            "mode": "'strict' takes only chunks that are tagged as the scheme says; None reads tolerantly",
            "zero_division": "value where nothing is predicted, or nothing is there to find: 0 (also 'warn') or 1",
        },
        outputs=(
            Output("overall_precision", "share of predicted chunks that are right", 0, 1, "higher"),
            Output("overall_recall", "share of chunks that were found", 0, 1, "higher"),
            Output("overall_f1", "F1 over all types", 0, 1, "higher"),
            Output("overall_accuracy", "share of right tags", 0, 1, "higher"),
            Output("<type>", "of each type: precision, recall, f1 and number (of right chunks)"),
        ),
        examples=(
            Example(
                "One name too long, one right",
                {
                    "predictions": [["O", "B-MISC", "I-MISC", "I-MISC", "O"], ["B-PER", "I-PER", "O"]],
                    "references": [["O", "O", "B-MISC", "I-MISC", "O"], ["B-PER", "I-PER", "O"]],
                },
                {
                    "MISC": {"precision": 0, "recall": 0, "f1": 0, "number": 1},
                    "PER": {"precision": 1, "recall": 1, "f1": 1, "number": 1},
                    "overall_precision": 0.5,
                    "overall_recall": 0.5,
                    "overall_f1": 0.5,
                    "overall_accuracy": 0.75,
                },
            ),
            Example(
                "Strictly read, a chunk cannot begin with I",
                {"predictions": [["I-PER", "I-PER", "O"]], "references": [["B-PER", "I-PER", "O"]]},
                {"overall_recall": 0, "overall_accuracy": 2 / 3},
                {"mode": "strict", "scheme": "IOB2"},
            ),
            Example(
                "Parts of speech are no chunks",
                {"predictions": [["NOUN", "VERB"]], "references": [["NOUN", "NOUN"]]},
                error="take poseval",
            ),
        ),
        limits=(
            "No credit for a chunk that is nearly right. Tolerant and strict reading can differ by several points on "
            "ill-formed predictions, so say which it was. The strict rules are those of the library seqeval, which "
            "does not accept all chunks of IOE1. With no chunk at all every overall figure is `zero_division`. "
            "Unlike in the original, `sample_weight` weighs, and BILOU read tolerantly is refused, not misread."
        ),
        citation=(
            "Ramshaw and Marcus, Text Chunking using Transformation-Based Learning, Third Workshop on Very Large "
            "Corpora, 1995; Tjong Kim Sang and Buchholz, Introduction to the CoNLL-2000 Shared Task: Chunking, 2000."
        ),
        tasks=("token-classification",),
        references=("https://aclanthology.org/W95-0107", "https://aclanthology.org/W00-0726"),
    )
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
