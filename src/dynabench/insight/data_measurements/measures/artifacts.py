"""Annotation artifacts: baselines that see only a part of the input, and words that give the answer away."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any

import numpy as np

from dynabench.insight.data_measurements.results import Figure, MeasureResult, Table, describe_measure, make_columns
from dynabench.insight.data_measurements.sample import Floats, Ints, RoundSample, words
from dynabench.kit.language import Amount, _, ngettext
from dynabench.stats import clusters, p_values
from dynabench.stats.p_values import holm
from dynabench.stats.rates import FEW_ROWS, Rate, clustered_rate

SHUFFLES = 199
LEVEL = 0.05


@dataclass(frozen=True)
class View:
    """The input of a baseline: texts as lists of words; `partial` where models get more."""

    name: str
    label: str
    texts: Sequence[Sequence[str]]
    partial: bool


@dataclass(frozen=True)
class Baseline:
    """The result of a baseline; `gain` is its accuracy minus the share of the most frequent answer."""

    view: View
    accuracy: Rate
    gain: clusters.ClusteredEstimate
    p: float


@describe_measure(
    _("Annotation artifacts"),
    _(
        "A naive Bayes classifier over words and word pairs sees only part of the input: a hypothesis "
        "without its premise, a question without its passage. It is cross-validated, with other writers "
        "in the training set if there are at least ten. Its accuracy is compared with always giving the "
        "most frequent answer. p values come from 199 shuffles of the answers among each writer's "
        "examples, Holm-corrected over all baselines: at most one in twenty rounds without artifacts "
        "shows any."
    ),
)
def artifacts(sample: RoundSample) -> MeasureResult | None:
    """The baselines of all parts of the input."""
    labels = sample.answers
    has_label = labels >= 0
    counts = np.bincount(labels[has_label], minlength=len(sample.labels))
    if has_label.sum() < FEW_ROWS or (counts > 1).sum() < 2:
        return None
    rng, writers = sample.rng(), np.unique(sample.writers[has_label], return_inverse=True)[1]
    labelled_rows = [row for row, here in zip(sample.rows, has_label, strict=True) if here]
    results = [baseline(view, labels[has_label], writers, rng, SHUFFLES) for view in views(sample, labelled_rows)]
    corrected = holm([entry.p for entry in results]).tolist()
    majority = float(counts.max() / counts.sum())
    return _result(sample, results, corrected, majority)


def views(sample: RoundSample, rows: Sequence[object]) -> list[View]:
    """Each written field alone, the context alone, and all words together."""
    context = [words(getattr(row, "context", "")) for row in rows]
    parts = {name: [words(getattr(row, "texts", {}).get(name, "")) for row in rows] for name in sample.fields}
    several = len(parts) > 1 or (bool(sample.context) and any(context))
    all_views = [View(name, _named(label, several), parts[name], several) for name, label in sample.fields.items()]
    if not several:
        return all_views
    if sample.context and any(context):
        all_views.append(View("context", _("%(field)s only", field=sample.context), context, True))
    together = [list(chain.from_iterable(held)) for held in zip(context, *parts.values(), strict=True)]
    return [*all_views, View("bag_of_words", _("All words, without order"), together, False)]


def _named(label: str, several: bool) -> str:
    if several:
        return _("%(field)s only", field=label)
    return _("Words of the %(field)s", field=label.lower())


def baseline(view: View, labels: Ints, writers: Ints, rng: np.random.Generator, times: int) -> Baseline:
    """A classifier over the view's words, against shuffles of the labels; all of shape (n,)."""
    present, _ = bag_of_words(view.texts, 2, pairs=True)
    classes = int(labels.max()) + 1
    drawn = p_values.shuffle_within(labels, p_values.row_strata(writers), times, rng)
    all_of = np.concatenate([labels[None], drawn])
    right = cross_validated_predictions(present, all_of, assign_folds(writers, rng), classes) == all_of
    most = labels == np.bincount(labels).argmax()
    n = np.bincount(writers).astype(float)
    hits = np.bincount(writers, right[0], len(n))
    return Baseline(
        view,
        clustered_rate(hits, n),
        clusters.ratio(np.bincount(writers, right[0].astype(float) - most, len(n)), n),
        p_values.shuffle_p_value(float(right[0].mean()), right[1:].mean(1)),
    )


