"""Two data sets side by side: lengths, labels, words and vocabulary with tests, and what one has of the other."""

from collections import Counter
from collections.abc import Sequence
from math import log

import numpy as np

from dynabench.insight.data_measurements.measures.similarity import diverging
from dynabench.insight.data_measurements.results import Figure, MeasureResult, Table, make_columns
from dynabench.insight.data_measurements.sample import SampledExample
from dynabench.insight.data_reports.measured import MeasuredData, whole_text
from dynabench.insight.data_reports.measures.basics import mean_deviation
from dynabench.insight.data_reports.measures.copies import NEAR_ROWS, close_share, leakage_note, near_share
from dynabench.kit.language import Amount, _, joined
from dynabench.stats.p_values import holm

MOST = 1_000
"""Rows of each that random splits are made of."""
LISTED = 20
LEVEL = 0.05
LEAST_COUNT = 5
MOST_WORDS = 2_000


def differences(first: MeasuredData, second: MeasuredData) -> MeasureResult | None:
    """Lengths by Welch's and Kolmogorov's tests, labels by chi-squared, words by random splits."""
    if not first.profile.rows or not second.profile.rows:
        return None
    tests = [*_length_tests(first, second), *_label_tests(first, second), _word_test(first, second)]
    corrected = holm([test[4] for test in tests])
    rows = tuple((*test[:5], float(p)) for test, p in zip(tests, corrected, strict=True))
    header = make_columns(
        ("what", _("Compared"), "text"), ("first", _("First"), "text"), ("second", _("Second"), "text"),
        ("statistic", _("Difference"), "number"), ("p", "p", "p"), ("holm", _("p (Holm)"), "p"),
    )  # fmt: skip
    clear = [row[0] for row, p in zip(rows, corrected, strict=True) if p < LEVEL]
    finding = (
        _("They differ in: %(what)s", what=joined(", ", dict.fromkeys(clear)))
        if clear
        else _("No test tells the two apart")
    )
    figures = tuple(
        Figure(f"rows_{name}", label, float(data.profile.rows), kind="count")
        for name, label, data in (("first", _("Rows of the first"), first), ("second", _("Rows of the second"), second))
    )
    table = Table("tests", _("Tests of differences"), header, rows, (0,) * len(rows))
    labels = _shares_of_labels(first, second)
    return MeasureResult(finding, figures, (table, labels) if labels.rows else (table,))


def _shares_of_labels(first: MeasuredData, second: MeasuredData) -> Table:
    """The share of each label in both, the most frequent of both together first."""
    counts = first.profile.labels, second.profile.labels
    together = Counter(counts[0]) + Counter(counts[1])
    rows = tuple(
        (name, *(held[name] / held.total() if held else None for held in counts))
        for name, _count in together.most_common(LISTED)
    )
    header = make_columns(
        ("label", _("Label"), "text"), ("first", _("First"), "share"), ("second", _("Second"), "share")
    )
    return Table("label_shares", _("Share of each label"), header, rows, (0,) * len(rows))


Test = tuple[str, str, str, float, float]


def _length_tests(first: MeasuredData, second: MeasuredData) -> list[Test]:
    mine, theirs = (_all_lengths(data) for data in (first, second))
    welch = welch_test(mine, theirs)
    distance, p = ks_test(mine, theirs)
    cells = [_amount(mean_deviation(counts)[0], ",.1f") for counts in (mine, theirs)]
    medians = [_amount(_median(counts), ",.0f") for counts in (mine, theirs)]
    return [(_("Mean words (Welch)"), *cells, *welch), (_("Lengths (Kolmogorov–Smirnov)"), *medians, distance, p)]  # type: ignore[list-item]


def _amount(value: float, spec: str) -> str:
    return Amount(value, spec)


def _median(counts: Counter[int]) -> float:
    from dynabench.insight.data_reports.measures.basics import counted_quantile

    return counted_quantile(counts, 0.5)


def _all_lengths(data: MeasuredData) -> Counter[int]:
    """Words of single texts of all columns."""
    total: Counter[int] = Counter()
    for counts in data.profile.lengths.values():
        total.update(counts.words)
    return total


