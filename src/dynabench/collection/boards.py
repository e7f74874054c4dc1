"""Standings of people in a round, from the tallies."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import takewhile

from sqlalchemy.orm import Session

from dynabench.collection import board_queries
from dynabench.collection.figure_schemas import BoardPage, BoardRow, FigureRateOut
from dynabench.collection.tables import ExampleSource
from dynabench.kit import errors
from dynabench.kit.db import now
from dynabench.kit.language import _
from dynabench.people.accounts.tables import Person
from dynabench.rounds import arms
from dynabench.rounds.tables import Round
from dynabench.stats.rates import wilson

SOURCES = (ExampleSource.PERSON, ExampleSource.EXPERT, ExampleSource.OWNER)
STREAK = 100  # longer streaks are shown as this many


def rate(k: int, n: int) -> FigureRateOut:
    """k of n with its 95 % Wilson interval."""
    found = wilson(k, n)
    return FigureRateOut(value=found.value, low=found.low, high=found.high)


def controls(of: Iterable[Round]) -> list[tuple[int, str]]:
    """The arms of rounds in which no model is asked: figures about models leave them out."""
    return [(each.id, name) for each in of for name in sorted(arms.without_targets(each.arms))]


def board(session: Session, of: Round, viewer: Person | None, after: int = 0, limit: int = 50) -> BoardPage:
    """A page of the round's board, from rank `after` + 1 on; people equal in all three counts share a rank.

    Examples of arms in which no model is asked are left out: nobody could be fooled.
    """
    rows = session.execute(board_queries.board(of.id, controls([of]))).all()
    items: list[BoardRow] = []
    rank, before = 0, None
    for place, row in enumerate(rows, start=1):
        key = (row.validated, row.fooled, row.examples)
        rank, before = (rank, before) if key == before else (place, key)
        if after < place <= after + limit:
            items.append(_row(row, rank, viewer))
    return BoardPage(items=items, next=str(after + limit) if len(rows) > after + limit else None)


def _row(row: object, rank: int, viewer: Person | None) -> BoardRow:
    person: Person = row.Person  # type: ignore[attr-defined]
    counts = {name: int(getattr(row, name)) for name in ("examples", "fooled", "validated", "resolved", "unknown")}
    return BoardRow(
        rank=rank,
        name=person.public_name,
        source=SOURCES[row.source],  # type: ignore[attr-defined]
        mer=rate(counts["fooled"], counts["examples"] - counts["unknown"]),
        mine=viewer is not None and viewer.id == person.id,
        **counts,
    )


def place_from(cursor: str) -> int:
    """The place that a board's cursor stands for."""
    if not cursor:
        return 0
    if not cursor.isdecimal() or len(cursor) > 9:
        raise errors.Invalid({"after": _("Give the `next` of an earlier page.")})
    return int(cursor)


@dataclass(frozen=True)
class Mine:
    """Somebody's own figures in a round; `streak` counts their latest examples that fooled in a row, `known` those of
    which it is known whether they did."""

    examples: int
    fooled: int
    known: int
    validated: int
    today: int
    streak: int
    mer: FigureRateOut


def mine(session: Session, person: Person, of: Round) -> Mine:
    """Somebody's own figures in a round; `today` is the UTC day."""
    counts = session.execute(board_queries.own_tally(person.id, of.id, but=controls([of]), alone=True)).one()
    today = session.execute(board_queries.own_tally(person.id, of.id, now().date().isoformat(), alone=True)).one()
    latest = session.scalars(board_queries.latest_fooled(person.id, of.id, STREAK))
    return Mine(
        examples=int(counts.examples),
        fooled=int(counts.fooled),
        known=int(counts.examples - counts.unknown),
        validated=int(counts.validated),
        today=int(today.examples),
        streak=len(list(takewhile(bool, latest))),
        mer=rate(int(counts.fooled), int(counts.examples - counts.unknown)),
    )
