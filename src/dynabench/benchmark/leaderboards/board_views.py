"""The views of a board: models by rounds, by slices, by two measures, and beside people.

The matrix shows progress and forgetting at once, with a mean that may discount older rounds. Human accuracy comes from
blind answers (`collection.statistics`); the gap to a round's targets is taken on the same items, that to the best model
on the dataset that the round was released as, whose items are most of the same. Saturation follows Kiela and others
(Dynabench, NAACL 2021, figure 1): the first model stands at -1, people at 0.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import sqrt

import numpy as np
from sqlalchemy.orm import Session

from dynabench.benchmark.evaluations.measures import ACCURACIES, REPLICATES, Measure
from dynabench.benchmark.leaderboards.recipe import people_by_round
from dynabench.benchmark.ranking import dataset_steps
from dynabench.benchmark.reading import read_board, read_slices
from dynabench.benchmark.standings import Entrant, ScoreCell, ScoredDataset, TaskBoard, combination, mean
from dynabench.collection import overview, statistics
from dynabench.collection.statistics import Target
from dynabench.insight.data_measurements.results import Kind, ResultColumn, Table, make_columns
from dynabench.kit.language import _
from dynabench.people.accounts.tables import Person
from dynabench.rounds.tables import Round
from dynabench.stats.averages import recency_weights, saturation
from dynabench.stats.ranks import rank_intervals
from dynabench.stats.rates import UNKNOWN, Rate


@dataclass(frozen=True)
class MatrixLine:
    """An entrant's cells, None where it has no score; `overall` is None unless it has all that anybody has.

    `trend` is the slope over rounds, a change per round; `loop` has its own vMER in rounds in which it was a target.
    """

    entrant: Entrant
    cells: tuple[ScoreCell | None, ...]
    overall: ScoreCell | None
    trend: ScoreCell | None
    loop: Mapping[int, Rate]


@dataclass(frozen=True)
class Matrix:
    """Lines from best to worst over the columns `data`, all of one `metric`."""

    metric: Measure
    data: tuple[ScoredDataset, ...]
    lines: tuple[MatrixLine, ...]
    discount: float

    @property
    def first(self) -> tuple[MatrixLine, ...]:
        """Lines that share the first place overall: those of which the data do not say that another is better."""
        whole = [(line, line.overall) for line in self.lines if line.overall is not None]
        if not whole:
            return ()
        sign = self.metric.direction
        flat = np.ones(REPLICATES)
        drawn = [flat * cell.value if cell.replicates is None else cell.replicates for _line, cell in whole]
        ranks = rank_intervals([sign * cell.value for _line, cell in whole], sign * np.stack(drawn, axis=1))
        return tuple(line for (line, _cell), rank in zip(whole, ranks, strict=True) if rank.group == 1)


def make_matrix(session: Session, board: TaskBoard, metric: Measure, discount: float = 0.0) -> Matrix:
    """Return the matrix of a board. `discount` from 0 to 0.9 is what each older round counts less than the next."""
    targets = target_rates(session, board.config.id)
    data = board.scored([metric])
    recent = recency_weights([dataset.round is not None for dataset in data], discount)
    steps = dataset_steps([(dataset.weight, dataset.rows) for dataset in data])
    weights = [step * share for step, share in zip(steps, recent, strict=True)]
    lines = []
    for entrant in board.entrants:
        cells = board.cells(entrant, metric, data)
        scored = [cell for cell in cells if cell is not None]
        if scored:
            overall = mean(scored, weights) if len(scored) == len(cells) and any(weights) else None
            loop = targets.get((entrant.model, entrant.version), {})
            lines.append(MatrixLine(entrant, cells, overall, trend(data, cells), loop))
    lines.sort(key=lambda line: (line.overall is None, -metric.direction * (line.overall.value if line.overall else 0)))
    return Matrix(metric, data, tuple(lines), discount)


def trend(data: Sequence[ScoredDataset], cells: Sequence[ScoreCell | None]) -> ScoreCell | None:
    """Return the least-squares slope of a model's scores over rounds, per round; None with fewer than two rounds.

    The interval is that of the replicates' slopes: rounds are drawn independently of each other.
    """
    points = [
        (dataset.round, cell)
        for dataset, cell in zip(data, cells, strict=True)
        if dataset.round is not None and cell is not None
    ]
    if len(points) < 2:
        return None
    x = np.asarray([number for number, _cell in points], float)
    slope = (x - x.mean()) / float(((x - x.mean()) ** 2).sum())
    return combination([cell for _number, cell in points], slope)


def target_rates(session: Session, task_id: str) -> dict[Target, dict[int, Rate]]:
    """Return each target's own vMER in the rounds against it, by its name and version and the round's number."""
    loops: dict[Target, dict[int, Rate]] = {}
    for started in overview.started(session, task_id):
        rates = statistics.by_target(session, started, statistics.statistics(session, started, by=()).total)
        for target in started.targets:
            key = (target.model, target.version)
            loops.setdefault(key, {})[started.number] = rates[key].rates.vmer
    return loops


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


@dataclass(frozen=True)
class ParetoPoint:
    """An entrant's two scores; `dominated` where another is at least as good on both and better on one."""

    entrant: Entrant
    x: ScoreCell
    y: ScoreCell
    dominated: bool


