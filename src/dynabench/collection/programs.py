"""Programs that propose examples in a round: what each brought and what that took, and how they do beside people."""

import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from sqlalchemy import Select, case, func, select
from sqlalchemy.orm import Session

from dynabench.collection import statistics
from dynabench.collection.figure_schemas import rate_out
from dynabench.collection.schemas import ComparedOut, ProgramRow, ProgramsOut
from dynabench.collection.tables import Example, Proposed, Standing
from dynabench.rounds import plan
from dynabench.rounds.tables import Round
from dynabench.stats.rates import UNKNOWN, ErrorCounts, ErrorRates, Rate, error_rates, rate_difference
from dynabench.stats.verdict import Verdict

if TYPE_CHECKING:
    from dynabench.collection import targets
    from dynabench.collection.drafts import Draft

COUNTS = ("examples", "fooled", "validated", "resolved", "unknown")
LARGE, FRESH = 5_000, 5.0  # examples from which on figures are kept, and for how many seconds
MOST = 200  # programs that a board shows: the senders of examples name them


@dataclass(frozen=True)
class ProgramLine:
    """One version of a program; `people` ran it. Rates have Wilson's intervals, `cost` is in dollars.

    Queries and cost are what the programs say of all their examples that were neither retracted nor hidden.
    """

    name: str
    version: str
    people: int
    counts: ErrorCounts
    rates: ErrorRates
    queries: int
    cost: float

    @property
    def queries_per_fooled(self) -> float | None:
        """Queries for each example that fooled; None where none did."""
        return self.queries / self.counts.fooled if self.counts.fooled else None

    @property
    def cost_per_validated(self) -> float | None:
        """Cost of each useful example: one that fooled and was found correct; None where there is none."""
        return self.cost / self.counts.validated if self.counts.validated else None


@dataclass(frozen=True)
class ProgramComparison:
    """A rate of `people`, clustered by annotator, that of `programs`, by example, and the first minus the second."""

    people: Rate
    programs: Rate
    difference: Rate


@dataclass(frozen=True)
class Board:
    """The programs of a round, best first, and people beside them."""

    lines: Sequence[ProgramLine]
    mer: ProgramComparison
    vmer: ProgramComparison


def board(session: Session, round: Round) -> Board:
    """Return the board of a round's programs.

    With `LARGE` examples or more the figures are up to `FRESH` seconds old.
    """
    cached_boards = _boards.setdefault(session.get_bind(), {})
    if round.id in cached_boards and time.monotonic() - cached_boards[round.id][0] < FRESH:
        return cached_boards[round.id][1]
    fresh_board = _board(session, round)
    if sum(line.counts.examples for line in fresh_board.lines) >= LARGE:
        cached_boards[round.id] = (time.monotonic(), fresh_board)
    return fresh_board


def _board(session: Session, round: Round) -> Board:
    """Reads each of the programs' examples once with its standing, and the tallies.

    Arms in which no model is asked are left out. Best is most validated fooling examples, then most fooling ones, then
    fewest examples.
    """
    controls = plan.arms_without_targets(round.arms)
    lines = [_line(row) for row in session.execute(_sums(round.id, controls))]
    people = statistics.statistics(session, round, by=()).total.clustered if lines else _NOBODY
    total = sum((line.counts for line in lines), ErrorCounts())
    programs = error_rates(total)
    return Board(lines, _compared(people.mer, programs.mer), _compared(people.vmer, programs.vmer))


_boards: WeakKeyDictionary[Any, dict[int, tuple[float, Board]]] = WeakKeyDictionary()  # by database and round
_NOBODY = ErrorRates(UNKNOWN, UNKNOWN, UNKNOWN)


def _compared(people: Rate, programs: Rate) -> ProgramComparison:
    return ProgramComparison(people, programs, rate_difference(people, programs))


def _line(row: Any) -> ProgramLine:
    counts = ErrorCounts(**{name: int(getattr(row, name)) for name in COUNTS})
    return ProgramLine(
        name=row.name,
        version=row.version,
        people=int(row.people),
        counts=counts,
        rates=error_rates(counts),
        queries=int(row.queries),
        cost=float(row.cost),
    )


def board_out(board: Board) -> ProgramsOut:
    """As JSON."""
    return ProgramsOut(items=[_row(line) for line in board.lines], mer=_both(board.mer), vmer=_both(board.vmer))


def _row(line: ProgramLine) -> ProgramRow:
    return ProgramRow(
        name=line.name,
        version=line.version,
        people=line.people,
        mer=rate_out(line.rates.mer),
        vmer=rate_out(line.rates.vmer),
        queries=line.queries,
        cost=line.cost,
        queries_per_fooled=line.queries_per_fooled,
        cost_per_validated=line.cost_per_validated,
        **{name: getattr(line.counts, name) for name in COUNTS},
    )


def _both(comparison: ProgramComparison) -> ComparedOut:
    return ComparedOut(
        people=rate_out(comparison.people),
        programs=rate_out(comparison.programs),
        difference=rate_out(comparison.difference),
    )


def _sums(round_id: int, controls: Collection[str]) -> Select[Any]:
    """Sums by program and version: one range of the index of rounds, a probe for each example, two where arms are left
    out."""

    def count(condition: Any) -> Any:
        return func.coalesce(func.sum(case((condition, 1), else_=0)), 0)

    correct = Standing.verdict == str(Verdict.CORRECT)
    validated, fooled = count(Standing.fooled & correct), count(Standing.fooled)
    sums = (
        func.count().label("examples"),
        fooled.label("fooled"),
        validated.label("validated"),
        count(Standing.fooled & (Standing.verdict != str(Verdict.PENDING))).label("resolved"),
        count(Standing.fooled.is_(None)).label("unknown"),
        func.count(Standing.author_id.distinct()).label("people"),
        func.sum(Proposed.queries).label("queries"),
        func.sum(Proposed.cost).label("cost"),
    )
    query = select(Proposed.name, Proposed.version, *sums).join(Standing, Standing.example_id == Proposed.example_id)
    if controls:
        query = query.join(Example, Example.id == Proposed.example_id).where(Example.arm.not_in(controls))
    return (
        query.where(Proposed.round_id == round_id, ~Standing.retracted, ~Standing.hidden)
        .group_by(Proposed.name, Proposed.version)
        .order_by(validated.desc(), fooled.desc(), func.count(), Proposed.name, Proposed.version)
        .limit(MOST)
    )


def recorded(session: Session, draft: "Draft", verdict: "targets.TargetVerdict", example_id: int) -> None:
    """Record which program wrote an example."""
    if draft.program is not None:
        session.add(Proposed(example_id=example_id, round_id=draft.round_id, **draft.program.model_dump()))
