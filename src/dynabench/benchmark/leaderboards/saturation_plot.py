"""The lines of saturation: how far the best model is from people, round by round, over time.

After Kiela and others (Dynabench, NAACL 2021, figure 1): the first model of a round stands at -100%, people at 0.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from dynabench.kit.language import _, translate
from dynabench.web.charts import Curve, LinePlot, spread_labels
from dynabench.web.filters import day

TOP, BOTTOM = 16.0, 226.0
MOST, LEAST = 0.15, -1.0
MAX_ROUNDS = 6  # as many as there are colours for


@dataclass(frozen=True)
class ClosedGap:
    """The best model so far on a round: when it was entered, how far it is from people (-1 to 0), and words for it."""

    at: datetime
    reached: float
    text: str


def saturation_plot(steps: Mapping[int, Sequence[ClosedGap]]) -> LinePlot | None:
    """Return the lines of rounds by their numbers; None where no round has two steps at different times."""
    lines = {round_number: some for round_number, some in sorted(steps.items()) if len(some) > 1}
    times = [step.at for some in lines.values() for step in some]
    if not times or max(times) - min(times) < timedelta(minutes=1):
        return None
    first, last = min(times), max(times)
    last += (last - first) / 20
    shown_lines = list(lines.items())[-MAX_ROUNDS:]
    curves = []
    for place, (round_number, some) in enumerate(shown_lines):
        points = tuple((_across(step.at, first, last), _height(step.reached), step.text) for step in some)
        name = translate(_("round %(n)s", n=round_number))
        curves.append(Curve(name, points, f"m{(len(shown_lines) - place - 1) % MAX_ROUNDS + 1}", extended=True))
    heights = ((_height(-part / 4), f"\N{MINUS SIGN}{25 * part}%") for part in range(1, 5))
    return LinePlot(
        tuple(spread_labels(curves, BOTTOM)),
        tuple(_time_ticks(first, last)),
        tuple(heights),
        people=_height(0.0),
        top=TOP,
        bottom=BOTTOM,
    )


def sample_plot() -> LinePlot:
    """Return lines without data, which show what the chart will look like."""
    shapes = {
        1: ((28.0, 226.0), (42.0, 152.0), (58.0, 96.0), (76.0, 72.0), (100.0, 62.0)),
        2: ((49.0, 226.0), (65.0, 186.0), (81.0, 150.0), (100.0, 138.0)),
        3: ((75.0, 226.0), (88.0, 214.0), (100.0, 205.0)),
    }
    curves = tuple(
        Curve("", tuple((x, y, "") for x, y in points), f"m{place}", label_y=points[-1][1])
        for place, points in shapes.items()
    )
    heights = tuple((_height(-part / 4), f"\N{MINUS SIGN}{25 * part}%") for part in range(1, 5))
    return LinePlot(curves, (), heights, people=_height(0.0), top=TOP, bottom=BOTTOM)


def _across(at: datetime, first: datetime, last: datetime) -> float:
    return round(100 * ((at - first) / (last - first)), 2)


def _height(reached: float) -> float:
    drawn = min(max(reached, LEAST), MOST)
    return round(TOP + (BOTTOM - TOP) * (MOST - drawn) / (MOST - LEAST), 1)


def _time_ticks(first: datetime, last: datetime) -> Iterator[tuple[float, str]]:
    """Yield four moments with texts as exact as the span needs."""
    span, texts = last - first, set()
    for part in range(4):
        at = first + span * part / 3
        text = f"{at:%Y}" if span > timedelta(days=1500) else day(at.date().isoformat())
        if span < timedelta(days=3):
            text = f"{at:%H:%M}"
        if text not in texts:
            texts.add(text)
            yield _across(at, first, last), text
