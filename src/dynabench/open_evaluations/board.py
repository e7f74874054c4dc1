"""The board of an open evaluation: models by metric with intervals, and paired differences of models."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy.orm import Session

from dynabench.benchmark.evaluations.measures import unpack_replicates
from dynabench.evaluate import loading
from dynabench.open_evaluations import queries
from dynabench.open_evaluations.published_metrics import PREFIX, is_published
from dynabench.open_evaluations.service import VisibleEvaluation
from dynabench.open_evaluations.tables import OpenEvaluationModel, OpenScore


@dataclass(frozen=True)
class BoardColumn:
    """One number of one metric.

    `better` is empty where the metric's card does not say which direction is better; `best` is the best possible value,
    None where there is none.
    """

    metric: str
    key: str
    better: str
    title: str
    best: float | None = None

    @property
    def name(self) -> str:
        """The title in words."""
        return self.title.replace("_", " ")


@dataclass(frozen=True)
class BoardLine:
    """One model with its scores in the order of the columns; None where a metric has no number for it."""

    model: OpenEvaluationModel
    scores: Sequence[OpenScore | None]


@dataclass(frozen=True)
class PairedDifference:
    """The first model's score minus the second's, with its 95 % interval over the same samples of rows.

    `differs` says that the interval does not contain 0.
    """

    first: str
    second: str
    value: float
    low: float
    high: float

    @property
    def differs(self) -> bool:
        """True where the rows are enough to tell the two models apart."""
        return self.low > 0 or self.high < 0


@dataclass(frozen=True)
class OpenBoard:
    """The board, sorted by its `main` column, the best model first."""

    columns: Sequence[BoardColumn]
    lines: Sequence[BoardLine]
    pairs: Sequence[PairedDifference]
    main: int = 0

    @property
    def scored(self) -> Sequence[BoardLine]:
        """The models that have a score in the main column, the best first."""
        return [line for line in self.lines if line.scores and line.scores[self.main] is not None]

    @property
    def leaders(self) -> Sequence[BoardLine]:
        """The models with the best score: several where they tie exactly."""
        values = [(line, score.value) for line in self.lines if line.scores and (score := line.scores[self.main])]
        return [line for line, value in values if value == values[0][1]]

    @property
    def leading_pair(self) -> PairedDifference | None:
        """The comparison of the best model with the second; None where the metric allows none."""
        names = tuple(line.model.name for line in self.scored[:2])
        return next((pair for pair in self.pairs[:1] if (pair.first, pair.second) == names), None)


def read_board(session: Session, seen: VisibleEvaluation, by: str = "") -> OpenBoard:
    """Return the board, sorted by the column whose title is `by`, by default the first."""
    return make_board(seen.models, session.scalars(queries.scores_of(seen.evaluation.id)).all(), by)


def make_board(models: Sequence[OpenEvaluationModel], scores: Sequence[OpenScore], by: str = "") -> OpenBoard:
    """Return the board of models with these scores, in the order of their metrics."""
    columns = list(dict.fromkeys(column_of(score) for score in scores))
    main = next((at for at, column in enumerate(columns) if column.title == by), 0)
    by_place = {(score.model, score.metric, score.key): score for score in scores}
    lines = [
        BoardLine(model, [by_place.get((model.number, column.metric, column.key)) for column in columns])
        for model in models
    ]
    if not columns:
        return OpenBoard(columns, lines, [])
    sign = -1 if columns[main].better == "lower" else 1
    lines.sort(key=lambda line: _sort_value(line.scores[main], sign))
    return OpenBoard(columns, lines, list(_pairs(lines, main)), main)


def _sort_value(score: OpenScore | None, sign: int) -> float:
    return float("inf") if score is None else -sign * score.value


def column_of(score: OpenScore) -> BoardColumn:
    """Return the column of a board in which a score stands."""
    name, _blank, options = score.metric.partition(" ")
    if is_published(name):
        title = f"{name.removeprefix(PREFIX)} {score.key} {options}".strip()
        return BoardColumn(score.metric, score.key, score.better, title)
    outputs = loading.find_module(name).card.outputs
    output = next((output for output in outputs if output.name == score.key and output.better), None)
    title = (score.key if score.key == name else f"{name} {score.key}") + f" {options}"
    title = title.strip().replace("average=", "")
    if output is None:
        return BoardColumn(score.metric, score.key, "", title)
    best = output.low if output.better == "lower" else output.high
    return BoardColumn(score.metric, score.key, output.better or "", title, best)


def _pairs(lines: Sequence[BoardLine], main: int) -> Iterator[PairedDifference]:
    for at, line in enumerate(lines):
        for other in lines[at + 1 :]:
            first, second = line.scores[main], other.scores[main]
            if first is None or second is None or not (first.replicates and second.replicates) or first.n != second.n:
                continue
            drawn = unpack_replicates(first.replicates) - unpack_replicates(second.replicates)
            low, high = (float(end) for end in np.quantile(drawn, [0.025, 0.975]))
            yield PairedDifference(line.model.name, other.model.name, first.value - second.value, low, high)
