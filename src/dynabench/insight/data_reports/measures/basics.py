"""General statistics: rows and columns, labels, lengths, tags, languages."""

import importlib.util
from collections import Counter
from itertools import pairwise
from math import log, sqrt

import numpy as np
import regex

from dynabench.insight.data_measurements.results import Figure, MeasureResult, Table, make_columns
from dynabench.insight.data_reports.measured import MeasuredData, whole_text
from dynabench.kit.language import Amount, LanguageName, _
from dynabench.stats.rates import wilson

TOP = 50
"""Rows of the tables of labels, tags and words."""
EDGES = (0, 5, 10, 15, 20, 30, 40, 60, 80, 120, 200, 400, 800, 10**9)
CLEAR = 10.0
"""Log-likelihood by which another language must be ahead; 0.1 % to 0.5 % of English texts are then taken for others."""
LEAST_LETTERS = 20
"""Letters from which on the language of a text is guessed."""
SCRIPTS = ("Latin", "Cyrillic", "Greek", "Arabic", "Hebrew", "Devanagari", "Bengali", "Tamil", "Telugu", "Thai", "Han",
           "Hiragana", "Katakana", "Hangul", "Georgian", "Armenian", "Ethiopic")  # fmt: skip
_SCRIPT = {name: regex.compile(rf"\p{{{name}}}") for name in SCRIPTS}
_LETTER = regex.compile(r"\p{L}")


def general(data: MeasuredData) -> MeasureResult | None:
    """Rows, columns, words, and what is missing."""
    profile = data.profile
    if not profile.rows:
        return None
    rows = []
    for name, counts in profile.lengths.items():
        mean, deviation = mean_deviation(counts.words)
        characters = mean_deviation(counts.characters)[0]
        rows.append((name, counts.empty, counts.empty / profile.rows, mean, deviation, characters))
    header = make_columns(
        ("column", _("Column"), "text"), ("empty", _("Empty"), "count"), ("empty_share", _("Share empty"), "share"),
        ("words", _("Mean words"), "number"), ("deviation", _("Standard deviation"), "number"),
        ("characters", _("Mean characters"), "number"),
    )  # fmt: skip
    empty = sum(row[1] for row in rows)
    figures = [
        Figure("rows", _("Rows"), float(profile.rows), kind="count"),
        Figure("words", _("Words"), float(profile.words.total), kind="count"),
        Figure("empty", _("Empty texts"), float(empty), n=profile.rows * len(rows), kind="count"),
    ]
    if profile.unreadable:
        figures.append(Figure("unreadable", _("Lines that could not be read"), float(profile.unreadable), kind="count"))
    unlabelled = profile.rows - profile.labels.total()
    if profile.columns.label:
        figures.append(Figure("unlabelled", _("Rows without a label"), float(unlabelled), n=profile.rows, kind="count"))
    finding = _("%(rows)s rows with %(words)s words", rows=Amount(profile.rows), words=Amount(profile.words.total))
    table = Table("columns", _("Columns of text"), header, tuple(rows), (0,) * len(rows))
    tables = [table]
    if len(profile.splits) > 1:
        tables.append(_counted("splits", _("Splits"), _("Split"), profile.splits, profile.rows))
    return MeasureResult(finding, tuple(figures), tuple(tables))


def mean_deviation(counts: Counter[int]) -> tuple[float, float]:
    """Return the mean and the sample standard deviation of values that were counted."""
    n = counts.total()
    if not n:
        return 0.0, 0.0
    mean = sum(value * count for value, count in counts.items()) / n
    squares = sum((value - mean) ** 2 * count for value, count in counts.items())
    return mean, sqrt(squares / (n - 1)) if n > 1 else 0.0


def counted_quantile(counts: Counter[int], at: float) -> float:
    """Return the smallest value that the share `at` of the counted values does not exceed."""
    values = sorted(counts)
    reached = np.cumsum([counts[value] for value in values])
    return float(values[int(np.searchsorted(reached, at * reached[-1] - 1e-9))])