def welch_test(first: Counter[int], second: Counter[int]) -> tuple[float, float]:
    """Return the difference of two means of counted values and Welch's two-sided p."""
    from scipy.special import stdtr

    (mean, deviation), (other, other_deviation) = mean_deviation(first), mean_deviation(second)
    parts = [deviation**2 / first.total(), other_deviation**2 / second.total()]
    if min(first.total(), second.total()) < 2 or not sum(parts):
        return mean - other, 1.0
    sizes = (first.total(), second.total())
    freedom = sum(parts) ** 2 / sum(part**2 / (n - 1) for part, n in zip(parts, sizes, strict=True))
    return mean - other, float(2 * stdtr(freedom, -abs(mean - other) / sum(parts) ** 0.5))


def ks_test(first: Counter[int], second: Counter[int]) -> tuple[float, float]:
    """Return the largest difference of two distributions of counts and its asymptotic p, cautious with ties."""
    from scipy.special import kolmogorov

    values = sorted({*first, *second})
    n, m = first.total(), second.total()
    shares = [np.cumsum([counts[value] for value in values]) / counts.total() for counts in (first, second)]
    distance = float(np.abs(shares[0] - shares[1]).max())
    return distance, float(kolmogorov(distance * np.sqrt(n * m / (n + m))))


def _label_tests(first: MeasuredData, second: MeasuredData) -> list[Test]:
    counts = first.profile.labels, second.profile.labels
    if min(map(len, counts)) < 1 or len({*counts[0], *counts[1]}) < 2:
        return []
    distance, p = label_test(*counts)
    cells = [f"{held.most_common(1)[0][0]}" for held in counts]
    return [(_("Mix of labels (chi-squared)"), cells[0], cells[1], distance, p)]


def label_test(first: Counter[str], second: Counter[str]) -> tuple[float, float]:
    """Return half the sum of differences of shares, and the p of the chi-squared test that the shares are the same."""
    from scipy.special import chdtrc

    names = sorted({*first, *second})
    table = np.array([[counts[name] for name in names] for counts in (first, second)], float)
    shares = table / table.sum(1, keepdims=True)
    expected = table.sum(1, keepdims=True) * table.sum(0, keepdims=True) / table.sum()
    statistic = float(((table - expected) ** 2 / expected).sum())
    return float(np.abs(shares[0] - shares[1]).sum() / 2), float(chdtrc(len(names) - 1, statistic))


def _word_test(first: MeasuredData, second: MeasuredData) -> Test:
    mine, theirs = _some_rows(first), _some_rows(second)
    size = min(len(mine), len(theirs))
    seen, chance, p = diverging(mine[:size], theirs[:size], first.rng())
    label = _("Words (divergence in bits, random splits)")
    return label, _("by chance: %(value)s", value=Amount(chance, ".3f")), "", seen, p


def _some_rows(data: MeasuredData) -> list[SampledExample]:
    rows = data.sample.rows
    return [rows[place] for place in data.rng().permutation(len(rows))[:MOST]]


def shared_words(first: MeasuredData, second: MeasuredData) -> MeasureResult | None:
    """The share of either vocabulary that the other has, and the words that are typical of one."""
    mine, theirs = first.profile.words, second.profile.words
    if not mine.total or not theirs.total:
        return None
    common = mine.counts.keys() & theirs.counts.keys()
    every = len(mine.counts) + len(theirs.counts) - len(common)
    covered = [sum(held.counts[word] for word in common) / held.counts.total() for held in (mine, theirs)]
    figures = (
        Figure("jaccard", _("Different words that both have"), len(common) / every, n=every, kind="share"),
        Figure("first_known", _("Words of the first that the second knows"), covered[0], n=mine.total, kind="share"),
        Figure("second_known", _("Words of the second that the first knows"), covered[1], n=theirs.total, kind="share"),
    )
    rows = typical_words(mine.counts, theirs.counts)
    header = make_columns(
        ("word", _("Word"), "text"), ("more_in", _("More frequent in"), "text"),
        ("first", _("First, per million"), "count"),
        ("second", _("Second, per million"), "count"), ("g2", _("Log-likelihood ratio"), "number"),
        ("p", _("p (Holm)"), "p"),
    )  # fmt: skip
    table = Table("typical", _("Words typical of one"), header, tuple(rows), (0,) * len(rows))
    finding = _("%(share)s of the different words are in both", share=Amount(len(common) / every, ".0%"))
    return MeasureResult(finding, figures, (table,) if rows else ())


