"""Models by the slices of one dataset: by pair of languages, by phenomenon, by whatever tags its rows carry."""

from dataclasses import dataclass

from sqlalchemy.orm import Session

from dynabench.leaderboards import entrants as known
from dynabench.leaderboards.entrants import Cell, Data, Entrant, Field
from dynabench.scoring.measures import Measure

MOST = 60
"""Slices that stand side by side, the largest."""


@dataclass(frozen=True)
class Line:
    """An entrant's score on the whole, and on each slice; None where it has none."""

    entrant: Entrant
    whole: Cell | None
    cells: tuple[Cell | None, ...]


@dataclass(frozen=True)
class BySlice:
    """Lines from best to worst over the slices `tags`; `best` are the values that nobody exceeds, by slice."""

    metric: Measure
    data: Data
    tags: tuple[str, ...]
    rows: tuple[int, ...]
    best: tuple[float, ...]
    lines: tuple[Line, ...]
    others: int


def sliced(field: Field) -> list[Data]:
    """The datasets whose rows carry tags."""
    return [each for each in field.data if each.slices]


def board(session: Session, field: Field, of: Data, wanted: str = "") -> BySlice:
    """What each entrant scored on each slice of `of` that may be shown, in the order of their sizes.

    By default of the first metric that slices have: where answers are labels, that is accuracy. Raises `NotFound`.
    """
    metric = field.metric(wanted)
    found = known.slices(session, field, field.entrants, of, metric)
    for other in () if wanted or found else field.metrics[1:]:
        if some := known.slices(session, field, field.entrants, of, other):
            metric, found = other, some
            break
    sizes = {tag: cell.n for (_, tag), cell in found.items()}
    ordered = sorted(sizes, key=lambda tag: (-sizes[tag], tag))
    tags = tuple(ordered[:MOST])
    wholes = known.scores(session, field, field.entrants, [of], [metric])
    lines = [
        Line(each, wholes.get((each.id, of.id, metric.name)), tuple(found.get((each.id, tag)) for tag in tags))
        for each in field.entrants
    ]
    scored = [line for line in lines if any(line.cells)]
    scored.sort(key=lambda line: (line.whole is None, -metric.direction * (line.whole.value if line.whole else 0)))
    best = tuple(
        metric.direction * max(metric.direction * cell.value for line in scored if (cell := line.cells[at]))
        for at in range(len(tags))
    )
    return BySlice(metric, of, tags, tuple(sizes[tag] for tag in tags), best, tuple(scored), len(ordered) - len(tags))
