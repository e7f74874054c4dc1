"""Two measures against each other: which models no other beats on both."""

from collections.abc import Sequence
from dataclasses import dataclass

from dynabench.benchmark.evaluations.measures import Measure
from dynabench.benchmark.standings import Entrant, ScoreCell, ScoredDataset, TaskBoard, mean
from dynabench.benchmark.weights import dataset_steps


@dataclass(frozen=True)
class ParetoPoint:
    """An entrant's two scores; `dominated` where another is at least as good on both and better on one."""

    entrant: Entrant
    x: ScoreCell
    y: ScoreCell
    dominated: bool


@dataclass(frozen=True)
class Plot:
    """The points of one dataset, or of all (`data` None); `left_out` counts entrants that lack a score."""

    x: Measure
    y: Measure
    data: ScoredDataset | None
    points: tuple[ParetoPoint, ...]
    left_out: int


def make_plot(board: TaskBoard, x: Measure, y: Measure, data: ScoredDataset | None = None) -> Plot:
    """Return all entrants with both scores on `data`, else the means over all datasets by the task's weights."""
    steps = dataset_steps([(dataset.weight, dataset.rows) for dataset in board.datasets])
    weights = {dataset.id: float(step) for dataset, step in zip(board.datasets, steps, strict=True) if step}
    if data is not None:
        weights = {data.id: 1.0}
    datasets = [dataset for dataset in board.scored([x, y]) if dataset.id in weights]
    pairs = []
    for entrant in board.entrants:
        cells = [[cell for cell in board.cells(entrant, metric, datasets) if cell is not None] for metric in (x, y)]
        if datasets and all(len(scored) == len(datasets) for scored in cells):
            across, up = (mean(scored, [weights[dataset.id] for dataset in datasets]) for scored in cells)
            pairs.append((entrant, across, up))
    beaten = dominated_points([(across.value * x.direction, up.value * y.direction) for _entrant, across, up in pairs])
    points = [ParetoPoint(*pair, worse) for pair, worse in zip(pairs, beaten, strict=True)]
    points.sort(key=lambda point: (point.dominated, -y.direction * point.y.value))
    return Plot(x, y, data, tuple(points), len(board.entrants) - len(pairs))


def dominated_points(points: Sequence[tuple[float, float]]) -> list[bool]:
    """For each (x, y), more of both being better, whether another point is at least as good on both and better on one.

    Equal points do not dominate each other. One sort and one pass.
    """
    result = [False] * len(points)
    best, best_at = float("-inf"), float("inf")  # the highest y so far, and the highest x that has it
    for at in sorted(range(len(points)), key=lambda at: (-points[at][0], -points[at][1])):
        x, y = points[at]
        result[at] = best > y or (best == y and best_at > x)
        if y > best:
            best, best_at = y, x
    return result
