"""Two measures against each other: which models no other beats on both."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from dynabench.leaderboards import entrants as known
from dynabench.leaderboards.entrants import Cell, Data, Entrant, Field
from dynabench.leaderboards.weights import dataset_steps
from dynabench.scoring.measures import Measure


@dataclass(frozen=True)
class Point:
    """An entrant's two scores; `dominated` where another is at least as good on both and better on one."""

    entrant: Entrant
    x: Cell
    y: Cell
    dominated: bool


@dataclass(frozen=True)
class Plot:
    """The points of one dataset, or of all (`data` None); `left_out` counts entrants that lack a score."""

    x: Measure
    y: Measure
    data: Data | None
    points: tuple[Point, ...]
    left_out: int


def plot(session: Session, field: Field, x: Measure, y: Measure, data: Data | None = None) -> Plot:
    """All entrants with both scores on `data`, else the means over all datasets by the task's weights."""
    steps = dataset_steps([(each.weight, each.rows) for each in field.data])
    weighed = {each.id: step for each, step in zip(field.data, steps, strict=True) if step}
    chosen = [data] if data is not None else [each for each in field.data if each.id in weighed]
    scores = known.scores(session, field, field.entrants, chosen, [x, y])
    of = [each for each in chosen if any((one.id, each.id, m.name) in scores for one in field.entrants for m in (x, y))]
    weights = [1.0] if data is not None else [float(weighed[each.id]) for each in of]
    found = []
    for each in field.entrants:
        cells = [[scores.get((each.id, one.id, axis.name)) for one in of] for axis in (x, y)]
        if of and all(cell is not None for column in cells for cell in column):
            across, up = (known.mean([cell for cell in column if cell is not None], weights) for column in cells)
            found.append((each, across, up))
    beaten = dominated([(a.value * x.direction, b.value * y.direction) for _, a, b in found])
    points = [Point(*one, out) for one, out in zip(found, beaten, strict=True)]
    points.sort(key=lambda point: (point.dominated, -y.direction * point.y.value))
    return Plot(x, y, data, tuple(points), len(field.entrants) - len(found))


def dominated(points: Sequence[tuple[float, float]]) -> list[bool]:
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
