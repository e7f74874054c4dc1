"""Two entrants of a board side by side: by how much they differ, whether that could be chance, and on which rows.

Differences and intervals come from the stored replicates, which are paired. Whether a difference of the primary metric
could be chance is asked of the rows, where these may be counted: McNemar's test where rows are right or wrong, else
approximate randomization. Elsewhere it is the normal test with the replicates' standard error (Efron and Tibshirani, An
Introduction to the Bootstrap, 1993, section 13). Of each metric, the p values of all datasets are corrected by Holm's
method.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import erfc, sqrt

import numpy as np
from numpy.typing import NDArray

from dynabench.benchmark.evaluations.measures import Measure, Replicates
from dynabench.benchmark.evaluations.row_scores import Right
from dynabench.benchmark.standings import Entrant, ScoreCell, ScoredDataset, TaskBoard
from dynabench.kit.language import _
from dynabench.stats.p_values import holm

LEVEL = 0.05
EXACT_BELOW = 25
"""Rows that tell two models apart, below which McNemar's test is exact."""
NO_DIFFERENCE = 1e-9
RowsOf = Callable[[ScoredDataset], tuple[Right, Right] | None]
"""What the primary metric says of both entrants row by row, None where that may not be counted."""


@dataclass(frozen=True)
class EntrantDifference:
    """The first entrant's score minus the second's. `p` is None where nothing is known of the spread."""

    data: ScoredDataset
    metric: Measure
    a: ScoreCell
    b: ScoreCell
    value: float
    low: float | None
    high: float | None
    p: float | None
    test: str
    corrected: float | None = None

    @property
    def better(self) -> str:
        """`a`, `b`, or empty where the data do not tell them apart."""
        if self.corrected is None or self.corrected > LEVEL or self.value == 0:
            return ""
        return "a" if self.value * self.metric.direction > 0 else "b"


@dataclass(frozen=True)
class AnswerTally:
    """Numbers of rows that both models answered right, only one of them answered right, or neither did."""

    right: int
    a: int
    b: int
    wrong: int

    @property
    def rows(self) -> int:
        """All that both answered."""
        return self.right + self.a + self.b + self.wrong


def compare_entrants(board: TaskBoard, first: Entrant, second: Entrant, rows: RowsOf) -> list[EntrantDifference]:
    """Return the differences for each metric and each dataset on which both have a score, metric by metric."""
    differences = []
    for metric in board.metrics:
        of_metric = []
        for data in board.datasets:
            a, b = board.cell(first, data, metric), board.cell(second, data, metric)
            if a is not None and b is not None:
                results = rows(data) if metric == board.primary else None
                of_metric.append(_difference(data, metric, a, b, results))
        differences += _correct_differences(of_metric)
    return differences


def _difference(
    data: ScoredDataset, metric: Measure, a: ScoreCell, b: ScoreCell, rows: tuple[Right, Right] | None
) -> EntrantDifference:
    value = a.value - b.value
    difference = EntrantDifference(data, metric, a, b, value, None, None, None, "")
    if a.replicates is not None and b.replicates is not None and not metric.cost:  # three repeats say little of chance
        low, high, p = paired_difference(a.replicates, b.replicates, value)
        difference = replace(difference, low=low, high=high, p=p, test="paired_bootstrap")
    if rows is not None and (test := significance(*rows)) is not None:
        difference = replace(difference, test=test[0], p=test[1])
    return difference


def _correct_differences(differences: Sequence[EntrantDifference]) -> list[EntrantDifference]:
    p_values = [difference.p for difference in differences if difference.p is not None]
    values = iter(holm(p_values).tolist() if p_values else ())
    return [
        difference if difference.p is None else replace(difference, corrected=next(values))
        for difference in differences
    ]


def paired_difference(a: Replicates, b: Replicates, value: float) -> tuple[float, float, float]:
    """Limits of the 95 % interval of a difference, and its p value, from paired replicates, shape (B,) each.

    The interval always holds the difference itself. Two copies of one model have p = 1.
    """
    drawn = a - b
    low, high = (float(limit) for limit in np.quantile(drawn, [0.025, 0.975]))
    spread = float(drawn.std(ddof=1))
    apart = abs(value) > NO_DIFFERENCE
    p = erfc(abs(value) / spread / sqrt(2)) if spread > NO_DIFFERENCE else float(not apart)
    return min(low, value), max(high, value), p


