"""The saturation chart of a task on the first page, with its finding."""

from dataclasses import dataclass

from dynabench.benchmark.leaderboards.saturation_plot import ClosedGap, saturation_plot
from dynabench.kit.language import _, translate
from dynabench.site.home.task_index import TaskLine
from dynabench.stats.averages import saturation
from dynabench.web.charts import LinePlot
from dynabench.web.filters import number


@dataclass(frozen=True)
class SaturationChart:
    """The lines of one task; `closed` are (round, percent of the gap that the best model has closed)."""

    task: str
    name: str
    plot: LinePlot
    closed: tuple[tuple[int, float], ...]

    @property
    def finding(self) -> str:
        """A sentence that sums up the newest and the oldest line."""
        (first, early), (last, late) = self.closed[0], self.closed[-1]
        if first == last:
            return translate(
                _("On round %(n)s the best model has closed %(share)s%% of the gap to people.",
                  n=first, share=number(early))
            )  # fmt: skip
        return translate(
            _("Gap to people closed: %(a)s%% on round %(first)s, %(b)s%% on round %(last)s.",
              a=number(early), first=first, b=number(late), last=last)
        )  # fmt: skip


def saturation_chart(line: TaskLine) -> SaturationChart | None:
    """Return the chart of a task; None where no round has two models that raised the best score."""
    steps = saturation_steps(line)
    plot = saturation_plot(steps)
    if plot is None:
        return None
    closed = tuple((round_number, round(100 * (1 + some[-1].reached))) for round_number, some in steps.items())
    return SaturationChart(line.id, line.name, plot, closed[-len(plot.curves) :])


def saturation_steps(line: TaskLine) -> dict[int, list[ClosedGap]]:
    """Return the rounds with two steps or more, by their numbers."""
    by_round = {}
    for round_number, records in sorted(line.board.records.items()):
        human = line.people_by_round.get(round_number)
        if human is None or human.value is None or len(records) < 2:
            continue
        steps = []
        for entrant, cell in records:
            reached = saturation(cell.value, records[0][1].value, human.value)
            if reached is not None:
                values = {"model": entrant.name, "score": number(100 * cell.value, 1), "n": number(cell.n)}
                text = translate(_("%(model)s: %(score)s, n %(n)s", **values))
                steps.append(ClosedGap(entrant.entered_at, reached, text))
        if len(steps) > 1:
            by_round[round_number] = steps
    return by_round
