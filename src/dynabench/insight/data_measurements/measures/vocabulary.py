"""Size and growth of the vocabulary."""

from collections import Counter

import numpy as np

from dynabench.insight.data_measurements.results import Figure, MeasureResult, Table, make_columns
from dynabench.insight.data_measurements.sample import Sample
from dynabench.kit.language import Amount, _

TITLE = _("Vocabulary")
ABOUT = _(
    "Different words by the annotators, and how their number grows with examples in random order "
    "(mean of ten orders). The exponent is that of Heaps’ law over the second half: near 0, few new "
    "words appear; near 1, every word is new. Different words in 50 is the mean over stretches of 50 "
    "words, independent of the round’s size."
)
ORDERS, POINTS, STRETCH = 10, 10, 50


def measure(sample: Sample) -> MeasureResult | None:
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


def grown(sample: Sample) -> list[tuple[int, int, int]]:
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


def _stretches(sample: Sample) -> Figure:
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
