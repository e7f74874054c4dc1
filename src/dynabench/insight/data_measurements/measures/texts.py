"""Measures of texts: vocabulary, lengths, complexity, and the words that authors name as the trick."""

import re
from collections import Counter

import numpy as np

from dynabench.insight.data_measurements.results import Figure, MeasureResult, Table, describe_measure, make_columns
from dynabench.insight.data_measurements.sample import RoundSample, words
from dynabench.kit.language import Amount, _, joined
from dynabench.stats.clusters import ClusteredEstimate, difference
from dynabench.stats.rates import Rate

ORDERS, POINTS, STRETCH = 10, 10, 50


@describe_measure(
    _("Vocabulary"),
    _(
        "Different words by the annotators, and how their number grows with examples in random order "
        "(mean of ten orders). The exponent is that of Heaps’ law over the second half: near 0, few new "
        "words appear; near 1, every word is new. Different words in 50 is the mean over stretches of 50 "
        "words, independent of the round’s size."
    ),
)
def vocabulary(sample: RoundSample) -> MeasureResult | None:
    """Size and growth of the vocabulary."""
    counts = Counter(word for held in sample.words for word in held)
    total = sum(counts.values())
    if not total:
        return None
    growth = grown(sample)
    half, last = growth[len(growth) // 2], growth[-1]
    exponent = float(np.log(last[1] / half[1]) / np.log(last[2] / half[2])) if last[2] > half[2] else None
    once = sum(count == 1 for count in counts.values()) / len(counts)
    figures = (
        Figure("growth", _("Growth exponent"), exponent, n=len(sample.rows)),
        Figure("different", _("Different words"), float(len(counts)), n=total, kind="count"),
        Figure("words", _("Words"), float(total), n=len(sample.rows), kind="count"),
        Figure("once", _("Used only once"), once, n=len(counts), kind="share"),
        _stretches(sample),
    )
    header = make_columns(
        ("examples", _("Examples"), "count"),
        ("different", _("Different words"), "count"),
        ("words", _("Words"), "count"),
    )
    table = Table(
        "growth", _("Growth of the vocabulary"), header, tuple(growth), (sample.people,) * len(growth), "lines"
    )
    finding = _("%(kinds)s different words in %(words)s", kinds=Amount(len(counts)), words=Amount(total))
    return MeasureResult(finding, figures, (table,), sample.people)


def grown(sample: RoundSample) -> list[tuple[int, int, int]]:
    """Examples, different words and words after each tenth of the examples; means over random orders."""
    rng, n = sample.rng(), len(sample.rows)
    places = sorted({max(round(n * part / POINTS), 1) for part in range(1, POINTS + 1)})
    kinds, sizes = np.zeros(len(places)), np.zeros(len(places))
    for _order in range(ORDERS):
        seen: set[str] = set()
        size, at = 0, 0
        for number, row in enumerate(rng.permutation(n), start=1):
            seen.update(sample.words[row])
            size += len(sample.words[row])
            if number == places[at]:
                kinds[at], sizes[at], at = kinds[at] + len(seen), sizes[at] + size, at + 1
    return [(place, round(kinds[at] / ORDERS), round(sizes[at] / ORDERS)) for at, place in enumerate(places)]


def _stretches(sample: RoundSample) -> Figure:
    """The mean share of different words in stretches of `STRETCH` words of each writer's examples."""
    rows: dict[int, list[str]] = {}
    for writer, held in zip(sample.writers.tolist(), sample.words, strict=True):
        rows.setdefault(writer, []).extend(held)
    shares = [
        len(set(held[at : at + STRETCH])) / STRETCH
        for held in rows.values()
        for at in range(0, len(held) - STRETCH + 1, STRETCH)
    ]
    value = float(np.mean(shares)) if shares else None
    return Figure("in_fifty", _("Different words in 50"), value, n=len(shares), kind="share")


EDGES = (0, 5, 10, 15, 20, 30, 40, 60, 80, 120, 200, 10**9)


@describe_measure(
    _("Lengths"),
    _(
        "Words of each field, with the mean by answer: if lengths differ by answer, length alone gives "
        "something away. Intervals are clustered by writer."
    ),
)
def lengths(sample: RoundSample) -> MeasureResult | None:
    """Words by field and by answer, and a histogram of all words of an example."""
    if not sample.rows:
        return None
    figures, by_label, people = [], [], []
    for name, label in sample.fields.items():
        lengths = np.array([len(words(row.texts.get(name, ""))) for row in sample.rows], float)
        mean = sample.mean(lengths)
        figures += [
            Figure(
                f"mean_{name}", _("%(field)s: mean words", field=label), mean.value, mean.low, mean.high, len(lengths)
            ),
            Figure(
                f"median_{name}", _("%(field)s: median words", field=label), float(np.median(lengths)), n=len(lengths)
            ),
            Figure(
                f"tenth_{name}",
                _("%(field)s: longest tenth from", field=label),
                float(np.quantile(lengths, 0.9)),
                n=len(lengths),
            ),
        ]
        for answer in sample.labels:
            chosen = np.array([row.label == answer for row in sample.rows])
            if chosen.any():
                part = sample.mean(lengths, chosen)
                group_name = joined(": ", (label, answer)) if len(sample.fields) > 1 else answer
                by_label.append((group_name, part.value, part.low, part.high, int(chosen.sum())))
                people.append(len(np.unique(sample.writers[chosen])))
    header = make_columns(
        ("answer", _("Answer"), "text"), ("mean", _("Mean words"), "number"), ("low", _("from"), "number"),
        ("high", _("to"), "number"), ("n", "n", "count"),
    )  # fmt: skip
    tables = [_histogram(sample)]
    if by_label:
        title = _("Mean words by answer")
        tables.append(Table("by_answer", title, header, tuple(by_label), tuple(people), "intervals"))
    finding = _("Lengths by field")
    if len(sample.fields) == 1:
        finding = _("An example has %(words)s words on average", words=Amount(figures[0].value or 0, ".1f"))
    return MeasureResult(finding, tuple(figures), tuple(tables), sample.people)


def _histogram(sample: RoundSample) -> Table:
    lengths = np.array([len(held) for held in sample.words])
    counts = np.histogram(lengths, EDGES)[0]
    rows, people = [], []
    for place in range(len(counts)):
        low, high = EDGES[place], EDGES[place + 1] - 1
        here = (lengths >= low) & (lengths <= high)
        if here.any():
            name = (
                _("%(low)s or more", low=low)
                if place == len(counts) - 1
                else _("%(low)s to %(high)s", low=low, high=high)
            )
            rows.append((name, float(here.mean()), int(here.sum())))
            people.append(len(np.unique(sample.writers[here])))
    header = make_columns(("words", _("Words"), "text"), ("share", _("Examples"), "share"), ("n", "n", "count"))
    return Table("histogram", _("Words of an example"), header, tuple(rows), tuple(people), "bars")


_END = re.compile(r"[.!?…]+(?=\s|$)")
_NEGATIONS = frozenset(
    "not n't no never none nobody nothing nowhere neither nor without cannot hardly barely scarcely".split()
)
_CONTRACTED = re.compile(r"n['’]t$")


@describe_measure(
    _("Complexity"),
    _(
        "Words per sentence, letters per word, and the readability index derived from both (ARI: roughly "
        "the US school grade; Smith and Senter 1967). Negations and numbers; and the share of an "
        "example’s words that also occur in its context, a cue that models like to use. For languages "
        "with spaces between words; negations and readability for English. Intervals are clustered by "
        "writer."
    ),
)
def complexity(sample: RoundSample) -> MeasureResult | None:
    """Means over examples."""
    lengths = np.array([len(held) for held in sample.words], float)
    if not lengths.sum():
        return None
    letters = np.array([sum(map(len, held)) for held in sample.words], float)
    sentences = np.array([max(len(_END.findall(text)), 1) for text in sample.whole], float)
    written = lengths > 0
    readable = np.where(written, 4.71 * letters / np.maximum(lengths, 1) + 0.5 * lengths / sentences - 21.43, 0)
    n = int(written.sum())
    parts: list[tuple[str, str, ClusteredEstimate | Rate, int, bool]] = [
        ("readability", _("Readability index (ARI)"), sample.mean(readable, written), n, False),
        ("sentence", _("Words per sentence"), sample.ratio(lengths, sentences, written), n, False),
        ("word", _("Letters per word"), sample.ratio(letters, lengths), n, False),
        ("negated", _("Examples with a negation"), sample.share([_negated(held) for held in sample.words]), n, True),
        ("numbers", _("Examples with a number"), sample.share([_numbered(held) for held in sample.words]), n, True),
    ]
    shared = [_shared(held, set(words(row.context))) for held, row in zip(sample.words, sample.rows, strict=True)]
    has_context = np.array([bool(row.context) for row in sample.rows], bool) & written
    if has_context.any():
        label = _("Words that also occur in the context")
        parts.append(("shared", label, sample.ratio(shared, lengths, has_context), int(has_context.sum()), True))
    figures = tuple(
        Figure(name, label, total.value, total.low, total.high, count, "share" if share else "number")
        for name, label, total, count, share in parts
    )
    finding = _(
        "%(words)s words per sentence, %(negated)s with a negation",
        words=Amount(figures[1].value or 0, ".1f"),
        negated=Amount(figures[3].value or 0, ".0%"),
    )
    return MeasureResult(finding, figures, (), sample.people)


def _negated(held: list[str]) -> float:
    return float(any(word in _NEGATIONS or _CONTRACTED.search(word) for word in held))


def _numbered(held: list[str]) -> float:
    return float(any(any(map(str.isdigit, word)) for word in held))


def _shared(held: list[str], context: set[str]) -> float:
    return float(sum(word in context for word in held))


@describe_measure(
    _("Trick words"),
    _(
        "Of the words that authors marked as the trick, the share that is also among the same number of "
        "words with the highest attribution by the first target, compared with random words. If a task "
        "asks only for a written explanation, the example's words repeated in it count as marked. "
        "Intervals are clustered by writer."
    ),
)
def trick_words(sample: RoundSample) -> MeasureResult | None:
    """Agreement of marks and attributions, over chance."""
    has_marks = np.array([row.words is not None and row.words.marked > 0 for row in sample.rows], bool)
    if not has_marks.any():
        return None
    marked = np.array([row.words.marked if row.words else 0 for row in sample.rows], float)
    shared = np.array([row.words.shared if row.words else 0 for row in sample.rows], float)
    chance = np.array([row.words.chance if row.words else 0 for row in sample.rows], float)
    n, people = int(has_marks.sum()), len(np.unique(sample.writers[has_marks]))
    by_writer = [np.bincount(sample.writers, counts * has_marks, sample.people) for counts in (shared, chance, marked)]
    gap = difference(by_writer[0], by_writer[2], by_writer[1], by_writer[2])
    both, alone = sample.ratio(shared, marked, has_marks), sample.ratio(chance, marked, has_marks)
    figures = (
        Figure("above_chance", _("Above chance"), gap.value, gap.low, gap.high, n, "share"),
        Figure("shared", _("Marked words that mattered to the model"), both.value, both.low, both.high, n, "share"),
        Figure("chance", _("By chance"), alone.value, alone.low, alone.high, n, "share"),
    )
    if gap.low is not None and gap.low > 0:
        finding = _("Annotators name words that mattered to the model")
    elif gap.high is not None and gap.high < 0:
        finding = _("Annotators name words that mattered least to the model")
    else:
        finding = _("The words that annotators name and those that mattered to the model agree no more than by chance")
    return MeasureResult(finding, figures, (), people)
