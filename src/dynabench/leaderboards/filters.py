"""Which rows and columns of a board are shown, and in which order; ranks are among all rows, shown or not."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from dynabench import errors
from dynabench.language import _
from dynabench.leaderboards.board import Board
from dynabench.leaderboards.ranking import Cell, Ranking, Row

SIZES = {"small": (0, 100e6), "medium": (100e6, 1e9), "large": (1e9, float("inf"))}
"""Bytes of a model, from and below."""


@dataclass(frozen=True)
class Shown:
    """What an address asks for. `columns` None is all; `sort` is a column, with `-` before it upside down."""

    size: str = ""
    licence: str = ""
    language: str = ""
    since: date | None = None
    columns: tuple[str, ...] | None = None
    sort: str = ""

    def takes(self, row: Row) -> bool:
        """Whether the row is shown."""
        entry = row.entry
        if self.size:
            low, high = SIZES[self.size]
            if entry.bytes is None or not low <= entry.bytes < high:
                return False
        return (
            self.licence in ("", entry.licence)
            and (not self.language or self.language in entry.languages)
            and (self.since is None or entry.made_at.date() >= self.since)
        )


def shown(board: Board, params: Mapping[str, str], columns: list[str]) -> Shown:
    """What the address says: `size`, `licence`, `language`, `since`, `columns` (repeated), `sort`.

    Raises `Invalid` by parameter.
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
    return Shown(size, params.get("licence", "")[:100], params.get("language", "")[:20], since, chosen, sort)


def arranged(of: Ranking, by: Shown) -> list[Row]:
    """The rows that are shown, in the order that is asked for; what has no number stands last."""
    rows = [row for row in of.rows if by.takes(row)]
    name, down = by.sort.removeprefix("-"), by.sort.startswith("-")
    if name == "name":
        rows.sort(key=lambda row: row.entry.name.casefold(), reverse=down)
    elif name == "date":
        rows.sort(key=lambda row: row.entry.made_at, reverse=not down)
    elif name.startswith("m."):
        at = [each.name for each in of.board.metrics].index(name[2:])
        sign = of.board.metrics[at].direction * (-1 if down else 1)
        rows.sort(key=lambda row: _best_first(row.cells[at], sign))
    elif down:
        rows.reverse()
    return rows


def _best_first(cell: Cell, sign: int) -> tuple[bool, float]:
    return cell.value is None, -sign * (cell.value or 0.0)
