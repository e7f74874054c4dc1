"""Words that give the answer away."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from dynabench.insight.data_measurements.naive_bayes import bag_of_words
from dynabench.insight.data_measurements.results import Figure, MeasureResult, Table, make_columns
from dynabench.insight.data_measurements.sample import Floats, Ints, Sample, words
from dynabench.kit.language import Amount, _
from dynabench.stats import p_values

TITLE = _("Words that give the answer away")
ABOUT = _(
    "Words by the annotators that occur with one answer more often than by chance, by pointwise "
    "mutual information (PMI, with 100 added to every count to damp rare words). The p value is that "
    "of the largest deviation among all words and answers when answers are shuffled among each "
    "writer's examples (Westfall and Young): at most one in twenty rounds without such words shows "
    "any. Words in fewer than five examples are left out."
)
SHUFFLES = 199
LEVEL = 0.05
LEAST = 5
ADDED = 100.0
MAX_WORDS = 30


def measure(sample: Sample) -> MeasureResult | None:
    """Words whose p value, corrected for all words and answers, is below 0.05."""
    labels = sample.answers
    labelled = np.flatnonzero(labels >= 0)
    if len(labelled) < 4 * LEAST or len(np.unique(labels[labelled])) < 2:
        return None
    texts = [[word for text in sample.rows[at].texts.values() for word in words(text)] for at in labelled]
    present, vocabulary = bag_of_words(texts, LEAST)
    if not vocabulary:
        return None
    labels, writers = labels[labelled], sample.writers[labelled]
    counts, p = tested(present, labels, len(sample.labels), p_values.row_strata(writers), sample.rng())
    information = pmi(counts)
    held = [(int(word), int(label)) for word, label in np.argwhere(p < LEVEL)]
    held.sort(key=lambda pair: -information[pair])
    rows, people = [], []
    for word, label in held[:MAX_WORDS]:
        has = np.asarray(present[:, [word]].todense()).ravel() > 0
        rows.append((vocabulary[word], sample.labels[label], float(information[word, label]), int(counts[word, label]),
                     int(has.sum()), float(p[word, label])))  # fmt: skip
        people.append(len(np.unique(writers[has])))
    return _result(sample, rows, people, len(held), len(vocabulary), len(labelled))


def tested(present: Any, labels: Ints, classes: int, within: Ints, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Count each word with each label, and return the p values of more than chance would give, corrected for
    all of them; both of shape (words, labels)."""
    held, onehot = present.T, marks(labels, classes)
    by_stratum = (held @ marks(within, int(within.max()) + 1)).T
    mean, variance = p_values.expected_counts(by_stratum, onehot, within)
    spread = np.sqrt(np.where(variance > 1e-9, variance, np.inf))
    counts = held @ onehot
    seen = (counts - mean) / spread
    drawn = p_values.shuffle_within(labels, within, SHUFFLES, rng)
    largest = np.empty(SHUFFLES)
    for at, draw in enumerate(drawn):
        largest[at] = ((held @ marks(draw, classes) - mean) / spread).max()
    above = SHUFFLES - np.searchsorted(np.sort(largest), seen - 1e-9)
    return counts, (1 + above) / (1 + SHUFFLES)


def marks(labels: Ints, classes: int) -> Floats:
    """1 where a row has a label, shape (n, classes)."""
    indicators: Floats = (labels[:, None] == np.arange(classes)).astype(float)
    return indicators


def pmi(counts: Floats) -> Floats:
    """log p(word, label) / (p(word) p(label)) in bits, with `ADDED` to each count; shape (words, labels)."""
    smooth = counts + ADDED
    total = smooth.sum()
    scores: Floats = np.log2(smooth * total / (smooth.sum(1, keepdims=True) * smooth.sum(0, keepdims=True)))
    return scores


def _result(
    sample: Sample, rows: Sequence[tuple[Any, ...]], people: Sequence[int], words: int, total: int, n: int
) -> MeasureResult:
    header = make_columns(
        ("word", _("Word"), "text"), ("answer", _("Predicts"), "text"), ("pmi", _("PMI, bits"), "number"),
        ("with", _("Examples with both"), "count"), ("examples", _("Examples with the word"), "count"), ("p", "p", "p"),
    )  # fmt: skip
    table = Table("words", _("Words that predict an answer"), header, tuple(rows), tuple(people))
    figures = (
        Figure("telling", _("Words that predict an answer"), float(words), n=total, kind="count"),
        Figure("tested", _("Words tested"), float(total), n=n, kind="count"),
    )
    finding = _("No word predicts an answer")
    if words:
        finding = _("%(words)s of %(of)s words predict an answer", words=words, of=Amount(total))
    return MeasureResult(finding, figures, (table,) if rows else (), sample.people)
