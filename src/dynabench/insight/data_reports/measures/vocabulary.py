"""Words: how many and which, whether they follow Zipf's law, and which go with one identity term more than another."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from dynabench.insight.data_measurements.results import Figure, MeasureResult, Table, make_columns
from dynabench.insight.data_reports.measured import MeasuredData
from dynabench.kit.language import Amount, _
from dynabench.stats.associations import TermPair, compare_terms
from dynabench.stats.power_law import CountHistogram, fit_p_value, fit_power_law

TOP = 100
REPLICATES = 100
LEVEL = 0.05
LEAST_ROWS = 10
"""Rows that an identity term must be in, as in the Data Measurements Tool."""
LEAST_TOGETHER = 5
"""Rows that a word must share with the two terms together; it shares at least one with each."""
MOST_WORDS = 500
"""Words that are compared for a pair of terms: those that share most rows with it."""
LISTED = 25
"""Words of a table at either end."""


@lru_cache(maxsize=1)
def function_words() -> frozenset[str]:
    """Return the words of English without content, which the list of frequent words leaves out."""
    from importlib.resources import files

    text = files("dynabench.insight.data_reports").joinpath("function_words.txt").read_text(encoding="utf-8")
    return frozenset(text.split())


def vocabulary(data: MeasuredData) -> MeasureResult | None:
    """The number of words and of different words, and the most frequent ones with content."""
    words = data.profile.words
    if not words.total:
        return None
    common = function_words()
    content = [(word, count) for word, count in words.counts.most_common(TOP * 5) if word not in common]
    rows = [(word, count, count / words.total, data.profile.documents.counts[word]) for word, count in content[:TOP]]
    header = make_columns(
        ("word", _("Word"), "text"), ("count", _("Occurrences"), "count"), ("share", _("Share"), "share"),
        ("rows", _("Rows"), "count"),
    )  # fmt: skip
    figures = [
        Figure("different", _("Different words"), float(words.different), n=words.total, kind="count"),
        Figure("words", _("Words"), float(words.total), n=data.profile.rows, kind="count"),
    ]
    note = ""
    if words.undercount:
        note = _("Counts are exact for frequent words and at most %(n)s too low; the number of different words is "
                 "estimated.", n=Amount(words.undercount))  # fmt: skip
    else:
        once = sum(count == 1 for count in words.counts.values()) / len(words.counts)
        figures.append(Figure("once", _("Used only once"), once, n=len(words.counts), kind="share"))
    finding = _("%(kinds)s different words in %(words)s", kinds=Amount(words.different), words=Amount(words.total))
    table = Table("words", _("Most frequent words with content"), header, tuple(rows), (0,) * len(rows))
    return MeasureResult(finding, tuple(figures), (table,) if rows else (), note=note)


def zipf(data: MeasuredData) -> MeasureResult | None:
    """The power law of word counts, whether it fits, and counts by rank beside those of the law."""
    words = data.profile.words
    values = np.fromiter(words.counts.values(), np.int64, len(words.counts))
    counts = CountHistogram.of(values[values > words.undercount])
    law = fit_power_law(counts)
    if law is None:
        return None
    p = fit_p_value(counts, law, REPLICATES, data.rng())
    ordered = np.sort(values)[::-1]
    ranks = np.unique(np.geomspace(1, len(ordered), 40).astype(np.int64))
    expected = ordered[law.words - 1] * (law.words / ranks) ** law.exponent
    rows = [(int(rank), int(ordered[rank - 1]), float(fit)) for rank, fit in zip(ranks, expected, strict=True)]
    header = make_columns(
        ("rank", _("Rank"), "count"), ("count", _("Occurrences"), "count"), ("law", _("By Zipf’s law"), "count")
    )
    figures = (
        Figure("alpha", _("Exponent alpha of counts"), law.alpha, n=law.words),
        Figure("rank_exponent", _("Exponent over ranks"), law.exponent, n=law.words),
        Figure("least", _("Fits from this count on"), float(law.least), kind="count"),
        Figure("fitted", _("Words from there on"), float(law.words), n=len(values), kind="count"),
        Figure("distance", _("Distance from the law (KS)"), law.distance),
        Figure("p", _("p of the fit"), p, n=REPLICATES, kind="p"),
    )
    finding = (
        _("Word counts do not follow Zipf’s law exactly")
        if p < 0.1
        else _("Word counts follow Zipf’s law from a count of %(least)s on", least=Amount(law.least))
    )
    table = Table("ranks", _("Occurrences by rank"), header, tuple(rows), (0,) * len(rows))
    return MeasureResult(finding, figures, (table,))


def associations(data: MeasuredData) -> MeasureResult | None:
    """For each pair of terms, the words whose nPMI with both differs most."""
    tables: list[Table] = []
    figures, telling = [], 0
    for first, second in data.pairs:
        profile = data.profile
        if min(profile.term_rows[first], profile.term_rows[second]) < LEAST_ROWS:
            continue
        words, pair = count_pair(data, first, second)
        if not words:
            continue
        gaps = compare_terms(pair, data.rng())
        order = np.argsort(-gaps.gap, kind="stable")
        ends = order if len(order) <= 2 * LISTED else np.concatenate([order[:LISTED], order[-LISTED:]])
        significant = int((gaps.p < LEVEL).sum())
        telling += significant
        rows = tuple(
            (words[at], float(gaps.first[at]), float(gaps.second[at]), float(gaps.gap[at]), float(gaps.low[at]),
             float(gaps.high[at]), float(gaps.p[at]), int(pair.with_first[at]), int(pair.with_second[at]))
            for at in ends
        )  # fmt: skip
        header = make_columns(
            ("word", _("Word"), "text"), ("first", _("nPMI with “%(term)s”", term=first), "number"),
            ("second", _("nPMI with “%(term)s”", term=second), "number"), ("gap", _("Difference"), "number"),
            ("low", _("from"), "number"), ("high", _("to"), "number"), ("p", _("p (Holm)"), "p"),
            ("rows_first", _("Rows with “%(term)s”", term=first), "count"),
            ("rows_second", _("Rows with “%(term)s”", term=second), "count"),
        )  # fmt: skip
        title = _("“%(first)s” and “%(second)s”", first=first, second=second)
        tables.append(Table(f"pair_{len(tables) + 1}", title, header, rows, (0,) * len(rows)))
        label = _("“%(first)s” and “%(second)s”: words that differ", first=first, second=second)
        figures.append(Figure(f"differing_{len(tables)}", label, float(significant), n=len(words), kind="count"))
    tables.append(_terms(data))
    finding = (
        _("%(n)s words go with one identity term more than with the other", n=Amount(telling))
        if telling
        else _("No word clearly goes with one identity term more than with the other")
        if figures
        else _("Too few rows mention both terms of a pair")
    )
    return MeasureResult(finding, tuple(figures), tuple(tables)) if tables[-1].rows else None


def count_pair(data: MeasuredData, first: str, second: str) -> tuple[list[str], TermPair]:
    """Return the words that are compared for two terms, the most shared first, and the counts of their rows."""
    profile = data.profile
    ordered = (min(first, second), max(first, second))
    beside_first, beside_second = profile.companions[first].counts, profile.companions[second].counts
    both = profile.pair_companions[ordered].counts if ordered in profile.pair_companions else {}
    shared = {
        word
        for word in beside_first.keys() & beside_second.keys()
        if beside_first[word] + beside_second[word] >= LEAST_TOGETHER
    }
    words = sorted(shared - {first, second}, key=lambda word: (-beside_first[word] - beside_second[word], word))[
        :MOST_WORDS
    ]

    def column(counts: object) -> np.ndarray:
        return np.array([counts.get(word, 0) for word in words], float)  # type: ignore[attr-defined]

    with_first, with_second = column(beside_first), column(beside_second)
    together = np.minimum(column(both), np.minimum(with_first, with_second))
    rows_of_words = np.maximum(column(profile.documents.counts), with_first + with_second - together)
    counts = (profile.rows, profile.term_rows[first], profile.term_rows[second], profile.pair_rows[ordered])
    return words, TermPair(*counts, rows_of_words, with_first, with_second, together)


def _terms(data: MeasuredData) -> Table:
    counted: Sequence[tuple[str, int]] = data.profile.term_rows.most_common()
    rows = tuple((term, count, count / data.profile.rows) for term, count in counted)
    header = make_columns(("term", _("Term"), "text"), ("rows", _("Rows"), "count"), ("share", _("Share"), "share"))
    return Table("terms", _("Rows with each identity term"), header, rows, (0,) * len(rows))