def gives_away(result: Baseline, p: float) -> bool:
    """Return whether a baseline beats both chance and the most frequent answer."""
    return p < LEVEL and (result.gain.value or 0) > 0


def _result(
    sample: RoundSample, results: Sequence[Baseline], corrected: Sequence[float], majority: float
) -> MeasureResult:
    table = _baseline_table(results, corrected, majority, sample.people)
    figures = [_gain_figure(entry) for entry in results]
    figures.append(Figure("majority", _("Most frequent answer"), majority, n=results[0].accuracy.n, kind="share"))
    note = (
        ""
        if any(entry.view.partial for entry in results)
        else _(
            "Models see exactly these words: that words predict the answer is not an artifact here, "
            "but it shows how far counting words goes."
        )
    )
    return MeasureResult(_finding(results, corrected, majority), tuple(figures), (table,), sample.people, note)


def _baseline_table(results: Sequence[Baseline], corrected: Sequence[float], majority: float, people: int) -> Table:
    rows = tuple(
        (
            entry.view.label,
            entry.accuracy.value,
            entry.accuracy.low,
            entry.accuracy.high,
            entry.gain.value,
            entry.gain.low,
            entry.gain.high,
            float(p),
            _("yes") if gives_away(entry, p) else _("no"),
            entry.accuracy.n,
        )
        for entry, p in zip(results, corrected, strict=True)
    )
    header = make_columns(
        ("sees", _("Sees"), "text"),
        ("accuracy", _("Accuracy"), "share"),
        ("low", _("from"), "share"),
        ("high", _("to"), "share"),
        ("gain", _("Above most frequent"), "share"),
        ("gain_low", _("from"), "share"),
        ("gain_high", _("to"), "share"),
        ("p", _("p (Holm)"), "p"),
        ("better", _("Better"), "text"),
        ("n", "n", "count"),
    )
    return Table("baselines", _("Accuracy of baselines"), header, rows, (people,) * len(rows), "intervals", majority)


def _gain_figure(entry: Baseline) -> Figure:
    return Figure(
        f"gain_{entry.view.name}",
        _("%(part)s: above most frequent", part=entry.view.label),
        entry.gain.value,
        entry.gain.low,
        entry.gain.high,
        entry.accuracy.n,
        "share",
    )


def _finding(results: Sequence[Baseline], corrected: Sequence[float], majority: float) -> str:
    better = [entry for entry, p in zip(results, corrected, strict=True) if gives_away(entry, p)]
    partial = [entry for entry in better if entry.view.partial]
    if partial or better:
        best = max(partial or better, key=lambda entry: entry.accuracy.value or 0)
        values = {"part": best.view.label, "most": Amount(majority, ".0%")}
        right = Amount(best.accuracy.value or 0, ".0%")
        if partial:
            return _(
                "A part of the input gives the answer away (%(part)s): %(right)s correct, against %(most)s for the "
                "most frequent answer",
                right=right,
                **values,
            )
        return _(
            "%(part)s predict part of the answer: %(right)s correct, against %(most)s for the most frequent answer",
            right=right,
            **values,
        )
    if any(entry.view.partial for entry in results):
        return _("No part of the input gives the answer away")
    return _("Counting words does not predict the answer")


LEAST = 5
ADDED = 100.0
MAX_WORDS = 30


