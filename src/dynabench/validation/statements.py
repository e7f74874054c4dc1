"""The statements of handing out an item, put together once: building one takes longer than running it.

All go past the unit of work and read only what is shown: round trips are what handing out costs.
"""

from functools import cache
from typing import Any, cast

from sqlalchemy import (
    BigInteger,
    BindParameter,
    ColumnElement,
    Executable,
    Select,
    Table,
    and_,
    bindparam,
    exists,
    func,
    literal,
    select,
    tuple_,
    union_all,
)
from sqlalchemy.dialects import postgresql, sqlite

from dynabench.collection.tables import Example, Standing
from dynabench.kit.db import Utc
from dynabench.people.accounts.tables import Person
from dynabench.people.roles import Ban, Role
from dynabench.rounds.tables import Context, Round, RoundState, Task
from dynabench.validation.queries import BLIND, MODES, OPEN, UNDONE, VALIDATED
from dynabench.validation.tables import Reservation, Skip, Validation

HELD, STALE, QUEUED = range(3)  # kinds of rows of `WAITING`

_PERSON: BindParameter[int] = bindparam("person", type_=BigInteger)
_EXAMPLE: BindParameter[int] = bindparam("example", type_=BigInteger)
_AT = bindparam("at", type_=Utc)


_NONE = (literal(0).label("votes"), literal(0).label("taken"))


def _asking() -> Select[Any]:
    """Select the person who asks, and the rounds in which the person may check.

    The person is locked, so that a person's requests come one by one. There is a row for each round of the
    task that is voted on, oldest first, since those wait for their release; one row with nulls where there
    is none. Index probes and a handful of rounds. Foreign keys do not wait for the lock.
    """
    role = select(Role.role).where(Role.task_id == Task.id, Role.person_id == _PERSON).scalar_subquery()
    banned = select(Ban.reason).where(Ban.task_id == Task.id, Ban.person_id == _PERSON).scalar_subquery()
    current = Round.__table__.alias("current")
    collects = select(current.c.version_id).where(current.c.task_id == Task.id, current.c.state == RoundState.OPEN)
    version = func.coalesce(collects.limit(1).scalar_subquery(), Task.version_id)
    columns = (Round.id, Round.number, Round.version_id)
    return (
        select(*columns, role.label("role"), banned.label("banned"), version.label("shown_version"))
        .select_from(Person)
        .join(Task, Task.id == bindparam("task"))
        .outerjoin(Round, and_(Round.task_id == Task.id, Round.state.in_(VALIDATED)))
        .where(Person.id == _PERSON)
        .order_by(Round.number)
        .with_for_update(key_share=True, of=Person)
    )


def _held() -> Select[int, int, int, int, int, int]:
    """The live place that a person holds in a task: a range of their own reservations for each mode."""
    return (
        select(literal(HELD).label("kind"), Standing.draw, Reservation.example_id, Standing.round_id, *_NONE)
        .join(Standing, Standing.example_id == Reservation.example_id)
        .join(Round, Round.id == Standing.round_id)
        .where(Reservation.person_id == _PERSON, Reservation.mode.in_(MODES), Reservation.expires_at > _AT, OPEN)
        .where(Round.task_id == bindparam("task"), Round.state.in_(VALIDATED))
        .order_by(Reservation.expires_at.desc())
        .limit(1)
    )


def _stale() -> Select[int, int, int, int, int, int]:
    """A row where places of a person ran out long ago that are to be removed (`queries.old_reservations`)."""
    mine = (Reservation.person_id == _PERSON, BLIND, Reservation.expires_at < bindparam("old", type_=Utc))
    nowhere = (literal(0).label("draw"), Reservation.example_id, literal(0).label("round_id"), *_NONE)
    return select(literal(STALE).label("kind"), *nowhere).where(*mine).limit(1)