def labels(data: MeasuredData) -> MeasureResult | None:
    """The share of each label, and how uneven the shares are."""
    counts = data.profile.labels
    n = counts.total()
    if len(counts) < 2:
        return None
    shares = np.array(list(counts.values())) / n
    even = float(-(shares * np.log(shares)).sum() / log(len(shares)))
    most, least = counts.most_common(1)[0], counts.most_common()[-1]
    figures = (
        Figure("evenness", _("Evenness of labels"), even, n=n),
        Figure("labels", _("Labels"), float(len(counts)), kind="count"),
        Figure("ratio", _("Most frequent label per rarest"), most[1] / least[1], n=n),
        Figure("skew", _("Skewness"), _skew(counts), n=n),
    )
    equal = even > 0.98
    finding = (
        _("Labels are about equally frequent")
        if equal
        else _("“%(label)s” is the most frequent label: %(share)s", label=most[0], share=Amount(most[1] / n, ".0%"))
    )
    table = _counted("labels", _("Share of each label"), _("Label"), counts, n, 1 / len(counts))
    return MeasureResult(finding, figures, (table,))


def _skew(counts: Counter[str]) -> float | None:
    """Return the skewness of the labels' codes, in the order of their names, as `label_distribution` has it."""
    weights = np.array([counts[name] for name in sorted(counts)], float)
    codes = np.arange(len(weights), dtype=float)
    shares = weights / weights.sum()
    deviations = codes - shares @ codes
    spread = float(shares @ deviations**2)
    return float(shares @ deviations**3) / spread**1.5 if spread else None


def _counted(name: str, title: str, label: str, counts: Counter[str], n: int, line: float | None = None) -> Table:
    rows = []
    for name_of_row, count in counts.most_common(TOP):
        rate = wilson(count, n)
        rows.append((name_of_row, count / n, rate.low, rate.high, count))
    header = make_columns(
        ("name", label, "text"), ("share", _("Share"), "share"), ("low", _("from"), "share"),
        ("high", _("to"), "share"), ("n", "n", "count"),
    )  # fmt: skip
    return Table(name, title, header, tuple(rows), (0,) * len(rows), "intervals" if len(rows) <= 20 else "", line)


def lengths(data: MeasuredData) -> MeasureResult | None:
    """Words of each column: mean, median and quantiles of all rows, a histogram, and the mean of each label."""
    profile = data.profile
    if not profile.rows:
        return None
    figures, tables = [], []
    for name, counts in profile.lengths.items():
        mean, deviation = mean_deviation(counts.words)
        half = 1.96 * deviation / sqrt(profile.rows)
        figures += [
            Figure(
                f"mean_{name}", _("%(field)s: mean words", field=name), mean, mean - half, mean + half, profile.rows
            ),
            Figure(f"deviation_{name}", _("%(field)s: standard deviation", field=name), deviation, n=profile.rows),
            Figure(f"median_{name}", _("%(field)s: median words", field=name), counted_quantile(counts.words, 0.5)),
            Figure(
                f"tenth_{name}", _("%(field)s: longest tenth from", field=name), counted_quantile(counts.words, 0.9)
            ),
            Figure(f"longest_{name}", _("%(field)s: longest", field=name), float(max(counts.words)), kind="count"),
            Figure(
                f"kinds_{name}", _("%(field)s: different lengths", field=name), float(len(counts.words)), kind="count"
            ),
        ]
        tables.append(_histogram(name, counts.words, profile.rows))
    if profile.by_label and len(profile.by_label) > 1:
        rows = []
        for label, moments in sorted(profile.by_label.items(), key=lambda pair: -pair[1].n)[:TOP]:
            half = 1.96 * moments.deviation / sqrt(moments.n)
            rows.append((label, moments.mean, moments.mean - half, moments.mean + half, moments.n))
        header = make_columns(
            ("label", _("Label"), "text"), ("mean", _("Mean words"), "number"), ("low", _("from"), "number"),
            ("high", _("to"), "number"), ("n", "n", "count"),
        )  # fmt: skip
        tables.append(Table("by_label", _("Mean words by label"), header, tuple(rows), (0,) * len(rows), "intervals"))
    finding = _("A text has %(words)s words on average", words=Amount(figures[0].value or 0, ",.1f"))
    return MeasureResult(finding, tuple(figures), tuple(tables))


