"""The chart of two measures: points with intervals, a logarithmic axis for costs, the Pareto front as a step line."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import ceil, floor, log10

from dynabench.benchmark.evaluations.measures import ACCURACIES, Measure
from dynabench.benchmark.leaderboards.board_views import ParetoPoint, Plot
from dynabench.benchmark.standings import ScoreCell
from dynabench.stats.rates import Rate
from dynabench.web.filters import number
from dynabench.web.label_placement import LINE, LabelBox, PlacedName, PointName, place_names

START, END = 0, 100  # percent of the width
TOP, BOTTOM = 16, 330  # pixels
LOGARITHMIC = 10.0  # ratio of the largest to the least cost from which on its axis is logarithmic
PEOPLE_NAME = 60.0  # pixels of the word that stands at the line of people


@dataclass(frozen=True)
class Axis:
    """Numbers from `low` to `high`, in the metric's unit; `ticks` are (place, text)."""

    low: float
    high: float
    logarithmic: bool
    first: float
    last: float

    def place(self, value: float) -> float:
        """Return the place of a number between `first` and `last`."""
        low, high, value = (log10(x) if self.logarithmic else x for x in (self.low, self.high, max(value, self.low)))
        return round(self.first + (self.last - self.first) * min(1.0, (value - low) / (high - low)), 1)

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """Whole powers of ten, or five even steps."""
        if self.logarithmic:
            powers = range(round(log10(self.low)), round(log10(self.high)) + 1)
            return [(self.place(10.0**power), number(10.0**power, max(0, -power))) for power in powers]
        steps = [self.low + (self.high - self.low) * part / 5 for part in range(6)]
        digits = 0 if self.high - self.low >= 5 else 2
        return [(self.place(step), number(step, digits)) for step in steps]


@dataclass(frozen=True)
class PlacedPoint:
    """A model's place, the ends of its intervals (None where unknown), and its name (None where there is no room)."""

    point: ParetoPoint
    x: float
    y: float
    across: tuple[float, float] | None
    up: tuple[float, float] | None
    name: PlacedName | None = None


@dataclass(frozen=True)
class TradeOffChart:
    """All that the template draws: `front` are the points of the step line, `people` is the height of people.

    `unnamed` counts points whose names have no room.
    """

    x: Axis
    y: Axis
    points: tuple[PlacedPoint, ...]
    front: str
    people: float | None
    unnamed: int


def trade_off_chart(plot: Plot, human: Rate) -> TradeOffChart | None:
    """Return the chart of a plot; None with fewer than two models, which no line of two axes is worth."""
    if len(plot.points) < 2:
        return None
    people = 100 * human.value if human.value is not None and plot.y.name in ACCURACIES else None
    x = make_axis(plot.x, [point.x for point in plot.points], START, END)
    y = make_axis(plot.y, [point.y for point in plot.points], BOTTOM, TOP)
    people_y = y.place(people) if people is not None else None
    placed = name_points([_place(point, plot, x, y) for point in plot.points], people_y)
    unnamed = sum(point.name is None for point in placed)
    return TradeOffChart(x, y, tuple(placed), step_line(placed, plot), people_y, unnamed)


def make_axis(metric: Measure, cells: Sequence[ScoreCell], first: float, last: float) -> Axis:
    """Return an axis on which all values have a place: 0 to 100 for shares, powers of ten for costs far apart."""
    values = [cell.value * metric.scale for cell in cells]
    least, most = min(values), max(values)
    if metric.scale == 100:
        return Axis(0.0, 100.0, False, first, last)
    if metric.cost and least > 0 and most / least >= LOGARITHMIC:
        return Axis(10.0 ** floor(log10(least)), 10.0 ** ceil(log10(most)), True, first, last)
    low = min(0.0, least)
    return Axis(low, most * 1.1 if most > low else low + 1, False, first, last)


def _place(point: ParetoPoint, plot: Plot, x: Axis, y: Axis) -> PlacedPoint:
    across, up = (
        (axis.place(cell.low * metric.scale), axis.place(cell.high * metric.scale))
        if cell.low is not None and cell.high is not None and cell.low != cell.high
        else None
        for axis, cell, metric in ((x, point.x, plot.x), (y, point.y, plot.y))
    )
    at = x.place(point.x.value * plot.x.scale), y.place(point.y.value * plot.y.scale)
    return PlacedPoint(point, *at, across, up)


def name_points(points: Sequence[PlacedPoint], people_y: float | None = None) -> list[PlacedPoint]:
    """Return the points from the top with their names; those on the front have the first choice of a place."""
    ordered = sorted(points, key=lambda point: (point.point.dominated, point.y, point.x, point.point.entrant.label))
    word = [] if people_y is None else [LabelBox(0, 6, PEOPLE_NAME, people_y - 6 - LINE, people_y - 3)]
    points_with_names = [PointName(point.x, point.y, point.point.entrant.label) for point in ordered]
    names = place_names(points_with_names, 0, BOTTOM, word)
    named = [replace(point, name=name) for point, name in zip(ordered, names, strict=True)]
    return sorted(named, key=lambda point: point.y)


def step_line(points: Sequence[PlacedPoint], plot: Plot) -> str:
    """Return the front as points of a line in steps: along the first axis, then along the second."""
    front = sorted((point for point in points if not point.point.dominated), key=lambda point: point.x)
    places = [(front[0].x, front[0].y)] if front else []
    for before, after in pairwise(front):
        corner = (after.x, before.y) if plot.x.direction < 0 else (before.x, after.y)
        places += [corner, (after.x, after.y)]
    return " ".join(f"{x},{y}" for x, y in places)