def significance(a: Right, b: Right) -> tuple[str, float] | None:
    """Return the name of the test of two models' results row by row, and its p value.

    Return None without rows that both models answered.
    """
    from dynabench import evaluate

    both = ~(np.isnan(a) | np.isnan(b))
    first, second = a[both], b[both]
    if not first.size:
        return None
    if np.isin(first, (0, 1)).all() and np.isin(second, (0, 1)).all():
        exact = int((first != second).sum()) < EXACT_BELOW
        ones = np.ones(first.size, int)
        columns = {"predictions1": first.astype(int), "predictions2": second.astype(int), "references": ones}
        return "mcnemar", float(evaluate.load("mcnemar", module_type="comparison").compute(**columns, exact=exact)["p"])
    if first.size < 2:
        return None
    # The mean distance of scores from 0 is their mean, and p does not ask which way is better.
    columns = {"predictions1": first.astype(float), "predictions2": second.astype(float)}
    test = evaluate.load("approximate_randomization", module_type="comparison")
    result = test.compute(**columns, references=np.zeros(first.size), metric="mae", method="percentile", resamples=1999)
    return test.name, float(result["p"])


def tally_answers(a: Right, b: Right) -> AnswerTally:
    """On how many rows both, one, or none were right."""
    return AnswerTally(*(int(chosen_rows(a, b, name).sum()) for name in ("right", "a", "b", "wrong")))


def chosen_rows(a: Right, b: Right, kind: str) -> NDArray[np.bool_]:
    """Return a mask of the rows to show, shape (rows,).

    `shown` is `differ`, `a` (only `a` is right), `b` (only `b` is right), `right` (both are) or `wrong`
    (neither is right).
    """
    both = ~(np.isnan(a) | np.isnan(b))
    first, second = both & (a == 1), both & (b == 1)
    mask: NDArray[np.bool_] = {
        "differ": first ^ second,
        "a": first & ~second,
        "b": second & ~first,
        "right": first & second,
        "wrong": both & ~first & ~second,
    }[kind]
    return mask


def group_differences(differences: Sequence[EntrantDifference]) -> list[tuple[Measure, list[EntrantDifference], float]]:
    """The differences by metric, in their order, each group with the largest of its differences and limits."""
    groups: dict[str, list[EntrantDifference]] = {}
    for difference in differences:
        groups.setdefault(difference.metric.name, []).append(difference)
    return [(group[0].metric, group, max(map(_largest_limit, group)) or 1.0) for group in groups.values()]


def _largest_limit(difference: EntrantDifference) -> float:
    return max(abs(value) for value in (difference.value, difference.low or 0.0, difference.high or 0.0))


def conclusion(first: Entrant, second: Entrant, differences: Sequence[EntrantDifference]) -> str:
    """Return a sentence that sums up the differences of one metric."""
    tested = [difference for difference in differences if difference.p is not None]
    if not tested:
        return _("No dataset has scores of both models.")
    metric, n = tested[0].metric.title.lower(), len(tested)
    a = [difference.data.title for difference in tested if difference.better == "a"]
    b = [difference.data.title for difference in tested if difference.better == "b"]
    where = f"the {n} datasets" if n > 1 else tested[0].data.title
    if not a and not b:
        return _(
            "No clear difference: %(metric)s on %(where)s could differ this much by chance.",
            metric=metric,
            where=where,
        )
    if a and b:
        return _(
            "Neither is better everywhere: %(label)s on %(a)s, %(label2)s on %(b)s (%(metric)s).",
            label=first.label,
            a=_list(a),
            label2=second.label,
            b=_list(b),
            metric=metric,
        )
    best, worst, won = (first, second, a) if a else (second, first, b)
    beginning = f"{best.label} is better than {worst.label} in {metric} on"
    if len(won) == n:
        return _("%(told)s %(value)s.", told=beginning, value=f"all {n} datasets" if n > 1 else where)
    return _("%(told)s %(won)s; no clear difference elsewhere.", told=beginning, won=_list(won))


def _list(names: Sequence[str], most: int = 3) -> str:
    if len(names) > most:
        return f"{len(names)} datasets"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
