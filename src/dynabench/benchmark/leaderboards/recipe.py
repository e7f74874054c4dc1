"""The recipe of a board's score as its page shows it: shares, presets, the finding, and columns of rounds."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from sqlalchemy.orm import Session

from dynabench.benchmark.evaluations.measures import ACCURACIES, Measure
from dynabench.benchmark.ranking import BoardRanking, BoardWeights, RankedEntrant, weights_query
from dynabench.benchmark.standings import TaskBoard
from dynabench.collection import boards, overview
from dynabench.kit.language import _, ngettext, translate
from dynabench.stats.rates import FEW_ROWS, UNKNOWN, Rate, wilson
from dynabench.web.filters import number

MAX_NAMED = 3  # models that a headline names
MAX_ROUNDS = 4  # columns of rounds, the newest


@dataclass(frozen=True)
class Preset:
    """Weights under a name; `query` is the address that asks for them, `current` True where the board has them."""

    label: str
    query: str
    current: bool


def presets(board: TaskBoard, weights: BoardWeights, usual: BoardWeights) -> list[Preset]:
    """Return the presets of a board: its own weights, the primary metric alone, and the Dynascore as published."""
    alone = {metric.name: int(metric == board.primary) for metric in board.metrics}
    title = translate(board.primary.title)
    choices = [
        (_("Balanced"), usual),
        (translate(_("%(metric)s only", metric=title)), replace(usual, metrics=alone, form="guarded")),
        (_("As published"), replace(usual, form="exact")),
    ]
    return [
        Preset(label, weights_query(chosen.differing(usual)), chosen.parameters() == weights.parameters())
        for label, chosen in choices
        if len(board.metrics) > 1 or chosen.metrics == usual.metrics
    ]


def metric_shares(board: TaskBoard, weights: BoardWeights) -> list[tuple[Measure, int]]:
    """Return each metric with its share of the score in percent."""
    total = sum(weights.metrics.values()) or 1
    return [(metric, round(100 * weights.metrics[metric.name] / total)) for metric in board.metrics]


def people_by_round(session: Session, board: TaskBoard) -> dict[int, Rate]:
    """Return the accuracy of blind answers in each round that has some, by its number."""
    started = overview.started(session, board.config.id)
    numbers = {round_.id: round_.number for round_ in started}
    sums = session.execute(boards.blind_sums(list(numbers), boards.controls(started)))
    return {numbers[id]: wilson(int(right), int(answers)) for id, answers, right in sums}


def people_accuracy(session: Session, board: TaskBoard) -> Rate:
    """Return the accuracy of blind answers over all rounds; unknown where the primary metric is no accuracy."""
    if board.primary.name not in ACCURACIES:
        return UNKNOWN
    rates = people_by_round(session, board).values()
    return wilson(sum(round((rate.value or 0.0) * rate.n) for rate in rates), sum(rate.n for rate in rates))


def headline(ranking: BoardRanking) -> str:
    """Return the models that lead, as a sentence."""
    ranked = [row for row in ranking.rows if row.rank]
    leaders = [row.entrant.name for row in ranked if row.rank and row.rank.group == 1]
    if not ranked:
        return _("No model ranked yet")
    if len(leaders) == 1:
        if len(ranked) == 1:
            return _("%(model)s is the only ranked model", model=leaders[0])
        return _("%(model)s leads", model=leaders[0])
    if len(leaders) <= MAX_NAMED:
        *others, last = leaders
        return _("%(others)s and %(last)s share the lead", others=", ".join(others), last=last)
    return _("%(few)s of %(all)s models share the lead", few=len(leaders), all=len(ranked))


def distance_to_people(ranking: BoardRanking, human: Rate) -> str:
    """Return a sentence on how far the most accurate model is from people; empty where that is not known."""
    values = [row.cells[0].value for row in ranking.rows if row.cells[0].value is not None]
    if human.value is None or not values:
        return ""
    best, people = max(values), 100 * human.value
    gap = round(people) - round(best)
    name, figures = translate(ranking.board.primary.title), {"best": number(best), "people": number(people)}
    if gap <= 0:
        return translate(_("%(metric)s of the best model is %(best)s, no lower than people’s (%(people)s).",
                           metric=name, **figures))  # fmt: skip
    return translate(
        ngettext("%(metric)s of the best model is %(best)s, %(num)s point behind people (%(people)s).",
                 "%(metric)s of the best model is %(best)s, %(num)s points behind people (%(people)s).",
                 gap, metric=name, **figures)
    )  # fmt: skip


@dataclass(frozen=True)
class RoundColumn:
    """The primary metric on one round, or on all suites together; `values` by place of the row, NaN where unknown."""

    label: str
    title: str
    rows: int
    values: tuple[float, ...]

    @property
    def few(self) -> bool:
        """True where the values say little."""
        return self.rows < FEW_ROWS

    def heat(self, row: RankedEntrant) -> int:
        """Return the step of the shade from 0 to 10, 0 where there is nothing to shade."""
        value = self.values[row.place]
        return 0 if value != value else max(0, min(10, round(value / 10)))


def round_columns(board: TaskBoard) -> list[RoundColumn]:
    """Return the newest rounds by number, then the suites together; none for hidden data, which has a column nowhere.

    Only for metrics from 0 to 100: shades stand for shares.
    """
    if board.primary.scale != 100:
        return []
    open_data = [at for at, data in enumerate(board.datasets) if not data.disclosure.hidden]
    numbered = [at for at in open_data if board.datasets[at].round is not None and board.measured[at, 0]]
    suites = [at for at in open_data if board.datasets[at].round is None and board.measured[at, 0]]
    columns = [
        RoundColumn(
            translate(_("Round %(n)s", n=board.datasets[at].round)), board.datasets[at].title, board.datasets[at].rows,
            tuple(board.values[:, at, 0].tolist()),
        )
        for at in numbered[-MAX_ROUNDS:]
    ]  # fmt: skip
    if suites and (numbered or len(suites) > 1):
        values: Sequence[float] = np.mean(board.values[:, suites, 0], axis=1).tolist()
        titles = ", ".join(board.datasets[at].title for at in suites)
        rows = sum(board.datasets[at].rows for at in suites)
        columns.append(RoundColumn(translate(_("Suites")), titles, rows, tuple(values)))
    return columns
