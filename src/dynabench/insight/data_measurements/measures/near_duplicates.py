"""Examples that are nearly the same as others."""

import numpy as np

from dynabench.evaluate.tokens import near_duplicate_groups
from dynabench.insight.data_measurements.results import Figure, MeasureResult, Table, make_columns
from dynabench.insight.data_measurements.sample import Sample
from dynabench.kit.language import Amount, _
from dynabench.stats import minhash

TITLE = _("Near-duplicates")
ABOUT = _(
    "Examples whose text has a Jaccard similarity of at least 0.8 with another, over groups of four "
    "characters without punctuation. All pairs are compared exactly. Intervals are clustered by "
    "writer."
)
NEAR = 0.8


def measure(sample: Sample) -> MeasureResult | None:
    """The share of examples with a near-duplicate: in the round, by another writer, and in earlier rounds."""
    n = len(sample.rows)
    if n < 2:
        return None
    before = [("\n".join(row.texts.values())) for earlier_round in sample.earlier for row in earlier_round.rows]
    alike, by_others, again = np.zeros(n), np.zeros(n), np.zeros(n)
    sizes: list[tuple[int, int]] = []
    for rows in near_duplicate_groups(
        [*sample.whole, *before], NEAR, lambda text: minhash.shingle_hashes(text).tolist()
    ):
        here = [row for row in rows if row < n]
        again[here] = len(here) < len(rows)
        if len(here) > 1:
            alike[here] = 1
            people = len(np.unique(sample.writers[here]))
            by_others[here] = people > 1
            sizes.append((len(here), people))
    figures = []
    for name, label, values in (
        ("alike", _("Examples with a near-duplicate"), alike),
        ("by_others", _("By another writer"), by_others),
        ("again", _("Near-duplicates of earlier rounds"), again),
    ):
        if name != "again" or sample.earlier:
            part = sample.share(values)
            figures.append(Figure(name, label, part.value, part.low, part.high, n, "share"))
    header = make_columns(("size", _("Similar examples"), "count"), ("groups", _("Groups"), "count"))
    counted = sorted({size for size, _ in sizes})
    counts = tuple((size, sum(group_size == size for group_size, _ in sizes)) for size in counted)
    tables = (
        (Table("groups", _("Groups of near-duplicates"), header, counts, (sample.people,) * len(counts)),)
        if counts
        else ()
    )
    finding = (
        _("%(some)s of %(n)s examples have a near-duplicate", some=Amount(int(alike.sum())), n=Amount(n))
        if alike.any()
        else _("No near-duplicates")
    )
    return MeasureResult(finding, tuple(figures), tables, sample.people)
