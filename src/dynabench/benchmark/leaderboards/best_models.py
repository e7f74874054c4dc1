"""The best model of every task for an index of boards, read again only where something has changed."""

import threading
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

from sqlalchemy import Pool
from sqlalchemy.orm import Session

from dynabench.benchmark.evaluations.measures import ACCURACIES, Measure
from dynabench.benchmark.leaderboards import queries
from dynabench.benchmark.leaderboards.board_views import best_so_far
from dynabench.benchmark.ranking import BoardRanking, DisplayedScore, RankedEntrant, default_weights, rank_entrants
from dynabench.benchmark.reading import read_board
from dynabench.benchmark.standings import Entrant, ScoreCell
from dynabench.stats.rates import FEW_ROWS


@dataclass(frozen=True)
class BestModel:
    """The model with the best primary metric over a task's weighted datasets, as everybody may see it.

    `score` is in the metric's unit; `rows` counts the rows that it was measured on.
    """

    entrant: Entrant
    score: DisplayedScore
    rows: int

    @property
    def few(self) -> bool:
        """True where the score says little."""
        return self.rows < FEW_ROWS


@dataclass(frozen=True)
class BoardSummary:
    """The part of a task's board that an index shows: the best model, if any, and what it is measured by and on.

    `records` are the entrants that raised the best score on the dataset of a round when they came, by its number.
    """

    metric: Measure
    models: int
    best: BestModel | None
    datasets: int
    languages: tuple[str, ...]
    records: Mapping[int, tuple[tuple[Entrant, ScoreCell], ...]]

    @property
    def percent(self) -> bool:
        """True where the metric runs from 0 to 100, so that it fits the common axis."""
        return self.metric.scale == 100

    @property
    def comparable(self) -> bool:
        """True where the metric is a share of right answers, so that human accuracy stands beside it."""
        return self.metric.name in ACCURACIES


_lock = threading.Lock()
_cache: WeakKeyDictionary[Pool, dict[str, tuple[Any, BoardSummary]]] = WeakKeyDictionary()


def summarize_boards(session: Session, versions: Mapping[str, int]) -> dict[str, BoardSummary]:
    """Return the summary of each task's board; `versions` are the configs' versions by task.

    Three statements while nothing has changed, whatever the number of tasks.
    """
    stamps: dict[str, list[Any]] = defaultdict(list)
    for statement in (queries.dataset_facts(), queries.submission_facts(), queries.evaluation_facts()):
        for row in session.execute(statement):
            stamps[row[0]].append(tuple(row))
    with _lock:
        cached = _cache.setdefault(session.get_bind().engine.pool, {})
    summaries = {}
    for task, version in versions.items():
        stamp = (version, tuple(stamps[task]))
        if task not in cached or cached[task][0] != stamp:
            cached[task] = (stamp, summarize_board(session, task))
        summaries[task] = cached[task][1]
    return summaries


def summarize_board(session: Session, task: str) -> BoardSummary:
    """Return the summary of one board by the task's own weights, as everybody sees it."""
    ranking = rank_entrants(board := read_board(session, None, task), default_weights(board))
    languages = dict.fromkeys(language for dataset in board.datasets for language in dataset.languages)
    scored = [row for row in ranking.rows if row.cells[0].value is not None]
    best = best_model(ranking, [row for row in scored if not row.entrant.baseline])
    records = {}
    for dataset in board.datasets:
        if dataset.round is not None and board.primary.name in ACCURACIES:
            cells = [(entrant, board.cell(entrant, dataset, board.primary)) for entrant in board.entrants]
            records[dataset.round] = best_so_far([(entrant, cell) for entrant, cell in cells if cell is not None])
    return BoardSummary(board.primary, len(scored), best, len(board.datasets), tuple(languages), records)


def best_model(ranking: BoardRanking, rows: Sequence[RankedEntrant]) -> BestModel | None:
    """Return the row with the best primary metric, None without rows."""
    board = ranking.board
    if not rows:
        return None
    row = max(rows, key=lambda row: board.primary.direction * (row.cells[0].value or 0.0))
    weighed = [dataset for dataset in board.datasets if ranking.weights.datasets[dataset.name]]
    cells = [cell for cell in board.cells(row.entrant, board.primary, weighed) if cell is not None]
    return BestModel(row.entrant, row.cells[0], sum(cell.n for cell in cells))
