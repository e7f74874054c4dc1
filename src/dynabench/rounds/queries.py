"""Every `select` over tasks, rounds and contexts, with its cost."""

from collections.abc import Iterator

from sqlalchemy import ColumnElement, Select, func, select
from sqlalchemy.orm import InstrumentedAttribute

from dynabench.accounts.tables import Person
from dynabench.rounds.tables import Context, Role, Round, Task, TaskVersion

KEYS = 2**31 - 1  # random keys of contexts fit a signed 32-bit column


def versions(task_id: str) -> Select[TaskVersion]:
    """All versions of a task's config, newest first: one index range."""
    return select(TaskVersion).where(TaskVersion.task_id == task_id).order_by(TaskVersion.number.desc())


def tasks(after: str, limit: int) -> Select[Task]:
    """Tasks by id, above `after`: one range of the primary key."""
    return select(Task).where(Task.id > after).order_by(Task.id).limit(limit)


def role(task_id: str, person_id: int) -> Select[str]:
    """What a person is to a task: one probe of the primary key."""
    return select(Role.role).where(Role.task_id == task_id, Role.person_id == person_id)


def person(username: str) -> Select[Person]:
    """Somebody by username, whatever its case: one index probe."""
    return select(Person).where(func.lower(Person.username) == username.lower(), Person.deleted_at.is_(None))


def owners(task_id: str) -> Select[Person]:
    """Who owns a task: the task's roles, a handful of rows."""
    return (
        select(Person)
        .join(Role, Role.person_id == Person.id)
        .where(Role.task_id == task_id, Role.role == "owner", Person.deleted_at.is_(None))
        .order_by(Person.id)
    )


def rounds(task_id: str) -> Select[Round]:
    """A task's rounds, newest first: one index range, a handful of rows."""
    return select(Round).where(Round.task_id == task_id).order_by(Round.number.desc())


def round_numbered(task_id: str, number: int) -> Select[Round]:
    """One round: one index probe."""
    return select(Round).where(Round.task_id == task_id, Round.number == number)


def open_round(task_id: str) -> Select[Round]:
    """The round that collects now: reads the task's rounds, a handful of rows."""
    return select(Round).where(Round.task_id == task_id, Round.state == "open")


def last_number(task_id: str) -> Select[int | None]:
    """The highest number of a task's rounds: one index probe."""
    return select(func.max(Round.number)).where(Round.task_id == task_id)


def any_context(task_id: str) -> Select[Context]:
    """Some context of a task: one index probe."""
    return select(Context).where(Context.task_id == task_id).limit(1)


def context_count(task_id: str) -> Select[int]:
    """How many contexts a task has: walks one index range, linear in the count; not on the annotators' path."""
    return select(func.count()).select_from(Context).where(Context.task_id == task_id)


def known_digests(task_id: str, digests: list[str]) -> Select[str]:
    """Which of `digests` the task has already: one index probe each."""
    return select(Context.digest).where(Context.task_id == task_id, Context.digest.in_(digests))


def lowest(task_id: str, column: InstrumentedAttribute[int]) -> Select[int]:
    """The smallest `used` or `fooled` of a task's contexts: one probe of its index, no scan."""
    return select(column).where(Context.task_id == task_id).order_by(column).limit(1)


def _first(task_id: str, *conditions: ColumnElement[bool], order: list[ColumnElement[int]]) -> Select[Context]:
    return select(Context).where(Context.task_id == task_id, *conditions).order_by(*order).limit(1)


def uniform(task_id: str, draw: int, but: int) -> Iterator[Select[Context]]:
    """The context with the random key nearest above `draw`, around the corner if none: at most two index probes.

    Context `but` is passed over (0: none). Keys are drawn anew at each handout, so that a wide gap below a key
    favours its context once, not for good.
    """
    order: list[ColumnElement[int]] = [Context.draw.expression]
    yield _first(task_id, Context.draw >= draw, Context.id != but, order=order)
    yield _first(task_id, Context.draw < draw, Context.id != but, order=order)


def least(
    task_id: str, column: InstrumentedAttribute[int], level: int, draw: int, but: int
) -> Iterator[Select[Context]]:
    """The context with the lowest `column`, ties broken by the random key nearest above `draw`.

    `level` is the lowest value (`lowest`). At most three index probes, no sort; the third is reached only when
    `but` was alone at that level.
    """
    order: list[ColumnElement[int]] = [Context.draw.expression]
    yield _first(task_id, column == level, Context.draw >= draw, Context.id != but, order=order)
    yield _first(task_id, column == level, Context.draw < draw, Context.id != but, order=order)
    yield _first(task_id, column > level, Context.id != but, order=[column.expression, *order])
