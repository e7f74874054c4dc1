"""Error rates by condition: blank, prompt and seed starts, experts and others, arms."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dynabench.insight.data_measurements.results import LEAST, MeasureResult, Table, make_columns
from dynabench.insight.data_measurements.sample import ConditionCounts, Sample
from dynabench.kit.language import _, joined
from dynabench.stats import clusters
from dynabench.stats.p_values import holm
from dynabench.stats.rates import clustered_rate

TITLE = _("Starts, experts and arms")
ABOUT = _(
    "Validated model error rate (vMER) by starting point, by kind of author and by arm, over all "
    "examples for which a model was asked. Each group is compared with all other examples: the "
    "difference is in points, with an interval clustered by writer and p values Holm-corrected over "
    "all comparisons."
)
NAMES = {"start": _("vMER: starts"), "source": _("vMER: authors"), "arm": _("vMER: arms")}
LEVEL = 0.05
HEADER = make_columns(
    ("condition", _("Condition"), "text"), ("vmer", "vMER", "share"),
    ("low", _("from"), "share"), ("high", _("to"), "share"),
    ("difference", _("Against all others"), "share"), ("difference_low", _("from"), "share"),
    ("difference_high", _("to"), "share"), ("p", _("p (Holm)"), "p"), ("n", "n", "count"),
)  # fmt: skip


@dataclass
class Compared:
    """A condition beside the rest of its `breakdown`; `p` is corrected, None where nothing can be said."""

    breakdown: str
    group: ConditionCounts
    gap: clusters.ClusteredEstimate
    p: float | None = None

    @property
    def people(self) -> int:
        """Return the number of writers in this condition."""
        return int((self.group.examples > 0).sum())

    @property
    def row(self) -> tuple[object, ...]:
        """A row of the table."""
        rate = clustered_rate(self.group.validated, self.group.examples)
        gap = (self.gap.value, self.gap.low, self.gap.high)
        return (self.group.name or _("none"), rate.value, rate.low, rate.high, *gap, self.p, rate.n)


def measure(sample: Sample) -> MeasureResult | None:
    """vMER of each condition, and its difference to the rest."""
    several = {name: groups for name, groups in sample.groups.items() if len(groups) > 1}
    if not several:
        return None
    comparisons = [Compared(name, item, _against(item, groups)) for name, groups in several.items() for item in groups]
    tested = [item for item in comparisons if item.gap.p is not None]
    for item, p in zip(tested, holm([item.gap.p or 0.0 for item in tested]).tolist() if tested else (), strict=True):
        item.p = p
    clear = [
        item.group.name or _("none")
        for item in comparisons
        if item.p is not None and item.p < LEVEL and item.people >= LEAST
    ]
    finding = _("No condition differs clearly")
    if clear:
        finding = _("Different from the rest: %(names)s", names=joined(", ", clear))
    tables = tuple(_table(name, [item for item in comparisons if item.breakdown == name]) for name in several)
    everybody = [item.group.person[item.group.examples > 0] for item in comparisons]
    return MeasureResult(finding, (), tables, len(np.unique(np.concatenate(everybody))))


def _table(name: str, comparisons: Sequence[Compared]) -> Table:
    return Table(
        name,
        NAMES[name],
        HEADER,
        tuple(comparison.row for comparison in comparisons),
        tuple(comparison.people for comparison in comparisons),
        "intervals",
    )


def _against(group: ConditionCounts, groups: tuple[ConditionCounts, ...]) -> clusters.ClusteredEstimate:
    """The group's rate minus that of the others together, clustered by person."""
    people = np.unique(np.concatenate([other_group.person for other_group in groups]))
    own, rest = np.zeros((2, len(people))), np.zeros((2, len(people)))
    for other_group in groups:
        at, sums = np.searchsorted(people, other_group.person), own if other_group is group else rest
        np.add.at(sums[0], at, other_group.validated)
        np.add.at(sums[1], at, other_group.examples)
    return clusters.difference(*own, *rest)
