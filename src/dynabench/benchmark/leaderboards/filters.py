"""The choice and order of the rows and columns that a board shows; ranks are among all rows, shown or not."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from dynabench.benchmark.ranking import BoardRanking, DisplayedScore, RankedEntrant
from dynabench.benchmark.standings import TaskBoard
from dynabench.kit import errors
from dynabench.kit.language import _

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
    wrong, known = dict[str, str](), [each.name for each in board.metrics]
    size, since = params.get("size", ""), None
    if size and size not in SIZES:
        wrong["size"] = _("Choose one of %(sizes)s.", sizes=", ".join(SIZES))
    if params.get("since"):
        try:
            since = date.fromisoformat(params["since"])
        except ValueError:
            wrong["since"] = _("Give a day such as 2026-11-21.")
    sort = params.get("sort", "")
    if sort.removeprefix("-") not in {"", "rank", "name", "date", *(f"m.{name}" for name in known)}:
        wrong["sort"] = _("The board has no such column.")
    if any(name not in known for name in columns if name):
        wrong["columns"] = _("Choose among %(known)s.", known=", ".join(known))
    if wrong:
        raise errors.Invalid(wrong)
    chosen = tuple(name for name in known if name in columns) if columns else None
    return BoardFilter(size, params.get("licence", "")[:100], params.get("language", "")[:20], since, chosen, sort)


def filtered_rows(of: BoardRanking, by: BoardFilter) -> list[RankedEntrant]:
    """The rows that are shown, in the order that is asked for; what has no number stands last."""
    rows = [row for row in of.rows if by.takes(row)]
    name, down = by.sort.removeprefix("-"), by.sort.startswith("-")
    if name == "name":
        rows.sort(key=lambda row: row.entrant.name.casefold(), reverse=down)
    elif name == "date":
        rows.sort(key=lambda row: row.entrant.entered_at, reverse=not down)
    elif name.startswith("m."):
        at = [each.name for each in of.board.metrics].index(name[2:])
        sign = of.board.metrics[at].direction * (-1 if down else 1)
        rows.sort(key=lambda row: _best_first(row.cells[at], sign))
    elif down:
        rows.reverse()
    return rows


def _best_first(cell: DisplayedScore, sign: int) -> tuple[bool, float]:
    return cell.value is None, -sign * (cell.value or 0.0)