def _queue() -> Select[int, int, int, int, int, int]:
    """The next `size` open examples of a round, above the place (`draw`, `example`) and up to the draw `last`, that a
    person may check, with their votes and the places that others hold.

    A walk along the index of open examples that ends with the last row wanted; a row that is passed over (own, voted
    on, skipped) costs an index probe or two. Places are counted for the rows found alone. How many are wanted after
    a disagreement depends on the votes: the caller looks at those under a lock.
    """
    draw: BindParameter[int] = bindparam("draw", type_=BigInteger)
    walk = (
        select(Standing.draw, Standing.example_id, Standing.round_id, Standing.votes)
        .where(OPEN, Standing.round_id == bindparam("round"), Standing.draw.between(draw, bindparam("last")))
        .where(tuple_(Standing.draw, Standing.example_id) > tuple_(draw, _EXAMPLE))
        .where(Standing.author_id != _PERSON, ~_voted(), ~_skipped())
        .order_by(Standing.draw, Standing.example_id)
        .limit(bindparam("size"))
        .subquery("walk")
    )
    taken = _taken(walk.c.example_id).label("taken")
    return select(literal(QUEUED).label("kind"), *walk.c, taken).order_by(walk.c.draw, walk.c.example_id)


def _voted() -> ColumnElement[bool]:
    """Return the condition that a person's vote stands on the example of the outer `standings` row.

    Cost: one index probe.
    """
    mine = and_(Validation.person_id == _PERSON, Validation.example_id == Standing.example_id)
    return exists().where(mine, ~UNDONE)


def _skipped() -> ColumnElement[bool]:
    return exists().where(Skip.example_id == Standing.example_id, Skip.person_id == _PERSON)


def _taken(example_id: Any) -> Any:
    """Select the number of other people who hold a live place on an example: one range of the primary key."""
    others = (Reservation.example_id == example_id, Reservation.person_id != _PERSON, Reservation.expires_at > _AT)
    return select(func.count()).select_from(Reservation).where(*others).correlate_except(Reservation).scalar_subquery()


def _waiting() -> Executable:
    """All at once: the place that is held, whether there is something to sweep, and the head of the queue."""
    parts = [part.subquery() for part in (_held(), _stale(), _queue())]
    return union_all(*(select(*part.c) for part in parts))


def _candidate() -> Select[Any]:
    """An example with all that handing it out asks: a row for each vote that stands, in order, or one without.

    Index probes, and a range over the example's votes and places.
    """
    mode = select(Reservation.mode).where(Reservation.example_id == Example.id, Reservation.person_id == _PERSON)
    expires = select(Reservation.expires_at).where(
        Reservation.example_id == Example.id, Reservation.person_id == _PERSON
    )
    columns = (Standing.open, Example.input, Example.answer, Context.values.label("context"))
    mine = (mode.scalar_subquery().label("mode"), expires.scalar_subquery().label("expires_at"))
    counted = and_(Validation.example_id == Example.id, ~UNDONE)
    return (
        select(*columns, Validation.vote, Validation.by_owner, _taken(Example.id).label("taken"), *mine)
        .select_from(Example)
        .join(Standing, Standing.example_id == Example.id)
        .join(Context, Context.id == Example.context_id)
        .outerjoin(Validation, counted)
        .where(Example.id == _EXAMPLE)
        .order_by(Validation.id)
    )


ASKING, QUEUE, WAITING, CANDIDATE = _asking(), _queue(), _waiting(), _candidate()

LOCK = select(Standing.example_id).where(Standing.example_id == _EXAMPLE).with_for_update()
"""The row that voters and askers lock."""


@cache
def hold(dialect: str) -> Executable:
    """Hold a place, or hold it longer; the mode stays that of the first time."""
    table = cast(Table, Reservation.__table__)
    write = (postgresql if dialect == "postgresql" else sqlite).insert(table)
    longer = {"expires_at": write.excluded.expires_at}
    statement: Executable = write.on_conflict_do_update(index_elements=["example_id", "person_id"], set_=longer)
    return statement
