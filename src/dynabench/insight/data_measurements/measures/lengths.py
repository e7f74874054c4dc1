"""Lengths of texts."""

import numpy as np

from dynabench.insight.data_measurements.results import Figure, MeasureResult, Table, make_columns
from dynabench.insight.data_measurements.sample import Sample, words
from dynabench.kit.language import Amount, _, joined
from dynabench.stats.clusters import ClusteredEstimate

TITLE = _("Lengths")
ABOUT = _(
    "Words of each field, with the mean by answer: if lengths differ by answer, length alone gives "
    "something away. Intervals are clustered by writer."
)
EDGES = (0, 5, 10, 15, 20, 30, 40, 60, 80, 120, 200, 10**9)


def measure(sample: Sample) -> MeasureResult | None:
    """Words by field and by answer, and a histogram of all words of an example."""
    if not sample.rows:
        return None
    figures, by_label, people = [], [], []
    for name, label in sample.fields.items():
        lengths = np.array([len(words(row.texts.get(name, ""))) for row in sample.rows], float)
        mean = sample.mean(lengths)
        figures += [
            _figure(f"mean_{name}", _("%(field)s: mean words", field=label), mean, len(lengths)),
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


def _figure(name: str, label: str, estimate: ClusteredEstimate, n: int) -> Figure:
    return Figure(name, label, estimate.value, estimate.low, estimate.high, n)


def _histogram(sample: Sample) -> Table:
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
