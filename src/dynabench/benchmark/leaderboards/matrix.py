"""Models by rounds and datasets: progress and forgetting at once, with a mean that may discount older rounds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy.orm import Session

from dynabench.benchmark.evaluations.measures import REPLICATES, Measure
from dynabench.benchmark.standings import Entrant, ScoreCell, ScoredDataset, TaskBoard, combination, mean
from dynabench.benchmark.weights import dataset_steps
from dynabench.collection import overview, statistics, target_figures
from dynabench.collection.target_figures import Target
from dynabench.stats.averages import recency_weights
from dynabench.stats.ranks import rank_intervals
from dynabench.stats.rates import Rate


@dataclass(frozen=True)
class MatrixLine:
    """An entrant's cells, None where it has no score; `overall` is None unless it has all that anybody has.

    `trend` is the slope over rounds, a change per round; `loop` has its own vMER in rounds in which it was a target.
    """

    entrant: Entrant
    cells: tuple[ScoreCell | None, ...]
    overall: ScoreCell | None
    trend: ScoreCell | None
    loop: Mapping[int, Rate]


@dataclass(frozen=True)
class Matrix:
    """Lines from best to worst over the columns `data`, all of one `metric`."""

    metric: Measure
    data: tuple[ScoredDataset, ...]
    lines: tuple[MatrixLine, ...]
    discount: float

    @property
    def first(self) -> tuple[MatrixLine, ...]:
        """Lines that share the first place overall: those of which the data do not say that another is better."""
        whole = [(line, line.overall) for line in self.lines if line.overall is not None]
        if not whole:
            return ()
        sign = self.metric.direction
        flat = np.ones(REPLICATES)
        drawn = [flat * cell.value if cell.replicates is None else cell.replicates for _line, cell in whole]
        ranks = rank_intervals([sign * cell.value for _line, cell in whole], sign * np.stack(drawn, axis=1))
        return tuple(line for (line, _cell), rank in zip(whole, ranks, strict=True) if rank.group == 1)


def make_matrix(session: Session, board: TaskBoard, metric: Measure, discount: float = 0.0) -> Matrix:
    """Return the matrix of a board. `discount` from 0 to 0.9 is what each older round counts less than the next."""
    targets = target_rates(session, board.config.id)
    data = board.scored([metric])
    recent = recency_weights([dataset.round is not None for dataset in data], discount)
    steps = dataset_steps([(dataset.weight, dataset.rows) for dataset in data])
    weights = [step * share for step, share in zip(steps, recent, strict=True)]
    lines = []
    for entrant in board.entrants:
        cells = board.cells(entrant, metric, data)
        scored = [cell for cell in cells if cell is not None]
        if scored:
            overall = mean(scored, weights) if len(scored) == len(cells) and any(weights) else None
            loop = targets.get((entrant.model, entrant.version), {})
            lines.append(MatrixLine(entrant, cells, overall, trend(data, cells), loop))
    lines.sort(key=lambda line: (line.overall is None, -metric.direction * (line.overall.value if line.overall else 0)))
    return Matrix(metric, data, tuple(lines), discount)


def trend(data: Sequence[ScoredDataset], cells: Sequence[ScoreCell | None]) -> ScoreCell | None:
    """Return the least-squares slope of a model's scores over rounds, per round; None with fewer than two rounds.

    The interval is that of the replicates' slopes: rounds are drawn independently of each other.
    """
    points = [
        (dataset.round, cell)
        for dataset, cell in zip(data, cells, strict=True)
        if dataset.round is not None and cell is not None
    ]
    if len(points) < 2:
        return None
    x = np.asarray([number for number, _cell in points], float)
    slope = (x - x.mean()) / float(((x - x.mean()) ** 2).sum())
    return combination([cell for _number, cell in points], slope)


def target_rates(session: Session, task_id: str) -> dict[Target, dict[int, Rate]]:
    """Return each target's own vMER in the rounds against it, by its name and version and the round's number."""
    loops: dict[Target, dict[int, Rate]] = {}
    for started in overview.started(session, task_id):
        rates = target_figures.by_target(session, started, statistics.statistics(session, started, by=()).total)
        for target in started.targets:
            key = (target.model, target.version)
            loops.setdefault(key, {})[started.number] = rates[key].rates.vmer
    return loops
