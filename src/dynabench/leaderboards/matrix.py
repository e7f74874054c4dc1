"""Models by rounds and datasets: progress and forgetting at once, with a mean that may discount what is old."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy.orm import Session

from dynabench.collection import overview, statistics, target_figures
from dynabench.collection.target_figures import Target
from dynabench.leaderboards import entrants as known
from dynabench.leaderboards.entrants import Cell, Data, Entrant, Field, Scores
from dynabench.leaderboards.weights import dataset_steps
from dynabench.scoring.measures import REPLICATES, Measure
from dynabench.stats.averages import recency_weights
from dynabench.stats.ranks import rank_intervals
from dynabench.stats.rates import Rate


@dataclass(frozen=True)
class Line:
    """An entrant's cells, None where it has no score; `overall` is None unless it has all that anybody has.

    `trend` is the slope over rounds, a change per round; `loop` has its own vMER in rounds in which it was a target.
    """

    entrant: Entrant
    cells: tuple[Cell | None, ...]
    overall: Cell | None
    trend: Cell | None
    loop: Mapping[int, Rate]


@dataclass(frozen=True)
class Matrix:
    """Lines from best to worst over the columns `data`, all of one `metric`."""

    metric: Measure
    data: tuple[Data, ...]
    lines: tuple[Line, ...]
    discount: float

    @property
    def first(self) -> tuple[Line, ...]:
        """Lines that share the first place overall: those of which the data do not say that another is better."""
        whole = [(line, line.overall) for line in self.lines if line.overall is not None]
        if not whole:
            return ()
        sign = self.metric.direction
        flat = np.ones(REPLICATES)
        drawn = [flat * cell.value if cell.replicates is None else cell.replicates for _line, cell in whole]
        ranks = rank_intervals([sign * cell.value for _line, cell in whole], sign * np.stack(drawn, axis=1))
        return tuple(line for (line, _cell), rank in zip(whole, ranks, strict=True) if rank.group == 1)


def matrix(session: Session, field: Field, metric: Measure, discount: float = 0.0) -> Matrix:
    """The matrix of a task's board. `discount` from 0 to 0.9 is what each older column counts less than the next."""
    scores = known.scores(session, field, field.entrants, field.data, [metric])
    targets = in_the_loop(session, field.config.id)
    return arranged(field, metric, scores, targets, discount)


def arranged(
    field: Field, metric: Measure, scores: Scores, targets: Mapping[Target, Mapping[int, Rate]], discount: float
) -> Matrix:
    """The matrix of these scores; `targets` has vMER by model, in the version that was the target, and round."""
    data = tuple(of for of in field.data if any((each.id, of.id, metric.name) in scores for each in field.entrants))
    recent = recency_weights([of.round is not None for of in data], discount)
    steps = dataset_steps([(of.weight, of.rows) for of in data])
    weights = [step * share for step, share in zip(steps, recent, strict=True)]
    weighed = any(weights)
    lines = []
    for each in field.entrants:
        cells = tuple(scores.get((each.id, of.id, metric.name)) for of in data)
        there = [cell for cell in cells if cell is not None]
        if there:
            whole = known.mean(there, weights) if len(there) == len(cells) and weighed else None
            lines.append(Line(each, cells, whole, trend(data, cells), targets.get((each.model, each.version), {})))
    lines.sort(key=lambda line: (line.overall is None, -metric.direction * (line.overall.value if line.overall else 0)))
    return Matrix(metric, data, tuple(lines), discount)


def trend(data: Sequence[Data], cells: Sequence[Cell | None]) -> Cell | None:
    """The least-squares slope of a model's scores over rounds, per round; None with fewer than two rounds.

    The interval is that of the replicates' slopes: rounds are drawn independently of each other.
    """
    points = [
        (of.round, cell) for of, cell in zip(data, cells, strict=True) if of.round is not None and cell is not None
    ]
    if len(points) < 2:
        return None
    x = np.asarray([number for number, _ in points], float)
    slope = (x - x.mean()) / float(((x - x.mean()) ** 2).sum())
    value, n = float(slope @ [cell.value for _, cell in points]), sum(cell.n for _, cell in points)
    drawn = [cell.replicates for _, cell in points if cell.replicates is not None]
    if len(drawn) < len(points):
        return Cell(value, None, None, n)
    low, high = np.quantile(slope @ np.stack(drawn), [0.025, 0.975])
    return Cell(value, float(low), float(high), n)


def in_the_loop(session: Session, task_id: str) -> dict[Target, dict[int, Rate]]:
    """Each target's own vMER in the rounds against it, by its name and version and the round's number."""
    found: dict[Target, dict[int, Rate]] = {}
    for each in overview.started(session, task_id):
        rates = target_figures.by_target(session, each, statistics.statistics(session, each, by=()).total)
        for target in ((one.model, one.version) for one in each.targets):
            found.setdefault(target, {})[each.number] = rates[target].rates.vmer
    return found
