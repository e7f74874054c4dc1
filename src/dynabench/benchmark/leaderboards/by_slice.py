"""Models by the slices of one dataset: by pair of languages, by phenomenon, by whatever tags its rows carry."""

from dataclasses import dataclass

from sqlalchemy.orm import Session

from dynabench.benchmark.evaluations.measures import Measure
from dynabench.benchmark.reading import read_slices
from dynabench.benchmark.standings import Entrant, ScoreCell, ScoredDataset, TaskBoard

MAX_SLICE_COLUMNS = 60
"""Slices that stand side by side, the largest."""


@dataclass(frozen=True)
class SliceLine:
    """An entrant's score on the whole, and on each slice; None where it has none."""

    entrant: Entrant
    whole: ScoreCell | None
    cells: tuple[ScoreCell | None, ...]


@dataclass(frozen=True)
class BySlice:
    """Lines from best to worst over the slices `tags`; `best` are the values that nobody exceeds, by slice."""

    metric: Measure
    data: ScoredDataset
    tags: tuple[str, ...]
    rows: tuple[int, ...]
    best: tuple[float, ...]
    lines: tuple[SliceLine, ...]
    others: int


def compare_slices(session: Session, board: TaskBoard, data: ScoredDataset, name: str = "") -> BySlice:
    """Return each entrant's score on each slice of `data` that may be shown, in the order of their sizes.

    By default of the first metric that slices have: where answers are labels, that is accuracy. Raises `NotFound`.
    """
    metric = board.metric(name)
    scores = read_slices(session, board, board.entrants, data, metric)
    for other in () if name or scores else board.metrics[1:]:
        if others := read_slices(session, board, board.entrants, data, other):
            metric, scores = other, others
            break
    sizes = {tag: cell.n for (_id, tag), cell in scores.items()}
    ordered = sorted(sizes, key=lambda tag: (-sizes[tag], tag))
    tags = tuple(ordered[:MAX_SLICE_COLUMNS])
    lines = [
        SliceLine(entrant, board.cell(entrant, data, metric), tuple(scores.get((entrant.id, tag)) for tag in tags))
        for entrant in board.entrants
    ]
    scored = [line for line in lines if any(line.cells)]
    scored.sort(key=lambda line: (line.whole is None, -metric.direction * (line.whole.value if line.whole else 0)))
    best = tuple(
        metric.direction * max(metric.direction * cell.value for line in scored if (cell := line.cells[at]))
        for at in range(len(tags))
    )
    return BySlice(metric, data, tags, tuple(sizes[tag] for tag in tags), best, tuple(scored), len(ordered) - len(tags))
