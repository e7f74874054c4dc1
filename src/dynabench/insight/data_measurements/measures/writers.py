"""Concentration of examples on writers."""

import numpy as np

from dynabench.insight.data_measurements.results import Figure, MeasureResult, Table, make_columns
from dynabench.insight.data_measurements.sample import Floats, Sample
from dynabench.kit.language import Amount, _

TITLE = _("Writers")
ABOUT = _(
    "How evenly examples are spread over writers. The effective number is the number of equally "
    "active writers that would be as diverse (the inverse of Simpson’s index); Gini is 0 if all "
    "wrote equally much and near 1 if one person wrote everything."
)


def measure(sample: Sample) -> MeasureResult | None:
    """Concentration of examples on writers."""
    counts = np.sort(np.bincount(sample.writers).astype(float))[::-1]
    if not len(counts):
        return None
    tenth = max(round(len(counts) / 10), 1)
    n = len(sample.rows)
    figures = (
        Figure("effective", _("Effective number of writers"), effective(counts), n=n),
        Figure("writers", _("Writers"), float(len(counts)), n=n, kind="count"),
        Figure("gini", _("Gini"), gini(counts), n=len(counts)),
        Figure("top_writer", _("Share of the most active writer"), top(counts, 1), n=n, kind="share"),
        Figure("top_tenth", _("Share of the most active tenth"), top(counts, tenth), n=n, kind="share"),
    )
    finding = _(
        "%(n)s writers, as diverse as %(effective)s equally active ones",
        n=Amount(len(counts)),
        effective=Amount(effective(counts), ".1f"),
    )
    return MeasureResult(finding, figures, (_curve(counts),), len(counts))


def effective(counts: Floats) -> float:
    """1 / sum of squared shares, of counts of shape (writers,)."""
    return float(counts.sum() ** 2 / (counts**2).sum())


def gini(counts: Floats) -> float:
    """Gini's coefficient of counts of shape (writers,)."""
    n = len(counts)
    return float((2 * np.arange(1, n + 1) - n - 1) @ np.sort(counts) / (n * counts.sum()))


def top(counts: Floats, most: int) -> float:
    """The share of the `most` busiest, of counts in falling order."""
    return float(counts[:most].sum() / counts.sum())


def _curve(counts: Floats) -> Table:
    """The share of examples by that of the busiest writers, each point of all writers up to it."""
    places = sorted({max(round(share * len(counts)), 1) for share in np.linspace(0.1, 1, 10)})
    rows = tuple((place / len(counts), float(counts[:place].sum() / counts.sum()), place) for place in places)
    header = make_columns(
        ("writers", _("Writers, most active first"), "share"), ("examples", _("Examples"), "share"),
        ("n", _("Writers"), "count"),
    )  # fmt: skip
    return Table("curve", _("Share of the most active writers"), header, rows, tuple(row[2] for row in rows), "lines")
