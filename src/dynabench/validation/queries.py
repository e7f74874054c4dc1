"""Every `select` over votes, places and the queue of examples that wait for them, with its cost."""

from collections.abc import Sequence
from datetime import datetime
from functools import cache
from typing import Any, cast

from sqlalchemy import (
    BigInteger,
    BindParameter,
    ColumnElement,
    Delete,
    Executable,
    Select,
    Table,
    and_,
    bindparam,
    case,
    delete,
    exists,
    func,
    literal,
    select,
    text,
    true,
    tuple_,
    union_all,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import aliased

from dynabench.collection.tables import Example, Hiding, Prediction, Standing, Tally, VerdictEvent
from dynabench.kit.db import Utc
from dynabench.people.accounts.tables import Person
from dynabench.people.roles import Ban, Role
from dynabench.rounds.tables import Context, Round, RoundState, Task
from dynabench.validation.controls.tables import Consequence, ControlAnswer, ControlDecision, ControlPlace
from dynabench.validation.tables import Dismissal, Reservation, Skip, Undo, Validation

VALIDATED = (RoundState.OPEN, RoundState.CLOSED)  # states of a round in which its examples may be voted on

# Both databases use the partial index only where the query says exactly what the index says.
OPEN = text("standings.open")

MODES = ("judge", "answer")
BLIND = Reservation.mode == "answer"

UNDONE = exists().where(Undo.validation_id == Validation.id)
"""The vote counts no more, since its validator took it back or an owner excluded it."""
TAKEN_BACK = exists().where(Undo.validation_id == Validation.id, ~Undo.excluded)
"""The vote was taken back by its validator; excluded votes stay on the validator's own record."""
CONTROL = exists().where(ControlAnswer.validation_id == Validation.id)
"""The vote answers a control item: it counts for no example, and is marked as undone from the start."""
CONTROL_STANDS = exists().where(ControlAnswer.validation_id == Validation.id, ~ControlAnswer.taken_back)
"""The same, unless its validator took it back."""


def votes(example_id: int) -> Select[Validation]:
    """The votes that stand on one example, in the order in which they were cast: one index range."""
    return select(Validation).where(Validation.example_id == example_id, ~UNDONE).order_by(Validation.id)


def votes_ever(example_id: int, person_id: int) -> Select[Validation]:
    """All votes of one person on one example, undone ones too, oldest first: one index range."""
    mine = (Validation.person_id == person_id, Validation.example_id == example_id, ~CONTROL)
    return select(Validation).where(*mine).order_by(Validation.id)


def latest_vote(person_id: int) -> Select[Validation]:
    """The last vote of a person that stands, answers to controls among them: walks back from their newest one."""
    return (
        select(Validation)
        .where(Validation.person_id == person_id, ~UNDONE | CONTROL_STANDS)
        .order_by(Validation.at.desc(), Validation.id.desc())
        .limit(1)
    )


def own_votes(example_id: int, person_id: int) -> Select[Validation]:
    """The votes of one person on one example that the person did not take back: one index range."""
    mine = (Validation.person_id == person_id, Validation.example_id == example_id)
    return select(Validation).where(*mine, ~TAKEN_BACK).order_by(Validation.id)


def last_weight(person_id: int, round_id: int) -> Select[float | None]:
    """Select the weight of a person's latest vote in a round: walks back over the person's own votes."""
    return (
        select(Validation.weight)
        .join(Standing, Standing.example_id == Validation.example_id)
        .where(Validation.person_id == person_id, Standing.round_id == round_id, Validation.weight.is_not(None))
        .order_by(Validation.at.desc(), Validation.id.desc())
        .limit(1)
    )


def votes_since(person_id: int, at: datetime) -> Select[int]:
    """Select the number of a person's votes since `at` that the person did not take back: one index range.

    Answers to controls are among them, so that the number does not tell them apart.
    """
    mine = (Validation.person_id == person_id, Validation.at >= at)
    return select(func.count()).select_from(Validation).where(*mine, ~TAKEN_BACK | CONTROL_STANDS)


def places_taken(example_id: int, person_id: int, at: datetime) -> Select[int]:
    """Select the number of other people who hold a live place on an example: one range of the primary key."""
    others = (Reservation.example_id == example_id, Reservation.person_id != person_id)
    return select(func.count()).select_from(Reservation).where(*others, Reservation.expires_at > at)


def old_reservations(person_id: int, at: datetime) -> Delete:
    """A person's blind places that ran out before `at`, to be removed: one range over their own.

    Those of judges stay: they tell for good that the claim was seen.
    """
    stale = delete(Reservation).where(Reservation.person_id == person_id, BLIND, Reservation.expires_at < at)
    return stale.execution_options(synchronize_session=False)  # read nothing of them before or after


def predictions(example_id: int) -> Select[Prediction]:
    """Select the targets' predictions on an example: one index range, a handful of rows."""
    return select(Prediction).where(Prediction.example_id == example_id).order_by(Prediction.position)


def flags_on(example_ids: Sequence[int]) -> Select[Validation, Person]:
    """The votes that flag some examples and stand, with who cast them: one index range per example."""
    return (
        select(Validation, Person)
        .join(Person, Person.id == Validation.person_id)
        .where(Validation.example_id.in_(example_ids), Validation.vote == "flagged", ~UNDONE)
        .order_by(Validation.id)
    )


def all_votes(example_id: int) -> Select[Validation, Person, bool | None]:
    """All votes on an example with their validators; `excluded` is null where a vote counts. One index range."""
    undone = aliased(Undo)
    return (
        select(Validation, Person, undone.excluded)
        .join(Person, Person.id == Validation.person_id)
        .outerjoin(undone, undone.validation_id == Validation.id)
        .where(Validation.example_id == example_id, ~CONTROL)
        .order_by(Validation.id)
    )


def hidings_of(example_ids: Sequence[int]) -> Select[Hiding, Person | None]:
    """Select when some examples were hidden and shown again, and by whom: one index range per example."""
    mine = select(Hiding, Person).outerjoin(Person, Person.id == Hiding.by)
    return mine.where(Hiding.example_id.in_(example_ids)).order_by(Hiding.id)


def dismissals_of(example_ids: Sequence[int]) -> Select[Dismissal, Person | None]:
    """Select when flags on some examples were dismissed or reopened, and by whom.

    Cost: one index range per example.
    """
    mine = select(Dismissal, Person).outerjoin(Person, Person.id == Dismissal.by)
    return mine.where(Dismissal.example_id.in_(example_ids)).order_by(Dismissal.id)


def last_dismissal(example_id: int) -> Select[Dismissal]:
    """The latest dismissal of an example's flags: one index range."""
    return select(Dismissal).where(Dismissal.example_id == example_id).order_by(Dismissal.id.desc()).limit(1)


def bans_of(task_id: str, person_ids: Sequence[int]) -> Select[int, str]:
    """Select which of some people are banned from a task, and why: one probe each."""
    return select(Ban.person_id, Ban.reason).where(Ban.task_id == task_id, Ban.person_id.in_(person_ids))


def verdict_events(example_id: int) -> Select[VerdictEvent]:
    """Select the changes of the verdict on an example: one index range."""
    return select(VerdictEvent).where(VerdictEvent.example_id == example_id).order_by(VerdictEvent.id)


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
    paused = exists().where(
        ControlDecision.task_id == Task.id,
        ControlDecision.person_id == _PERSON,
        ControlDecision.consequence == Consequence.PAUSE,
        ControlDecision.ended_at.is_(None),
    )
    columns = (Round.id, Round.number, Round.version_id, Round.competition, Task.version_id.label("newest_version"))
    seat = (role.label("role"), banned.label("banned"), paused.label("paused"))
    return (
        select(*columns, *seat, version.label("shown_version"))
        .select_from(Person)
        .join(Task, Task.id == bindparam("task"))
        .outerjoin(Round, and_(Round.task_id == Task.id, Round.state.in_(VALIDATED)))
        .where(Person.id == _PERSON)
        .order_by(Round.number)
        .with_for_update(key_share=True, of=Person)
    )


def _held() -> Select[int, int, int, int, int, int]:
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


ASKING, QUEUE, WAITING, CANDIDATE = _asking(), _queue(), _waiting(), _candidate()
KNOWN_QUEUE, KNOWN_WAITING = _queue(by_language=True), _waiting(by_language=True)
"""The same for people who named the `languages` that they know."""

LOCK = select(Standing.example_id).where(Standing.example_id == _EXAMPLE).with_for_update()
"""The row that voters and askers lock."""


@cache
def hold(dialect: str) -> Executable:
    """Hold a place, or hold it longer; the mode stays that of the first time."""
    table = cast(Table, Reservation.__table__)
    write = (postgresql if dialect == "postgresql" else sqlite).insert(table)
    longer = {"expires_at": write.excluded.expires_at, "since": write.excluded.since}
    statement: Executable = write.on_conflict_do_update(index_elements=["example_id", "person_id"], set_=longer)
    return statement


def days(round_id: int, since: str) -> Select[Any]:
    """Sums of a round's tallies by day, arm and source from the day `since` on: one range of the projection's primary
    key, a row per person and day."""
    sums = [
        func.sum(getattr(Tally, name)).label(name) for name in ("examples", "fooled", "resolved", "hidden", "unknown")
    ]
    return (
        select(Tally.day, Tally.arm, Tally.source, *sums)
        .where(Tally.round_id == round_id, Tally.day >= since)
        .group_by(Tally.day, Tally.arm, Tally.source)
    )


def people(round_id: int, since: str, sources: Sequence[str]) -> Select[str, int]:
    """Select the number of people who wrote on each day from `since` on; same cost as `days`."""
    return (
        select(Tally.day, func.count(Tally.person_id.distinct()))
        .where(Tally.round_id == round_id, Tally.day >= since, Tally.source.in_(sources), Tally.examples > 0)
        .group_by(Tally.day)
    )


def checked(round_id: int, newest: int) -> Select[Any]:
    """Of the `newest` examples of a round those with votes: when each was written, its votes, how many kinds of them,
    and whether one flags it. One index range, walked back, and two probes for each example in it."""
    lately = (
        select(Example.id, Example.at)
        .where(Example.round_id == round_id)
        .order_by(Example.id.desc())
        .limit(newest)
        .subquery()
    )
    undone = select(Undo.validation_id).where(Undo.validation_id == Validation.id).exists()
    return (
        select(
            lately.c.at,
            func.count().label("votes"),
            func.count(Validation.vote.distinct()).label("kinds"),
            func.max(case((Validation.vote == "flagged", 1), else_=0)).label("flagged"),
        )
        .join(Standing, Standing.example_id == lately.c.id)
        .join(Validation, Validation.example_id == lately.c.id)
        .where(~undone, ~Standing.retracted, ~Standing.hidden)
        .group_by(lately.c.id, lately.c.at)
    )
