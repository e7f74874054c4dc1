"""The scores of a model for the model's page, and the best models on a dataset for the dataset's page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from sqlalchemy.orm import Session

from dynabench.benchmark.evaluations.measures import ACCURACIES, Measure
from dynabench.benchmark.leaderboards import queries
from dynabench.benchmark.leaderboards.comparison import NO_DIFFERENCE, paired_difference
from dynabench.benchmark.leaderboards.recipe import people_by_round
from dynabench.benchmark.reading import read_board, read_every_score, read_slices
from dynabench.benchmark.registry import service as registry
from dynabench.benchmark.standings import Entrant, ScoreCell, ScoredDataset, TaskBoard
from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.people.accounts.tables import Person
from dynabench.people.disclosure import counts_as_try
from dynabench.stats.p_values import holm
from dynabench.stats.rates import FEW_ROWS, Rate

LEADERS = 10
HARDEST_SLICES = 8


@dataclass(frozen=True)
class ModelEntry:
    """All that one entrant scored. `scores` by dataset and metric, `slices` of the primary metric by dataset and tag.

    `tries` counts the submissions of its submitter in the task's ledger as that does, None of anonymous ones. `people`
    is the accuracy of blind answers in a dataset's round, by dataset.
    """

    board: TaskBoard
    entrant: Entrant
    data: tuple[ScoredDataset, ...]
    scores: Mapping[tuple[int, str], ScoreCell]
    slices: tuple[tuple[ScoredDataset, tuple[tuple[str, ScoreCell], ...]], ...]
    tries: int | None
    people: Mapping[int, Rate]


@dataclass(frozen=True)
class Leader:
    """An entrant on one dataset; `tied` where the data do not tell it from the best."""

    entrant: Entrant
    cell: ScoreCell
    tied: bool


@dataclass(frozen=True)
class BestOnDataset:
    """The best entrants on a dataset, and the slices with the worst mean score of the best `TOP` entrants.

    `people` is the accuracy of blind answers in the dataset's round.
    """

    data: ScoredDataset
    metric: Measure
    leaders: tuple[Leader, ...]
    others: int
    slices: tuple[tuple[str, ScoreCell], ...]
    people: Rate | None


def people_by_dataset(session: Session, board: TaskBoard) -> dict[int, Rate]:
    """Return the accuracy of blind answers in the rounds of a board's public datasets, by dataset.

    Empty where the primary metric is no accuracy.
    """
    if board.primary.name not in ACCURACIES:
        return {}
    rates = people_by_round(session, board)
    return {
        data.id: rates[data.round]
        for data in board.datasets
        if data.round is not None and data.round in rates and not data.disclosure.hidden
    }


def scores_of_model(session: Session, viewer: Person | None, name: str) -> list[ModelEntry]:
    """Return the scores of this model's submissions, as `viewer` may know, those on retired datasets too.

    Anonymous ones are not linked to its name, and a model that is listed for few people is there for these alone.
    """
    entries = []
    for task in session.scalars(queries.tasks_of_model(name)):
        if registry.is_visible(session, viewer, name, task):
            board = read_board(session, viewer, task, withdrawn=True, retired=True)
            entries += [_entry(session, board, entrant) for entrant in board.entrants if entrant.model == name]
    return entries


def _entry(session: Session, board: TaskBoard, entrant: Entrant) -> ModelEntry:
    scores = read_every_score(session, board, entrant)
    ids = {dataset for dataset, _metric in scores}
    scored = tuple(dataset for dataset in board.datasets if dataset.id in ids)
    slices = []
    for dataset in scored:
        cells = read_slices(session, board, [entrant], dataset, board.primary)
        if cells:
            worst = sorted(cells.items(), key=lambda pair: board.primary.direction * pair[1].value)
            slices.append((dataset, tuple((tag, cell) for (_id, tag), cell in worst[:HARDEST_SLICES])))
    slices.sort(key=lambda pair: -sum(cell.n >= FEW_ROWS for _tag, cell in pair[1]))
    tries = None
    if entrant.person_id is not None and counts_as_try(entrant):
        tries = session.scalar(queries.count_tries(entrant.person_id, board.config.id))
    return ModelEntry(board, entrant, scored, scores, tuple(slices), tries, people_by_dataset(session, board))


def best_on_dataset(session: Session, board: TaskBoard, name: str, limit: int = LEADERS) -> BestOnDataset:
    """Return the best entrants on a dataset. Raises `NotFound` where there is no such dataset."""
    data, metric = board.dataset(name), board.primary
    scored = [(entrant, cell) for entrant in board.entrants if (cell := board.cell(entrant, data, metric)) is not None]
    ranked = sorted(scored, key=lambda pair: (-metric.direction * pair[1].value, pair[0].id))
    top = ranked[:limit]
    tied = ties([cell for _entrant, cell in top])
    leaders = tuple(Leader(*pair, tie) for pair, tie in zip(top, tied, strict=True))
    cells = read_slices(session, board, [entrant for entrant, _cell in top], data, metric)
    people = people_by_dataset(session, board).get(data.id)
    return BestOnDataset(data, metric, leaders, len(ranked) - len(top), hardest(cells, metric), people)


def ties(cells: Sequence[ScoreCell], level: float = 0.05) -> list[bool]:
    """Return for each score whether the data do not tell it apart from the first score.

    The test uses paired replicates with Holm's correction. Without replicates, only equal scores are ties.
    """
    if not cells:
        return []
    first, p_values = cells[0], []
    for cell in cells:
        if first.replicates is None or cell.replicates is None:
            p_values.append(1.0 if abs(first.value - cell.value) < NO_DIFFERENCE else 0.0)
        else:
            p_values.append(paired_difference(first.replicates, cell.replicates, first.value - cell.value)[2])
    return [True, *(bool(p > level) for p in (holm(p_values[1:]) if p_values[1:] else []))]


def hardest(cells: Mapping[tuple[int, str], ScoreCell], metric: Measure) -> tuple[tuple[str, ScoreCell], ...]:
    """Tags with their mean score over models, hardest first.

    The interval is from the mean of the lower limits to that of the upper ones, which is right where all models fail on
    the same rows, and wider than need be where they do not.
    """
    by: dict[str, list[ScoreCell]] = {}
    for (_dataset, tag), cell in cells.items():
        by.setdefault(tag, []).append(cell)
    mean_by_tag = [(tag, _mean(some)) for tag, some in by.items()]
    return tuple(sorted(mean_by_tag, key=lambda pair: (metric.direction * pair[1].value, pair[0]))[:HARDEST_SLICES])


def _mean(some: Sequence[ScoreCell]) -> ScoreCell:
    low, high = (_limit([getattr(cell, end) for cell in some]) for end in ("low", "high"))
    return ScoreCell(fmean(cell.value for cell in some), low, high, some[0].n)


def _limit(limits: Sequence[float | None]) -> float | None:
    numbers = [limit for limit in limits if limit is not None]
    return fmean(numbers) if len(numbers) == len(limits) else None


def require_scores_of_model(session: Session, viewer: Person | None, name: str) -> list[ModelEntry]:
    """As `of_model`; raises `NotFound` where there is nothing to show."""
    entries = scores_of_model(session, viewer, name)
    if not entries:
        raise errors.NotFound(_("%(name)s has no scores to show.", name=repr(name)))
    return entries
