"""Frequencies of the claimed answers."""

from collections import Counter
from math import log

from dynabench.insight.data_measurements.results import Figure, MeasureResult, Table, make_columns
from dynabench.insight.data_measurements.sample import Sample
from dynabench.kit.language import _
from dynabench.stats.rates import clustered_rate

TITLE = _("Label balance")
ABOUT = _(
    "The share of each answer, with intervals clustered by writer. Evenness is the entropy of the "
    "shares divided by that of equal shares: 1 if all answers are equally frequent, 0 if there is "
    "only one."
)


def measure(sample: Sample) -> MeasureResult | None:
    """Shares of labels, and their evenness."""
    counts = Counter(row.label for row in sample.rows if row.label is not None)
    n = sum(counts.values())
    if len(sample.labels) < 2 or not n:
        return None
    shares = {label: counts[label] / n for label in sample.labels}
    even = -sum(share * log(share) for share in shares.values() if share) / log(len(shares))
    most = max(shares, key=lambda label: shares[label])
    rows, people = [], []
    for label, share in sorted(shares.items(), key=lambda pair: -pair[1]):
        mine: Counter[int] = Counter(row.writer for row in sample.rows if row.label == label)
        all_of: Counter[int] = Counter(row.writer for row in sample.rows if row.label is not None)
        rate = clustered_rate([mine[writer] for writer in all_of], list(all_of.values()))
        rows.append((label, share, rate.low, rate.high, counts[label]))
        people.append(sample.people)
    header = make_columns(
        ("answer", _("Answer"), "text"), ("share", _("Share"), "share"),
        ("low", _("from"), "share"), ("high", _("to"), "share"),
        ("n", "n", "count"),
    )  # fmt: skip
    table = Table(
        "answers", _("Share of each answer"), header, tuple(rows), tuple(people), "intervals", 1 / len(shares)
    )
    figures = (
        Figure("evenness", _("Evenness of answers"), even, n=n),
        Figure("most_frequent", _("Share of the most frequent answer"), shares[most], n=n, kind="share"),
    )
    finding = (
        _("Answers are about equally frequent")
        if even > 0.98
        else _("“%(answer)s” is the most frequent answer", answer=most)
    )
    return MeasureResult(finding, figures, (table,), sample.people)
