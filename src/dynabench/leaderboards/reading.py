"""What pages and the API read of boards in one transaction."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy.orm import Session

from dynabench import errors
from dynabench.accounts.tables import Person
from dynabench.language import _
from dynabench.leaderboards import board as boards
from dynabench.leaderboards import filters, queries, weights
from dynabench.leaderboards.filters import Shown
from dynabench.leaderboards.ranking import Cell, Ranking, Row, ranking
from dynabench.leaderboards.snapshots import fork_at
from dynabench.leaderboards.weights import Weights


@dataclass(frozen=True)
class Asked:
    """A board as an address asks for it; `usual` are the weights that it has without any parameter."""

    ranking: Ranking
    usual: Weights
    shown: Shown
    rows: list[Row]

    @property
    def link(self) -> str:
        """The parameters that say these weights, for an address."""
        return weights.query(weights.differing(self.ranking.weights, self.usual))

    @property
    def without(self) -> str:
        """The same with the weight 0 for metrics that nobody has."""
        chosen = dict(self.ranking.weights.metrics) | dict.fromkeys((each.name for each in self.ranking.unmeasured), 0)
        return weights.query(weights.flat(**(self.ranking.weights.document() | {"metrics": chosen})))

    @property
    def whole(self) -> str:
        """The same with all weights, for where the defaults are others."""
        return weights.query(weights.flat(**self.ranking.weights.document()))


def asked(session: Session, viewer: Person | None, task: str, params: Any, fork: str = "") -> Asked:
    """The board that an address asks for, of a fork where one is named; raises `Invalid` by parameter."""
    board = boards.board(session, viewer, task)
    usual = weights.kept(board, fork_at(session, fork).weights) if fork else weights.defaults(board)
    found = ranking(board, weights.given(board, params, usual))
    shown = filters.shown(board, params, params.getlist("columns"))
    return Asked(found, usual, shown, filters.arranged(found, shown))


@dataclass(frozen=True)
class Slice:
    """One submission's scores on the rows of a dataset with one tag."""

    dataset: str
    name: str
    metric: str
    cell: Cell
    n: int


def row(
    session: Session, viewer: Person | None, task: str, params: Mapping[str, str], number: int
) -> tuple[Ranking, Row]:
    """One row of the board; raises `NotFound` where the viewer sees none of this number."""
    board = boards.board(session, viewer, task)
    found = ranking(board, weights.given(board, params))
    for each in found.rows:
        if each.entry.id == number:
            return found, each
    raise errors.NotFound(_("This board has no such row."))


def slices(session: Session, of: Ranking, row: Row) -> list[Slice]:
    """Scores by slice, of datasets that are not hidden."""
    metrics = {each.name: each for each in of.board.metrics}
    open_ones = {each.version: each.name for each in of.board.datasets if each.disclosure.slices}
    found = session.execute(queries.slices(row.entry.id, list(open_ones), list(metrics)))
    return [
        Slice(open_ones[each.version_id], each.slice, each.metric, _cell(each, metrics[each.metric].scale), each.n)
        for each in found
    ]


def _cell(score: Any, scale: float) -> Cell:
    return Cell(*(None if part is None else part * scale for part in (score.value, score.low, score.high)))