def typical_words(first: Counter[str], second: Counter[str]) -> list[tuple[str, str, float, float, float, float]]:
    """Return the words whose frequencies differ most, by the log-likelihood ratio of Dunning (1993), with Holm's p."""
    from scipy.special import chdtrc

    totals = first.total(), second.total()
    together = Counter({word: first[word] + second[word] for word in {*first, *second}})
    words = [word for word, count in together.most_common(MOST_WORDS) if count >= LEAST_COUNT]
    if not words:
        return []
    values = np.array([log_likelihood_ratio(first[word], second[word], *totals) for word in words])
    corrected = holm(chdtrc(1, values))
    lines = []
    for at in np.argsort(-values, kind="stable")[: 2 * LISTED]:
        rates = [1e6 * counts[words[at]] / total for counts, total in zip((first, second), totals, strict=True)]
        name = _("first") if rates[0] > rates[1] else _("second")
        lines.append((words[at], name, rates[0], rates[1], float(values[at]), float(corrected[at])))
    return [line for line in lines if line[5] < LEVEL]


def log_likelihood_ratio(first: int, second: int, first_total: int, second_total: int) -> float:
    """Return G squared of a word's counts in two texts of so many words."""
    pairs = [(first, first_total), (second, second_total)]
    share = (first + second) / (first_total + second_total)
    value = 0.0
    for count, total in pairs:
        for seen, expected in ((count, total * share), (total - count, total * (1 - share))):
            value += seen * log(seen / expected) if seen else 0.0
    return max(2 * value, 0.0)


def shared_rows(first: MeasuredData, second: MeasuredData) -> MeasureResult | None:
    """The share of each one's rows that the other has: exactly, nearly, and in meaning."""
    held = [data.profile.hashes.arrays()[0] for data in (first, second)]
    if not all(map(len, held)):
        return None
    samples = [[row for _place, row in data.drawn][:NEAR_ROWS] for data in (first, second)]
    rows = []
    for mine, other, name in ((0, 1, _("first")), (1, 0, _("second"))):
        copies = int(np.isin(held[mine], np.unique(held[other])).sum())
        vectors = first.vectors, second.vectors
        close = close_share(vectors[mine], vectors[other])
        near = near_share(samples[mine], samples[other])
        rows.append((name, copies / len(held[mine]), copies, near, close, len(held[mine])))
    header = make_columns(
        ("rows", _("Rows of the"), "text"), ("share", _("Exact copies in the other"), "share"),
        ("copies", _("Rows"), "count"), ("near", _("Near copies"), "share"), ("close", _("Same meaning"), "share"),
        ("n", "n", "count"),
    )  # fmt: skip
    figures = (
        Figure("first_in_second", _("Rows of the first in the second"), rows[0][1], n=rows[0][5], kind="share"),
        Figure("second_in_first", _("Rows of the second in the first"), rows[1][1], n=rows[1][5], kind="share"),
    )
    tables = [Table("shared", _("Rows that both have"), header, tuple(rows), (0, 0))]
    examples = _examples(first, second)
    if examples:
        header = make_columns(("text", _("Text"), "text"))
        tables.append(Table("examples", _("Some rows that both have"), header, tuple(examples), (0,) * len(examples)))
    finding = (
        _("%(share)s of the first is also in the second", share=Amount(rows[0][1], ".1%"))
        if rows[0][2]
        else _("No row is in both")
    )
    return MeasureResult(finding, figures, tuple(tables), note=leakage_note())


def _examples(first: MeasuredData, second: MeasuredData) -> Sequence[tuple[str]]:
    from dynabench.insight.data_reports.measured import excerpt
    from dynabench.insight.data_reports.profile import text_hash

    others = second.profile.hashes.arrays()[0]
    rows = [row for _place, row in first.drawn if whole_text(row)]
    shared = np.isin(np.array([text_hash(row) for row in rows], np.uint64), others)
    texts = dict.fromkeys(excerpt(whole_text(rows[at])) for at in np.flatnonzero(shared))
    return [(text,) for text in list(texts)[:LISTED]]