@describe_measure(
    _("Words that give the answer away"),
    _(
        "Words by the annotators that occur with one answer more often than by chance, by pointwise "
        "mutual information (PMI, with 100 added to every count to damp rare words). The p value is that "
        "of the largest deviation among all words and answers when answers are shuffled among each "
        "writer's examples (Westfall and Young): at most one in twenty rounds without such words shows "
        "any. Words in fewer than five examples are left out."
    ),
)
def telling_words(sample: RoundSample) -> MeasureResult | None:
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
    return _words_result(sample, rows, people, len(held), len(vocabulary), len(labelled))


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


def _words_result(
    sample: RoundSample, rows: Sequence[tuple[Any, ...]], people: Sequence[int], words: int, total: int, n: int
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
        finding = ngettext(
            "%(num)s of %(of)s words predicts an answer", "%(num)s of %(of)s words predict an answer", words,
            of=Amount(total),
        )  # fmt: skip
    return MeasureResult(finding, figures, (table,) if rows else (), sample.people)


FOLDS = 5
GROUPS = 2 * FOLDS
"""From so many groups on, folds are made of whole groups."""
AT_ONCE = 40
"""Shuffles that are counted together."""


def assign_folds(groups: Ints, rng: np.random.Generator) -> Ints:
    """Return the fold of each row, shape (n,).

    Whole groups (writers) are dealt out by size where there are enough, else single rows.
    """
    sizes = np.bincount(groups)
    if len(sizes) < GROUPS:
        return rng.permutation(np.arange(len(groups)) % FOLDS)
    load, fold_of_group = np.zeros(FOLDS), np.zeros(len(sizes), np.int64)
    for group in np.lexsort((rng.random(len(sizes)), -sizes)):
        fold_of_group[group] = load.argmin()
        load[fold_of_group[group]] += sizes[group]
    return fold_of_group[groups]


def cross_validated_predictions(present: Any, labels: Ints, fold: Ints, classes: int) -> Ints:
    """Return naive Bayes' predictions for rows outside its training set, for each set of labels; shapes (times, n).

    `present` is a sparse array of 0 and 1, shape (n, words).
    """
    parts = [_predict_batch(present, labels[at : at + AT_ONCE], fold, classes) for at in range(0, len(labels), AT_ONCE)]
    return np.concatenate(parts)


def _predict_batch(present: Any, labels: Ints, fold: Ints, classes: int) -> Ints:
    times, n = labels.shape
    onehot = (labels[:, None, :] == np.arange(classes)[:, None]).reshape(times * classes, n).T.astype(float)
    words, rows = present.T @ onehot, onehot.sum(0)
    predictions = np.zeros((times, n), np.int64)
    for number in range(FOLDS):
        test_rows = fold == number
        if not test_rows.any():
            continue
        counts = words - present[test_rows].T @ onehot[test_rows] + 1
        prior = np.log(rows - onehot[test_rows].sum(0) + 1)
        scores = present[test_rows] @ np.log(counts / counts.sum(0)) + prior
        predictions[:, test_rows] = scores.reshape(-1, times, classes).argmax(2).T
    return predictions


def bag_of_words(texts: Sequence[Sequence[str]], least: int, pairs: bool = False) -> tuple[Any, list[str]]:
    """Return the presence of words in `texts` (lists of words) as a sparse array, shape (n, words), and the words.

    Words that fewer than `least` texts have are left out; with `pairs`, two words in a row count as one more word.
    """
    from scipy.sparse import csr_array

    sets = [sorted({*words, *(map(" ".join, pairwise(words)) if pairs else ())}) for words in texts]
    counts = Counter(word for present_words in sets for word in present_words)
    vocabulary = sorted(word for word, count in counts.items() if count >= least)
    number = {word: place for place, word in enumerate(vocabulary)}
    places = [[number[word] for word in present_words if word in number] for present_words in sets]
    starts = np.concatenate([[0], np.cumsum([len(row) for row in places])]).astype(np.int64)
    present_words = np.array([place for row in places for place in row], np.int64)
    return csr_array(
        (np.ones(len(present_words)), present_words, starts), shape=(len(texts), len(vocabulary))
    ), vocabulary
