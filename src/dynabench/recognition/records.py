"""A person's contributions, counted: by task, by day, and over all. Programs that a person runs are left out."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, date, datetime, timedelta

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from dynabench.collection.tables import ExampleSource, Standing, Tally
from dynabench.kit.db import now
from dynabench.rounds.tables import Round
from dynabench.stats.rates import ErrorCounts, ErrorRates, error_rates
from dynabench.validation.queries import UNDONE
from dynabench.validation.tables import Validation

WEEKS = 12
"""Weeks of a profile's grid of activity."""
LEVELS = (1, 3, 6, 12)
"""Contributions of a day from which on its square is darker."""
COUNTS = tuple(field.name for field in fields(ErrorCounts))


@dataclass(frozen=True)
class TaskRecord:
    """A person's contributions to a task, or to all: counts of examples, withdrawn ones, and votes that stand."""

    counts: ErrorCounts
    retracted: int = 0
    checked: int = 0

    @property
    def rates(self) -> ErrorRates:
        """MER and vMER with Wilson intervals."""
        return error_rates(self.counts)

    def __add__(self, other: "TaskRecord") -> "TaskRecord":
        return TaskRecord(self.counts + other.counts, self.retracted + other.retracted, self.checked + other.checked)


NOTHING = TaskRecord(ErrorCounts())


def _written_by_task(person_id: int) -> Select[*tuple[str, ...]]:
    """Sums of a person's tallies by task: one index range."""
    sums = [func.sum(getattr(Tally, name)) for name in (*COUNTS, "retracted")]
    return (
        select(Round.task_id, *sums)
        .join(Round, Round.id == Tally.round_id)
        .where(Tally.person_id == person_id, Tally.source != ExampleSource.PROGRAM)
        .group_by(Round.task_id)
    )


def _checked_by_task(person_id: int) -> Select[str, int]:
    """A person's votes that stand, by task: the person's index range, with a probe of standings for each."""
    return (
        select(Round.task_id, func.count())
        .select_from(Validation)
        .join(Standing, Standing.example_id == Validation.example_id)
        .join(Round, Round.id == Standing.round_id)
        .where(Validation.person_id == person_id, ~UNDONE)
        .group_by(Round.task_id)
    )


def read_records(session: Session, person_id: int) -> Mapping[str, TaskRecord]:
    """Return what a person contributed to each task, those with most verified fooling examples first."""
    checked = dict(session.execute(_checked_by_task(person_id)).all())
    records = {task_id: TaskRecord(ErrorCounts(), checked=count) for task_id, count in checked.items()}
    for task_id, *sums in session.execute(_written_by_task(person_id)):
        *counts, retracted = map(int, sums)
        records[task_id] = TaskRecord(ErrorCounts(*counts), retracted, checked.get(task_id, 0))
    pairs = [(task_id, record) for task_id, record in records.items() if record.counts.examples or record.checked]
    pairs.sort(key=lambda pair: (-pair[1].counts.validated, -pair[1].counts.examples, -pair[1].checked, pair[0]))
    return dict(pairs)


def count_retracted(session: Session, person_id: int) -> int:
    """Return how many examples a person withdrew."""
    mine = (Tally.person_id == person_id, Tally.source != ExampleSource.PROGRAM)
    return int(session.scalar(select(func.coalesce(func.sum(Tally.retracted), 0)).where(*mine)) or 0)


@dataclass(frozen=True)
class ActiveDay:
    """A day of the grid: examples written and votes cast; `level` from 0 to 4 is how dark its square is."""

    day: date
    written: int = 0
    checked: int = 0
    future: bool = False

    @property
    def total(self) -> int:
        """Examples and votes together."""
        return self.written + self.checked

    @property
    def level(self) -> int:
        """The darkness of the square."""
        return sum(self.total >= least for least in LEVELS)


@dataclass(frozen=True)
class Activity:
    """Twelve weeks of a person, each of seven days from Monday on, the present week last."""

    weeks: Sequence[Sequence[ActiveDay]]

    @property
    def days(self) -> list[ActiveDay]:
        """Days with contributions, the oldest first."""
        return [day for week in self.weeks for day in week if day.total]

    @property
    def total(self) -> int:
        """Contributions in all weeks."""
        return sum(day.total for day in self.days)


def read_activity(session: Session, person_id: int, today: date | None = None) -> Activity:
    """Return a person's last `WEEKS` weeks by UTC day: an index range of tallies and one of votes."""
    today = today or now().date()
    first = today - timedelta(days=today.weekday() + 7 * (WEEKS - 1))
    written = (
        select(Tally.day, func.sum(Tally.examples))
        .where(Tally.person_id == person_id, Tally.day >= first.isoformat(), Tally.source != ExampleSource.PROGRAM)
        .group_by(Tally.day)
    )
    examples = {day: int(count) for day, count in session.execute(written)}
    since = datetime.combine(first, datetime.min.time(), tzinfo=UTC)
    moments = session.scalars(
        select(Validation.at).where(Validation.person_id == person_id, Validation.at >= since, ~UNDONE)
    )
    votes = Counter(moment.astimezone(UTC).date() for moment in moments)

    def read_day(offset: int) -> ActiveDay:
        day = first + timedelta(days=offset)
        return ActiveDay(day, examples.get(day.isoformat(), 0), votes[day], day > today)

    return Activity([[read_day(7 * week + weekday) for weekday in range(7)] for week in range(WEEKS)])
