"""Every `select` over the queue of validation, with its cost: candidates, and the places that validators hold."""

from collections.abc import Iterable, Sequence
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
    or_,
    select,
    true,
    tuple_,
    union_all,
)
from sqlalchemy.dialects import postgresql, sqlite

from dynabench.collection.tables import Example, Standing
from dynabench.kit.db import PreparedStatement, Utc
from dynabench.people.accounts.tables import Person
from dynabench.people.roles import Ban, Role
from dynabench.rounds import queries as round_queries
from dynabench.rounds.tables import Context, Round, RoundState, Task
from dynabench.validation.controls.tables import Consequence, ControlDecision, ControlPlace
from dynabench.validation.queries import BLIND, MODES, OPEN, UNDONE, VALIDATED
from dynabench.validation.tables import Reservation, Skip, Validation

HELD, STALE, QUEUED = range(3)  # kinds of rows of `WAITING`


_PERSON: BindParameter[int] = bindparam("person", type_=BigInteger)


_EXAMPLE: BindParameter[int] = bindparam("example", type_=BigInteger)


_AT = bindparam("at", type_=Utc)


_NONE = (literal(0).label("votes"), literal(0).label("taken"))


def _among(column: ColumnElement[Any] | Any, values: Iterable[str]) -> ColumnElement[bool]:
    """Return `column IN values` without a list, whose length a prepared statement would have to know."""
    return or_(*(column == value for value in values))


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
    paused = exists().where(
        ControlDecision.task_id == Task.id,
        ControlDecision.person_id == _PERSON,
        ControlDecision.consequence == Consequence.PAUSE,
        ControlDecision.ended_at.is_(None),
    )
    columns = (Round.id, Round.number, Round.version_id, Round.competition, Task.version_id.label("newest_version"))
    seat = (role.label("role"), banned.label("banned"), paused.label("paused"), round_queries.PAYS.label("pays"))
    return (
        select(*columns, *seat, version.label("shown_version"))
        .select_from(Person)
        .join(Task, Task.id == bindparam("task"))
        .outerjoin(Round, and_(Round.task_id == Task.id, _among(Round.state, VALIDATED)))
        .where(Person.id == _PERSON)
        .order_by(Round.number)
        .with_for_update(key_share=True, of=Person)
    )


def _held() -> Select[int, int, int, int, int, int]:
    return (
        select(literal(HELD).label("kind"), Standing.draw, Reservation.example_id, Standing.round_id, *_NONE)
        .join(Standing, Standing.example_id == Reservation.example_id)
        .join(Round, Round.id == Standing.round_id)
        .where(Reservation.person_id == _PERSON, _among(Reservation.mode, MODES), Reservation.expires_at > _AT, OPEN)
        .where(Round.task_id == bindparam("task"), _among(Round.state, VALIDATED))
        .order_by(Reservation.expires_at.desc())
        .limit(1)
    )


def _stale() -> Select[int, int, int, int, int, int]:
    mine = (Reservation.person_id == _PERSON, BLIND, Reservation.expires_at < bindparam("old", type_=Utc))
    nowhere = (literal(0).label("draw"), Reservation.example_id, literal(0).label("round_id"), *_NONE)
    return select(literal(STALE).label("kind"), *nowhere).where(*mine).limit(1)


def _queue(by_language: bool = False) -> Select[int, int, int, int, int, int]:
    """The next `size` open examples of a round, above the place (`draw`, `example`) and up to the draw `last`, that a
    person may check, with their votes and the places that others hold.

    A walk along the index of open examples that ends with the last row wanted; a row that is passed over (own, voted
    on, skipped) costs an index probe or two. Places are counted for the rows found alone. How many are wanted after
    a disagreement depends on the votes: the caller looks at those under a lock. With `by_language`, examples of
    other `languages` are passed over too, at the cost of two probes for each.
    """
    draw: BindParameter[int] = bindparam("draw", type_=BigInteger)
    walk = (
        select(Standing.draw, Standing.example_id, Standing.round_id, Standing.votes)
        .where(OPEN, Standing.round_id == bindparam("round"), Standing.draw.between(draw, bindparam("last")))
        .where(tuple_(Standing.draw, Standing.example_id) > tuple_(draw, _EXAMPLE))
        .where(Standing.author_id != _PERSON, ~_voted(), ~_skipped(), ~_covered())
        .where(_in_languages(bindparam("languages", expanding=True)) if by_language else true())
        .order_by(Standing.draw, Standing.example_id)
        .limit(bindparam("size"))
        .subquery("walk")
    )
    reserved_places = _count_reserved(walk.c.example_id).label("taken")
    return select(literal(QUEUED).label("kind"), *walk.c, reserved_places).order_by(walk.c.draw, walk.c.example_id)


