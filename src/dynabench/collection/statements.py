"""The statements around each example, put together once: building one takes longer than running it.

All go through the tables, past the unit of work: a row is read or written once here and never changed.
"""

from functools import cache
from typing import Any, cast

from sqlalchemy import (
    BigInteger,
    Executable,
    Integer,
    Table,
    bindparam,
    case,
    func,
    insert,
    literal,
    select,
    union_all,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite

from dynabench.collection.tables import Example, Handout, Prediction, Retraction, Seed, Standing
from dynabench.people.roles import Ban, Role
from dynabench.rounds.samplers.most_uncertain import FADES
from dynabench.rounds.tables import Context, Round, RoundState, Task

_PERSON = bindparam("person", type_=BigInteger)


def _latest() -> Any:
    mine = (Handout.person_id == _PERSON, Handout.round_id == Round.id)
    latest = select(func.max(Handout.id)).where(*mine, Handout.context_id == bindparam("context", type_=BigInteger))
    return latest.correlate(Round).scalar_subquery()


def _given() -> Executable:
    """Return the statement that reads what a draft is checked against: one row for a task that exists.

    The row holds the task's open round, the hand-out (`handout`, or the latest of `context` where that is
    0), the context, the person's role in the task and whether they are banned. A handful of index probes.
    """
    wanted = bindparam("handout", type_=BigInteger)
    context = bindparam("context", type_=BigInteger)
    role = select(Role.role).where(Role.task_id == Task.id, Role.person_id == _PERSON).scalar_subquery()
    banned = select(Ban.reason).where(Ban.task_id == Task.id, Ban.person_id == _PERSON).scalar_subquery()
    columns: list[Any] = [
        Task.id.label("task_id"),
        Round.id,
        Round.number,
        Round.version_id,
        Round.fooled_when,
        Round.arms,
        Round.plan,
    ]
    names = ("id", "goal", "start", "initial", "arm", "seed_id", "made_from", "at")
    columns += [getattr(Handout, name).label(f"handout_{name}") for name in names]
    columns += [Context.id.label("context_id"), Context.values.label("context"), Context.tag]
    chosen = case((wanted == 0, _latest()), else_=wanted)
    mine = (Handout.person_id == _PERSON) & (Handout.round_id == Round.id) & (Handout.context_id == context)
    return (
        select(*columns, role.label("role"), banned.label("banned"))
        .select_from(Task)
        .outerjoin(Round, (Round.task_id == Task.id) & (Round.state == RoundState.OPEN))
        .outerjoin(Handout, (Handout.id == chosen) & mine)
        .outerjoin(Context, (Context.id == context) & (Context.task_id == Task.id))
        .where(Task.id == bindparam("task"))
    )


def _tries() -> Executable:
    """Return the statement that reads a person's examples on a context in a round, and one more.

    That one is the example that an idempotency key of the person stands for. `gone` marks the retracted
    ones. Index probes per hand-out, and one for the key.
    """
    round_id, context = bindparam("round", type_=BigInteger), bindparam("context", type_=BigInteger)
    given = select(Handout.id).where(
        Handout.person_id == _PERSON, Handout.round_id == round_id, Handout.context_id == context
    )
    gone = select(Retraction.example_id).where(Retraction.example_id == Example.id).exists()
    columns = (Example.id, Example.handout_id, Example.input, Example.answer, Example.request, gone.label("gone"))
    same = (Example.author_id == _PERSON) & (Example.key == bindparam("key"))
    here = select(*columns, literal(False).label("same_key")).where(Example.handout_id.in_(given))
    return union_all(here, select(*columns, literal(True).label("same_key")).where(same))


GIVEN, TRIES = _given(), _tries()

ROUND_LOCK = select(Round.state, Round.plan).where(Round.id == bindparam("round")).with_for_update(read=True)
"""State and plan of a round, which is locked for sharing: one that closes waits for this example, or this for it."""

HANDOUT_LOCK = select(Handout.id).where(Handout.id == bindparam("handout")).with_for_update()
"""A handout, so that tries on it come one at a time: they are numbered."""


def _table(of: type[Any]) -> Table:
    return cast(Table, of.__table__)


@cache
def new_example(dialect: str) -> Any:
    """Write an example; no id comes back where its author's key was used meanwhile."""
    write = (postgresql if dialect == "postgresql" else sqlite).insert(_table(Example))
    return write.on_conflict_do_nothing(index_elements=["author_id", "key"]).returning(_table(Example).c.id)


NEW_PREDICTION = insert(_table(Prediction))
NEW_STANDING = insert(_table(Standing))


def _context_used() -> Executable:
    doubt = func.coalesce(bindparam("doubt", type_=Integer), Context.doubt)
    columns: dict[str, Any] = {
        "used": Context.used + 1,
        "fooled": Context.fooled + bindparam("and_fooled", type_=BigInteger),
        "good": Context.good + bindparam("and_fooled", type_=BigInteger),
        "doubt": ((FADES - 1) * Context.doubt + doubt) // FADES,
    }
    return update(_table(Context)).where(Context.id == bindparam("context")).values(columns)


CONTEXT_USED = _context_used()
"""One more example on a context, which may have fooled; `doubt` is that of the targets, None where they tell none."""

CONTEXT_JUDGED = (
    update(_table(Context))
    .where(Context.id == bindparam("context"))
    .values(good=Context.good + bindparam("and_good"), failed=Context.failed + bindparam("and_failed"))
)
SEED_USED = update(_table(Seed)).where(Seed.id == bindparam("seed")).values(used=Seed.used + 1)
