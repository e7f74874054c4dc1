"""Reads of boards in one transaction, for pages and for the API."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy.orm import Session

from dynabench.benchmark import queries, weights
from dynabench.benchmark.leaderboards import filters
from dynabench.benchmark.leaderboards.filters import BoardFilter
from dynabench.benchmark.leaderboards.snapshots import find_fork
from dynabench.benchmark.ranking import BoardRanking, DisplayedScore, RankedEntrant, rank_entrants
from dynabench.benchmark.reading import read_board
from dynabench.benchmark.weights import BoardWeights
from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.people.accounts.tables import Person


@dataclass(frozen=True)
class RequestedBoard:
    """A board as an address asks for it; `usual` are the weights that it has without any parameter."""

    ranking: BoardRanking
    usual: BoardWeights
    shown: BoardFilter
    rows: list[RankedEntrant]

    @property
    def link(self) -> str:
        """The parameters that say these weights, for an address."""
        return weights.query(self.ranking.weights.differing(self.usual))

    @property
    def without(self) -> str:
        """The same with the weight 0 for metrics that nobody has."""
        chosen = dict(self.ranking.weights.metrics) | dict.fromkeys((each.name for each in self.ranking.unmeasured), 0)
        return weights.query(weights.flat(**(self.ranking.weights.document() | {"metrics": chosen})))

    @property
    def whole(self) -> str:
        """The same with all weights, for where the defaults are others."""
        return weights.query(self.ranking.weights.parameters())


def read_requested_board(
    session: Session, viewer: Person | None, task: str, params: Any, fork: str = ""
) -> RequestedBoard:
    """The board that an address asks for, of a fork where one is named; raises `Invalid` by parameter."""
    board = read_board(session, viewer, task)
    usual = weights.stored_weights(board, find_fork(session, fork).weights) if fork else weights.defaults(board)
    found = rank_entrants(board, weights.read_weights(board, params, usual))
    shown = filters.read_filter(board, params, params.getlist("columns"))
    return RequestedBoard(found, usual, shown, filters.filtered_rows(found, shown))


@dataclass(frozen=True)
class SliceScore:
    """One submission's scores on the rows of a dataset with one tag."""

    dataset: str
    name: str
    metric: str
    cell: DisplayedScore
    n: int


def read_board_row(
    session: Session, viewer: Person | None, task: str, params: Mapping[str, str], number: int
) -> tuple[BoardRanking, RankedEntrant]:
    """One row of the board; raises `NotFound` where the viewer sees none of this number."""
    board = read_board(session, viewer, task)
    found = rank_entrants(board, weights.read_weights(board, params))
    for each in found.rows:
        if each.entrant.id == number:
            return found, each
    raise errors.NotFound(_("This board has no such row."))


def row_slices(session: Session, of: BoardRanking, row: RankedEntrant) -> list[SliceScore]:
    """Scores by slice, of datasets that are not hidden."""
    scales = {metric.name: metric.scale for metric in of.board.metrics}
    names = {dataset.version_id: dataset.name for dataset in of.board.datasets if dataset.disclosure.slices}
    slices = []
    for score in session.execute(queries.slice_scores([row.entrant.id], list(names), list(scales))):
        parts = (part if part is None else part * scales[score.metric] for part in (score.value, score.low, score.high))
        slices.append(SliceScore(names[score.version_id], score.slice, score.metric, DisplayedScore(*parts), score.n))
    return slices