def _in_languages(languages: Any) -> ColumnElement[bool]:
    """Return the condition that the context of the outer `standings` row is in one of some languages, or in none."""
    of_standing = and_(Example.id == Standing.example_id, Context.id == Example.context_id)
    return exists().where(of_standing, Context.language.in_(languages)).correlate(Standing)


def _voted() -> ColumnElement[bool]:
    """Return the condition that a person's vote stands on the example of the outer `standings` row.

    Cost: one index probe.
    """
    mine = and_(Validation.person_id == _PERSON, Validation.example_id == Standing.example_id)
    return exists().where(mine, ~UNDONE)


def _skipped() -> ColumnElement[bool]:
    return exists().where(Skip.example_id == Standing.example_id, Skip.person_id == _PERSON)


def _covered() -> ColumnElement[bool]:
    """Return the condition that the number of the outer `standings` row stood for a control that the person is done
    with: the example itself comes last."""
    mine = (ControlPlace.example_id == Standing.example_id, ControlPlace.person_id == _PERSON)
    return exists().where(*mine, ControlPlace.done_at.is_not(None))


def _count_reserved(example_id: Any) -> Any:
    others = (Reservation.example_id == example_id, Reservation.person_id != _PERSON, Reservation.expires_at > _AT)
    return select(func.count()).select_from(Reservation).where(*others).correlate_except(Reservation).scalar_subquery()


def _waiting(by_language: bool = False) -> Executable:
    parts = [part.subquery() for part in (_held(), _stale(), _queue(by_language))]
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
    control = (ControlPlace.kind.label("control"), ControlPlace.item_id, ControlPlace.shown_id, ControlPlace.done_at)
    in_place = and_(ControlPlace.example_id == Example.id, ControlPlace.person_id == _PERSON)
    mine = (mode.scalar_subquery().label("mode"), expires.scalar_subquery().label("expires_at"))
    counted = and_(Validation.example_id == Example.id, ~UNDONE)
    return (
        select(
            *columns,
            Validation.vote,
            Validation.by_owner,
            Validation.weight,
            _count_reserved(Example.id).label("taken"),
            *mine,
            *control,
        )
        .select_from(Example)
        .join(Standing, Standing.example_id == Example.id)
        .join(Context, Context.id == Example.context_id)
        .outerjoin(ControlPlace, in_place)
        .outerjoin(Validation, counted)
        .where(Example.id == _EXAMPLE)
        .order_by(Validation.id)
    )


def open_for(
    person_id: int, task_id: str, most: int, own_team: Select[int], languages: Sequence[str] = ()
) -> Select[int]:
    """Select how many open examples of a task a person has neither written, voted on nor skipped, at most `most`.

    In a competition those of the person's `own_team` are left out. Where `languages` are given, those on contexts in
    others are left out too.

    A walk along the index of open examples of the task's rounds, with an index probe or two for each.
    """
    rows = (
        select(Standing.example_id)
        .join(Round, Round.id == Standing.round_id)
        .where(Round.task_id == task_id, Round.state.in_(VALIDATED), OPEN)
        .where(Standing.author_id != person_id, ~_voted(), ~_skipped(), ~_covered())
        .where(~and_(Round.competition, Standing.example_id.in_(own_team)))
        .where(_in_languages(["", *languages]) if languages else true())
        .limit(most)
    )
    return select(func.count()).select_from(rows.params(person=person_id).subquery())


ASKING, CANDIDATE = PreparedStatement(_asking()), PreparedStatement(_candidate())
QUEUE, WAITING = PreparedStatement(_queue()), PreparedStatement(_waiting())
KNOWN_QUEUE, KNOWN_WAITING = _queue(by_language=True), _waiting(by_language=True)
"""The same for people who named the `languages` that they know."""
LOCK = PreparedStatement(select(Standing.example_id).where(Standing.example_id == _EXAMPLE).with_for_update())
"""The row that voters and askers lock."""


def _hold(dialect: str) -> Executable:
    table = cast(Table, Reservation.__table__)
    write = (postgresql if dialect == "postgresql" else sqlite).insert(table)
    longer = {"expires_at": write.excluded.expires_at, "since": write.excluded.since}
    statement: Executable = write.on_conflict_do_update(index_elements=["example_id", "person_id"], set_=longer)
    return statement


HOLD = PreparedStatement(_hold, ["example_id", "person_id", "mode", "expires_at", "since"])
"""Hold a place, or hold it longer; the mode stays that of the first time."""
