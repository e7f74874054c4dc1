"""How long texts are."""

import numpy as np

from dynabench.measuring.found import Figure, Found, Table, columns
from dynabench.measuring.sample import Sample, words
from dynabench.stats.clusters import Estimate

TITLE = "Lengths"
ABOUT = (
    "Words of each field, with the mean by answer: where lengths differ by answer, length alone gives something away. "
    "Intervals are clustered by writer."
)
EDGES = (0, 5, 10, 15, 20, 30, 40, 60, 80, 120, 200, 10**9)


def measure(sample: Sample) -> Found | None:
    """Words by field and by answer, and a histogram of all words of an example."""
    if not sample.rows:
        return None
    figures, by_label, people = [], [], []
    for name, label in sample.fields.items():
        lengths = np.array([len(words(row.texts.get(name, ""))) for row in sample.rows], float)
        mean = sample.mean(lengths)
        figures += [
            _figure(f"mean_{name}", f"{label}: mean words", mean, len(lengths)),
            Figure(f"median_{name}", f"{label}: median words", float(np.median(lengths)), n=len(lengths)),
            Figure(f"tenth_{name}", f"{label}: longest tenth from", float(np.quantile(lengths, 0.9)), n=len(lengths)),
        ]
        for answer in sample.labels:
            chosen = np.array([row.label == answer for row in sample.rows])
            if chosen.any():
                part = sample.mean(lengths, chosen)
                who = f"{label}: {answer}" if len(sample.fields) > 1 else answer
                by_label.append((who, part.value, part.low, part.high, int(chosen.sum())))
                people.append(len(np.unique(sample.writers[chosen])))
    header = columns(
        ("answer", "Answer", "text"), ("mean", "Mean words", "number"), ("low", "from", "number"),
        ("high", "to", "number"), ("n", "n", "count"),
    )  # fmt: skip
    tables = [_histogram(sample)]
    if by_label:
        title = "Mean words by answer"
        tables.append(Table("by_answer", title, header, tuple(by_label), tuple(people), "intervals"))
    said = f"An example has {figures[0].value:.1f} words on average" if len(sample.fields) == 1 else "Lengths by field"
    return Found(said, tuple(figures), tuple(tables), sample.people)


def _figure(name: str, label: str, of: Estimate, n: int) -> Figure:
    return Figure(name, label, of.value, of.low, of.high, n)


def _histogram(sample: Sample) -> Table:
    lengths = np.array([len(held) for held in sample.words])
    counts, _ = np.histogram(lengths, EDGES)
    rows, people = [], []
    for place in range(len(counts)):
        low, high = EDGES[place], EDGES[place + 1] - 1
        here = (lengths >= low) & (lengths <= high)
        if here.any():
            name = f"{low} or more" if place == len(counts) - 1 else f"{low} to {high}"
            rows.append((name, float(here.mean()), int(here.sum())))
            people.append(len(np.unique(sample.writers[here])))
    header = columns(("words", "Words", "text"), ("share", "Examples", "share"), ("n", "n", "count"))
    return Table("histogram", "Words of an example", header, tuple(rows), tuple(people), "bars")
