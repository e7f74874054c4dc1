"""People on the board: how often they answer right where models are tried, and how far models are behind.

Human accuracy comes from blind answers (`collection.statistics`). The gap to a round's targets is taken on the same
items; that to the best model, on the dataset that the round was released as, whose items are most of the same.

Saturation follows Kiela and others (Dynabench, NAACL 2021, figure 1): the first model stands at -1, people at 0.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from math import sqrt

from sqlalchemy.orm import Session

from dynabench.benchmark.evaluations.measures import Measure
from dynabench.benchmark.standings import Entrant, ScoreCell, ScoredDataset, TaskBoard
from dynabench.collection import overview
from dynabench.collection.statistics import statistics
from dynabench.rounds.tables import Round
from dynabench.stats.averages import saturation
from dynabench.stats.rates import UNKNOWN, Rate

ACCURACIES = ("accuracy", "exact_match")
"""Primary metrics that are shares of right answers, as human accuracy is one."""


@dataclass(frozen=True)
class SaturationStep:
    """The best model of a round's dataset when it was entered: its score, and where that lies from -1 to 0."""

    entrant: Entrant
    at: datetime
    score: float
    saturation: float


@dataclass(frozen=True)
class PeopleAndModels:
    """People beside the models of one round. `gap` is to its targets, `behind` to the `best` entrant.

    `steps` are empty where people's accuracy is not known, or no better than the first model's.
    """

    round: int
    data: ScoredDataset | None
    human: Rate
    gap: Rate
    best: Entrant | None
    score: ScoreCell | None
    behind: Rate
    steps: tuple[SaturationStep, ...]


def people_and_models(session: Session, board: TaskBoard) -> list[PeopleAndModels]:
    """Return people and models for each round of the task, oldest first."""
    metric = board.primary
    datasets = {dataset.round: dataset for dataset in board.datasets if dataset.round is not None}
    rows = []
    for started in reversed(overview.started(session, board.config.id)):
        data = datasets.get(started.number)
        scores = [
            (entrant, cell)
            for entrant in board.entrants
            if data is not None and (cell := board.cell(entrant, data, metric)) is not None
        ]
        rows.append(_people_in_round(session, started, data, scores, metric))
    return rows


def _people_in_round(
    session: Session, of: Round, data: ScoredDataset | None, mine: Sequence[tuple[Entrant, ScoreCell]], metric: Measure
) -> PeopleAndModels:
    said = statistics(session, of, by=())
    human = said.human_accuracy
    best, score = max(mine, key=lambda pair: metric.direction * pair[1].value, default=(None, None))
    alike = metric.name in ACCURACIES
    behind = accuracy_difference(human, score) if alike and score is not None else UNKNOWN
    steps = saturation_steps(human.value, mine) if alike else ()
    return PeopleAndModels(of.number, data, human, said.human_model_gap, best, score, behind, steps)


def accuracy_difference(human: Rate, score: ScoreCell) -> Rate:
    """Human accuracy minus a model's, from the limits of both (Zou and Donner 2008, taken as independent)."""
    if human.value is None or human.low is None or human.high is None or score.low is None or score.high is None:
        return UNKNOWN
    value = human.value - score.value
    low = value - sqrt((human.value - human.low) ** 2 + (score.high - score.value) ** 2)
    high = value + sqrt((human.high - human.value) ** 2 + (score.value - score.low) ** 2)
    return Rate(value, max(low, -1.0), min(high, 1.0), human.n)


def saturation_steps(human: float | None, scores: Sequence[tuple[Entrant, ScoreCell]]) -> tuple[SaturationStep, ...]:
    """The best score so far, whenever it rose, as (score - human) / (human - first); none unless human > first."""
    ordered = sorted(scores, key=lambda pair: (pair[0].entered_at, pair[0].id))
    if human is None:
        return ()
    best, steps = float("-inf"), list[SaturationStep]()
    for entrant, cell in ordered:
        reached = saturation(cell.value, ordered[0][1].value, human)
        if reached is not None and cell.value > best:
            best = cell.value
            steps.append(SaturationStep(entrant, entrant.entered_at, best, reached))
    return tuple(steps)
