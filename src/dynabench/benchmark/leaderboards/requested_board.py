"""The board that an address asks for: weights, the choice and order of rows and columns, read in one transaction.

Ranks are among all rows, shown or not.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from sqlalchemy.orm import Session

from dynabench.benchmark.evaluations import queries
from dynabench.benchmark.leaderboards.snapshots import find_fork
from dynabench.benchmark.ranking import (
    BoardRanking,
    BoardWeights,
    DisplayedScore,
    RankedEntrant,
    default_weights,
    rank_entrants,
    read_weights,
    stored_weights,
    weight_parameters,
    weights_query,
)
from dynabench.benchmark.reading import read_board
from dynabench.benchmark.standings import TaskBoard
from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.people.accounts.tables import Person

SIZES = {"small": (0, 100e6), "medium": (100e6, 1e9), "large": (1e9, float("inf"))}
"""Bytes of a model, from and below."""


@dataclass(frozen=True)
class BoardFilter:
    """The rows, columns and order that an address asks for.

    `columns` is None for all columns. `sort` is a column; a `-` before it reverses the order.
    """

    size: str = ""
    licence: str = ""
    language: str = ""
    since: date | None = None
    columns: tuple[str, ...] | None = None
    sort: str = ""

    def takes(self, row: RankedEntrant) -> bool:
        """Return whether the board shows the row."""
        entrant = row.entrant
        if self.size:
            low, high = SIZES[self.size]
            if entrant.bytes is None or not low <= entrant.bytes < high:
                return False
        return (
            self.licence in ("", entrant.licence)
            and (not self.language or self.language in entrant.languages)
            and (self.since is None or entrant.entered_at.date() >= self.since)
        )


def read_filter(board: TaskBoard, params: Mapping[str, str], columns: list[str]) -> BoardFilter:
    """Return the filter of an address's `size`, `licence`, `language`, `since`, `columns` (repeated), `sort`.

    Raise `Invalid` with an error for each wrong parameter.
    """
    wrong, names = dict[str, str](), [metric.name for metric in board.metrics]
    size, since = params.get("size", ""), None
    if size and size not in SIZES:
        wrong["size"] = _("Choose one of %(sizes)s.", sizes=", ".join(SIZES))
    if params.get("since"):
        try:
            since = date.fromisoformat(params["since"])
        except ValueError:
            wrong["since"] = _("Give a day such as 2026-11-21.")
    sort = params.get("sort", "")
    if sort.removeprefix("-") not in {"", "rank", "name", "date", *(f"m.{name}" for name in names)}:
        wrong["sort"] = _("The board has no column of this name.")
    if any(name not in names for name in columns if name):
        wrong["columns"] = _("Choose one of %(known)s.", known=", ".join(names))
    if wrong:
        raise errors.Invalid(wrong)
    chosen = tuple(name for name in names if name in columns) if columns else None
    return BoardFilter(size, params.get("licence", "")[:100], params.get("language", "")[:20], since, chosen, sort)


def filtered_rows(ranking: BoardRanking, by: BoardFilter) -> list[RankedEntrant]:
    """The rows that are shown, in the order that is asked for; what has no number stands last."""
    rows = [row for row in ranking.rows if by.takes(row)]
    name, down = by.sort.removeprefix("-"), by.sort.startswith("-")
    if name == "name":
        rows.sort(key=lambda row: row.entrant.name.casefold(), reverse=down)
    elif name == "date":
        rows.sort(key=lambda row: row.entrant.entered_at, reverse=not down)
    elif name.startswith("m."):
        at = [metric.name for metric in ranking.board.metrics].index(name[2:])
        sign = ranking.board.metrics[at].direction * (-1 if down else 1)
        rows.sort(key=lambda row: (row.cells[at].value is None, -sign * (row.cells[at].value or 0.0)))
    elif down:
        rows.reverse()
    return rows


@dataclass(frozen=True)
class RequestedBoard:
    """A board as an address asks for it; `usual` are the weights that it has without any parameter."""

    ranking: BoardRanking
    usual: BoardWeights
    filter: BoardFilter
    rows: list[RankedEntrant]

    @property
    def link(self) -> str:
        """The parameters that say these weights, for an address."""
        return weights_query(self.ranking.weights.differing(self.usual))

    @property
    def without(self) -> str:
        """The same with the weight 0 for metrics that nobody has."""
        chosen = dict(self.ranking.weights.metrics) | dict.fromkeys(
            (metric.name for metric in self.ranking.unmeasured), 0
        )
        return weights_query(weight_parameters(**(self.ranking.weights.document() | {"metrics": chosen})))

    @property
    def whole(self) -> str:
        """The same with all weights, for where the defaults are others."""
        return weights_query(self.ranking.weights.parameters())


def read_requested_board(
    session: Session, viewer: Person | None, task: str, params: Any, fork: str = ""
) -> RequestedBoard:
    """The board that an address asks for, of a fork where one is named; raises `Invalid` by parameter."""
    board = read_board(session, viewer, task)
    usual = stored_weights(board, find_fork(session, fork).weights) if fork else default_weights(board)
    ranking = rank_entrants(board, read_weights(board, params, usual))
    chosen = read_filter(board, params, params.getlist("columns"))
    return RequestedBoard(ranking, usual, chosen, filtered_rows(ranking, chosen))


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
    ranking = rank_entrants(board, read_weights(board, params))
    for entry in ranking.rows:
        if entry.entrant.id == number:
            return ranking, entry
    raise errors.NotFound(_("This board has no row of this name."))


def row_slices(session: Session, ranking: BoardRanking, row: RankedEntrant) -> list[SliceScore]:
    """Scores by slice, of datasets that are not hidden."""
    scales = {metric.name: metric.scale for metric in ranking.board.metrics}
    names = {dataset.version_id: dataset.name for dataset in ranking.board.datasets if dataset.disclosure.slices}
    slices = []
    for score in session.execute(queries.slice_scores([row.entrant.id], list(names), list(scales))):
        parts = (part if part is None else part * scales[score.metric] for part in (score.value, score.low, score.high))
        slices.append(SliceScore(names[score.version_id], score.slice, score.metric, DisplayedScore(*parts), score.n))
    return slices