@dataclass(frozen=True)
class Plot:
    """The points of one dataset, or of all (`data` None); `left_out` counts entrants that lack a score."""

    x: Measure
    y: Measure
    data: ScoredDataset | None
    points: tuple[ParetoPoint, ...]
    left_out: int


def make_plot(board: TaskBoard, x: Measure, y: Measure, data: ScoredDataset | None = None) -> Plot:
    """Return all entrants with both scores on `data`, else the means over all datasets by the task's weights."""
    steps = dataset_steps([(dataset.weight, dataset.rows) for dataset in board.datasets])
    weights = {dataset.id: float(step) for dataset, step in zip(board.datasets, steps, strict=True) if step}
    if data is not None:
        weights = {data.id: 1.0}
    datasets = [dataset for dataset in board.scored([x, y]) if dataset.id in weights]
    pairs = []
    for entrant in board.entrants:
        cells = [[cell for cell in board.cells(entrant, metric, datasets) if cell is not None] for metric in (x, y)]
        if datasets and all(len(scored) == len(datasets) for scored in cells):
            across, up = (mean(scored, [weights[dataset.id] for dataset in datasets]) for scored in cells)
            pairs.append((entrant, across, up))
    beaten = dominated_points([(across.value * x.direction, up.value * y.direction) for _entrant, across, up in pairs])
    points = [ParetoPoint(*pair, worse) for pair, worse in zip(pairs, beaten, strict=True)]
    points.sort(key=lambda point: (point.dominated, -y.direction * point.y.value))
    return Plot(x, y, data, tuple(points), len(board.entrants) - len(pairs))


def dominated_points(points: Sequence[tuple[float, float]]) -> list[bool]:
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
    session: Session,
    round_row: Round,
    data: ScoredDataset | None,
    mine: Sequence[tuple[Entrant, ScoreCell]],
    metric: Measure,
) -> PeopleAndModels:
    figures = statistics.statistics(session, round_row, by=())
    human = figures.human_accuracy
    best, score = max(mine, key=lambda pair: metric.direction * pair[1].value, default=(None, None))
    alike = metric.name in ACCURACIES
    behind = accuracy_difference(human, score) if alike and score is not None else UNKNOWN
    steps = saturation_steps(human.value, mine) if alike else ()
    return PeopleAndModels(round_row.number, data, human, figures.human_model_gap, best, score, behind, steps)


def accuracy_difference(human: Rate, score: ScoreCell) -> Rate:
    """Human accuracy minus a model's, from the limits of both (Zou and Donner 2008, taken as independent)."""
    if human.value is None or human.low is None or human.high is None or score.low is None or score.high is None:
        return UNKNOWN
    value = human.value - score.value
    low = value - sqrt((human.value - human.low) ** 2 + (score.high - score.value) ** 2)
    high = value + sqrt((human.high - human.value) ** 2 + (score.value - score.low) ** 2)
    return Rate(value, max(low, -1.0), min(high, 1.0), human.n)


def best_so_far(scores: Sequence[tuple[Entrant, ScoreCell]]) -> tuple[tuple[Entrant, ScoreCell], ...]:
    """Return the entrants that raised the best score when they were entered, the first one included."""
    best, records = float("-inf"), []
    for entrant, cell in sorted(scores, key=lambda pair: (pair[0].entered_at, pair[0].id)):
        if cell.value > best:
            best = cell.value
            records.append((entrant, cell))
    return tuple(records)


def saturation_steps(human: float | None, scores: Sequence[tuple[Entrant, ScoreCell]]) -> tuple[SaturationStep, ...]:
    """The best score so far, whenever it rose, as (score - human) / (human - first); none unless human > first."""
    records = best_so_far(scores)
    if human is None:
        return ()
    return tuple(
        SaturationStep(entrant, entrant.entered_at, cell.value, reached)
        for entrant, cell in records
        if (reached := saturation(cell.value, records[0][1].value, human)) is not None
    )


def models_on_round(session: Session, viewer: Person | None, task_id: str, number: int) -> Table | None:
    """Each model that `viewer` may see on the dataset of a round, the best first; None where none was scored on it."""
    board = read_board(session, viewer, task_id)
    if not any(dataset.round == number for dataset in board.datasets):
        return None
    score_matrix = make_matrix(session, board, board.primary)
    places = [place for place, column in enumerate(score_matrix.data) if column.round == number]
    rows = []
    for line in score_matrix.lines if places else ():
        cell = line.cells[places[0]]
        if cell is not None:
            loop = _("yes") if number in line.loop else _("no")
            rows.append((line.entrant.label, cell.value, cell.low, cell.high, cell.n, loop))
    rows.sort(key=lambda row: -score_matrix.metric.direction * row[1])
    return (
        Table(
            "later",
            _("Models on this round"),
            _model_columns(board.primary),
            tuple(rows),
            (0,) * len(rows),
            "intervals",
            human=people_by_round(session, board).get(number, UNKNOWN).value
            if board.primary.name in ACCURACIES
            else None,
        )
        if rows
        else None
    )


def _model_columns(metric: Measure) -> tuple[ResultColumn, ...]:
    kind: Kind = "share" if metric.scale == 100 else "number"
    return make_columns(
        ("model", _("Model"), "text"), (metric.name, metric.title, kind),
        ("low", _("from"), kind), ("high", _("to"), kind),
        ("n", "n", "count"), ("in_the_loop", _("In-loop target"), "text"),
    )  # fmt: skip
