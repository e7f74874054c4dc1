"""The saturation chart: how far the best model is from people, round by round, over time.

After Kiela and others (Dynabench, NAACL 2021, figure 1): the first model of a round stands at -100%, people at 0.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from dynabench.kit.language import _, translate
from dynabench.site.home.task_index import TaskLine
from dynabench.stats.averages import saturation
from dynabench.web.filters import day, number

WIDTH, HEIGHT = 500, 260
START, END, TOP, BOTTOM = 46, 424, 16, 226
MOST, LEAST = 0.15, -1.0
MAX_ROUNDS = 6  # as many as there are colours for
LABEL_GAP = 13  # between the names of two lines


@dataclass(frozen=True)
class RoundCurve:
    """The best model of a round over time; `points` are (x, y, text), `label` stands at (END, `label_y`)."""

    round: int
    points: tuple[tuple[float, float, str], ...]
    label_y: float
    last: float

    @property
    def path(self) -> str:
        """The points of the line, which holds its height up to the right end."""
        places = [*((x, y) for x, y, _text in self.points), (END, self.points[-1][1])]
        return " ".join(f"{x},{y}" for x, y in places)


@dataclass(frozen=True)
class SaturationChart:
    """The curves of one task with the ticks of the axis of time, (x, text)."""

    task: str
    name: str
    curves: tuple[RoundCurve, ...]
    ticks: tuple[tuple[float, str], ...]

    @property
    def finding(self) -> str:
        """A sentence that sums up the newest and the oldest curve."""
        first, last = self.curves[0], self.curves[-1]
        if first is last:
            return translate(
                _("On round %(n)s the best model has closed %(share)s%% of the gap to people.",
                  n=first.round, share=closed_share(first))
            )  # fmt: skip
        return translate(
            _("Gap to people closed: %(a)s%% on round %(first)s, %(b)s%% on round %(last)s.",
              a=closed_share(first), first=first.round, b=closed_share(last), last=last.round)
        )  # fmt: skip


def closed_share(curve: RoundCurve) -> str:
    """Return the percent of the first model's gap that the best one has closed."""
    return number(round(100 * (1 + curve.last)))


def saturation_chart(line: TaskLine) -> SaturationChart | None:
    """Return the chart of a task; None where no round has two models that raised the best score."""
    steps = dict(saturation_steps(line))
    if not steps:
        return None
    times = [at for some in steps.values() for at, _reached, _text in some]
    first, last = min(times), max(times)
    if last - first < timedelta(minutes=1):
        return None
    last += (last - first) / 20
    curves = []
    for number_, some in list(steps.items())[-MAX_ROUNDS:]:
        points = tuple((x_of(at, first, last), y_of(reached), text) for at, reached, text in some)
        curves.append(RoundCurve(number_, points, points[-1][1], some[-1][1]))
    return SaturationChart(line.id, line.name, tuple(spread_labels(curves)), tuple(time_ticks(first, last)))


def saturation_steps(line: TaskLine) -> Iterator[tuple[int, list[tuple[datetime, float, str]]]]:
    """Yield each round with its steps: the time, the place from -1 to 0, and the model with its score."""
    for number_, records in sorted(line.board.records.items()):
        human = line.people_by_round.get(number_)
        if human is None or human.value is None or len(records) < 2:
            continue
        steps = []
        for entrant, cell in records:
            reached = saturation(cell.value, records[0][1].value, human.value)
            if reached is not None:
                values = {"model": entrant.name, "score": number(100 * cell.value, 1), "n": number(cell.n)}
                steps.append((entrant.entered_at, reached, translate(_("%(model)s: %(score)s, n %(n)s", **values))))
        if len(steps) > 1:
            yield number_, steps


def x_of(at: datetime, first: datetime, last: datetime) -> float:
    """Return the place of a moment from left to right."""
    return round(START + (END - START) * ((at - first) / (last - first)), 1)


def y_of(value: float) -> float:
    """Return the place of a saturation from the top."""
    drawn_value = min(max(value, LEAST), MOST)
    return round(TOP + (BOTTOM - TOP) * (MOST - drawn_value) / (MOST - LEAST), 1)


def spread_labels(curves: Sequence[RoundCurve]) -> list[RoundCurve]:
    """Return the curves with labels that do not stand on each other, in the order of rounds."""
    spread, above = {}, float("-inf")
    for curve in sorted(curves, key=lambda curve: curve.points[-1][1]):
        above = max(curve.points[-1][1] + 4, above + LABEL_GAP)
        spread[curve.round] = RoundCurve(curve.round, curve.points, round(above, 1), curve.last)
    return [spread[curve.round] for curve in curves]


def time_ticks(first: datetime, last: datetime) -> Iterator[tuple[float, str]]:
    """Yield four moments with texts as exact as the span needs."""
    span, texts = last - first, set()
    for part in range(4):
        at = first + span * part / 3
        text = f"{at:%Y}" if span > timedelta(days=1500) else day(at.date().isoformat())
        if span < timedelta(days=3):
            text = f"{at:%H:%M}"
        if text not in texts:
            texts.add(text)
            yield x_of(at, first, last), text