def _histogram(name: str, counts: Counter[int], n: int) -> Table:
    rows = []
    for low, after in pairwise(EDGES):
        held = sum(count for length, count in counts.items() if low <= length < after)
        if held:
            label = (
                _("%(low)s or more", low=low)
                if after == EDGES[-1]
                else _("%(low)s to %(high)s", low=low, high=after - 1)
            )
            rows.append((label, held / n, held))
    header = make_columns(("words", _("Words"), "text"), ("share", _("Rows"), "share"), ("n", "n", "count"))
    title = _("Words of “%(field)s”", field=name)
    return Table(f"histogram_{name}", title, header, tuple(rows), (0,) * len(rows), "bars")


def tags(data: MeasuredData) -> MeasureResult | None:
    """The number of rows with each tag."""
    counts, n = data.profile.tags, data.profile.rows
    if not counts:
        return None
    table = _counted("tags", _("Rows with each tag"), _("Tag"), counts, n)
    figures = (Figure("tags", _("Tags"), float(len(counts)), n=n, kind="count"),)
    finding = _(
        "%(tags)s tags; the most frequent is “%(tag)s”", tags=Amount(len(counts)), tag=counts.most_common(1)[0][0]
    )
    return MeasureResult(finding, figures, (table,))


def languages(data: MeasuredData) -> MeasureResult | None:
    """The languages of a sample's texts, where the identifier is installed, and their scripts."""
    texts = [text for text in map(whole_text, data.chosen) if text]
    if not texts:
        return None
    scripts = Counter(filter(None, map(main_script, texts)))
    tables, figures = [], []
    finding = _("No letters")
    if scripts:
        most, count = scripts.most_common(1)[0]
        finding = _("Script: %(script)s", script=most)
        figures.append(Figure("scripts", _("Scripts"), float(len(scripts)), n=len(texts), kind="count"))
        tables.append(_counted("scripts", _("Main script of texts"), _("Script"), scripts, scripts.total()))
    guessed: Counter[str] = Counter({LanguageName(code): count for code, count in guess_languages(texts).items()})
    if guessed:
        most, count = guessed.most_common(1)[0]
        n = guessed.total()
        rate = wilson(count, n)
        figures.insert(0, Figure("main", _("Share of the main language"), count / n, rate.low, rate.high, n, "share"))
        tables.insert(0, _counted("languages", _("Languages"), _("Language"), guessed, n))
        finding = _("%(share)s of texts are in %(language)s", share=Amount(count / n, ".0%"), language=most)
    note = "" if len(texts) == data.profile.rows else _("Over %(n)s random rows.", n=Amount(len(texts)))
    return MeasureResult(finding, tuple(figures), tuple(tables), note=note)


def main_script(text: str) -> str:
    """Return the script that most letters of a text have; empty where it has none."""
    if text.isascii():
        return "Latin" if any(map(str.isalpha, text)) else ""
    counts = {name: len(pattern.findall(text)) for name, pattern in _SCRIPT.items()}
    most = max(counts, key=lambda name: counts[name])
    if counts[most]:
        return most
    return _("other") if _LETTER.search(text) else ""


def is_foreign(text: str, language: str = "en") -> bool:
    """Return whether a text is clearly in another language than the one named; False where nothing can tell."""
    if importlib.util.find_spec("py3langid") is None or sum(map(str.isalpha, text[:500])) < LEAST_LETTERS:
        return False
    from py3langid import langid

    scores = dict(langid.rank(text[:1_000]))
    return float(max(scores.values()) - scores[language]) > CLEAR


def guess_languages(texts: list[str]) -> Counter[str]:
    """Return how many texts are in each language, by its code; empty where the identifier is not installed.

    Texts of fewer than 20 letters are left out.
    """
    if importlib.util.find_spec("py3langid") is None:
        return Counter()
    from py3langid import langid

    long_enough = [text for text in texts if sum(map(str.isalpha, text[:500])) >= LEAST_LETTERS]
    return Counter(str(langid.classify(text[:1_000])[0]) for text in long_enough)
