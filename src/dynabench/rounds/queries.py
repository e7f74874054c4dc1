"""Every `select` over tasks, rounds and contexts, with its cost."""

from collections.abc import Collection, Iterator
from datetime import datetime

from sqlalchemy import (
    BigInteger,
    BindParameter,
    Executable,
    Select,
    String,
    and_,
    bindparam,
    column,
    delete,
    exists,
    func,
    select,
    table,
    union,
    update,
)
from sqlalchemy.orm import lazyload

from dynabench.kit.db import PreparedStatement
from dynabench.kit.jobs import Job
from dynabench.people.accounts.tables import Act, Person
from dynabench.people.roles import Ban, Role, TaskRole
from dynabench.rounds.tables import (
    Context,
    DemoMark,
    Invitation,
    Proposal,
    RefusedRow,
    Round,
    RoundContext,
    RoundPerson,
    RoundState,
    Task,
    TaskVersion,
)

KEYS = 2**31 - 1  # random keys of contexts fit a signed 32-bit column
_PAY_SCHEMES = table("pay_schemes", column("round_id"))  # of a package above this one
PAYS = exists().where(_PAY_SCHEMES.c.round_id == Round.id)
"""The condition that the round of the outer row pays: one index probe."""


def versions(task_id: str) -> Select[TaskVersion]:
    """All versions of a task's config, newest first: one index range."""
    return select(TaskVersion).where(TaskVersion.task_id == task_id).order_by(TaskVersion.number.desc())


def tasks(after: str, limit: int) -> Select[Task]:
    """Tasks by id, above `after`: one range of the primary key."""
    return select(Task).where(Task.id > after).order_by(Task.id).limit(limit)


def person_by_username(username: str) -> Select[Person]:
    """An account by username, whatever its case: one index probe."""
    return select(Person).where(func.lower(Person.username) == username.lower(), Person.deleted_at.is_(None))


def owners(task_id: str) -> Select[Person]:
    """Return the owners of a task: the task's roles, a handful of rows."""
    return (
        select(Person)
        .join(Role, Role.person_id == Person.id)
        .where(Role.task_id == task_id, Role.role == TaskRole.OWNER, Person.deleted_at.is_(None))
        .order_by(Person.id)
    )


# Nearly every request asks one of these three, so they are put together once: that takes longer than running them.

_TASK: BindParameter[str] = bindparam("task", type_=String)
_PERSON: BindParameter[int] = bindparam("person", type_=BigInteger)
_ROLE = select(Role.role).where(Role.task_id == _TASK, Role.person_id == _PERSON).scalar_subquery()
_BANNED = select(Ban.reason).where(Ban.task_id == _TASK, Ban.person_id == _PERSON).scalar_subquery()

SEAT: Select[str | None, str | None] = select(_ROLE, _BANNED)
"""A person's role in a task and the reason of their ban, None for none: two probes of primary keys."""

SEATED: Select[Round, str | None, str | None] = (
    select(Round, _ROLE, _BANNED)
    .where(Round.task_id == _TASK, Round.state == RoundState.OPEN)
    .options(lazyload(Round.targets))
)
"""The round of a task that collects now, without its targets, and a person's seat in the task: a handful of rows."""

OPEN_VERSION: Select[int] = select(Round.version_id).where(Round.task_id == _TASK, Round.state == RoundState.OPEN)
"""The version of the config of the round that collects now: reads the task's rounds, a handful of rows."""


DEMO_TASK = PreparedStatement(select(DemoMark.key).where(DemoMark.kind == "task", DemoMark.key == _TASK))
"""The mark of a task that the demo added: one probe of the primary key."""


def other_owner(task_id: str, person_id: int) -> Select[int]:
    """Another owner of the task: its roles, a handful of rows."""
    return (
        select(Person.id)
        .join(Role, Role.person_id == Person.id)
        .where(
            Role.task_id == task_id, Role.role == TaskRole.OWNER, Person.id != person_id, Person.deleted_at.is_(None)
        )
        .limit(1)
    )


def task_members(task_id: str, after: int, limit: int) -> Select[Person, str, Ban]:
    """Return the people with a role in a task or a ban from it, with both, by id.

    Reads one range of each primary key.
    """
    roles = select(Role.person_id).where(Role.task_id == task_id, Role.person_id > after)
    bans = select(Ban.person_id).where(Ban.task_id == task_id, Ban.person_id > after)
    some = [statement.order_by("person_id").limit(limit).subquery() for statement in (roles, bans)]
    ids = union(*(select(ids_of_some.c.person_id) for ids_of_some in some))
    return (
        select(Person, Role.role, Ban)
        .outerjoin(Role, and_(Role.task_id == task_id, Role.person_id == Person.id))
        .outerjoin(Ban, and_(Ban.task_id == task_id, Ban.person_id == Person.id))
        .where(Person.id.in_(ids), Person.deleted_at.is_(None))
        .order_by(Person.id)
        .limit(limit)
    )


def invitation(digest: str, lock: bool) -> Select[Invitation]:
    """The invitation whose secret has this digest: one probe of the unique index."""
    statement = select(Invitation).where(Invitation.digest == digest)
    return statement.with_for_update() if lock else statement


def open_invitations(task_id: str, moment: datetime) -> Select[Invitation]:
    """Invitations of a task that work at this moment, newest first: one index range, at most a hundred or so rows."""
    works = and_(
        Invitation.revoked_at.is_(None), Invitation.expires_at > moment, Invitation.uses < Invitation.most_uses
    )
    return select(Invitation).where(Invitation.task_id == task_id, works).order_by(Invitation.id.desc())


def forget_statements(person_id: int) -> Iterator[Executable]:
    """Statements that take away a person's roles in all tasks."""
    yield delete(Role).where(Role.person_id == person_id)
    yield delete(Ban).where(Ban.person_id == person_id)
    yield delete(RoundPerson).where(RoundPerson.person_id == person_id)
    yield delete(Invitation).where(Invitation.created_by == person_id)
    yield delete(Proposal).where(Proposal.person_id == person_id)
    yield update(Proposal).where(Proposal.decided_by == person_id).values(decided_by=None)


def rounds(task_id: str) -> Select[Round]:
    """A task's rounds, newest first: one index range, a handful of rows."""
    return select(Round).where(Round.task_id == task_id).order_by(Round.number.desc())


def all_started() -> Select[Round]:
    """Every round of every task that was opened: reads all rounds, some for each task; kept for seconds by its
    callers."""
    return select(Round).where(Round.state != RoundState.DRAFT)


def round_numbered(task_id: str, number: int) -> Select[Round]:
    """One round: one index probe."""
    return select(Round).where(Round.task_id == task_id, Round.number == number)


def open_rounds() -> Select[Round]:
    """The open rounds of all tasks: reads all rounds, a few dozen."""
    return select(Round).where(Round.state == RoundState.OPEN).order_by(Round.id)


def begun_rounds(task_ids: Collection[str]) -> Select[str, int, str, int]:
    """Select task, number, state and config version of the rounds of some tasks that are no drafts: a range for each
    task."""
    columns = (Round.task_id, Round.number, Round.state, Round.version_id)
    return select(*columns).where(Round.task_id.in_(task_ids), Round.state != RoundState.DRAFT).order_by(Round.number)


def open_round(task_id: str) -> Select[Round]:
    """The round that collects now: reads the task's rounds, a handful of rows."""
    return select(Round).where(Round.task_id == task_id, Round.state == RoundState.OPEN)


def last_number(task_id: str) -> Select[int | None]:
    """The highest number of a task's rounds: one index probe."""
    return select(func.max(Round.number)).where(Round.task_id == task_id)


def any_context(task_id: str) -> Select[Context]:
    """The first context of a task, the same each time: one index probe."""
    return select(Context).where(Context.task_id == task_id).order_by(Context.id).limit(1)


MANY = 10_000


def context_count(task_id: str) -> Select[int]:
    """Return the number of a task's contexts, or `MANY` + 1 for more: walks that much of one index range."""
    some = select(Context.id).where(Context.task_id == task_id).limit(MANY + 1).subquery()
    return select(func.count()).select_from(some)


def tag_after(task_id: str, tag: str) -> Select[str]:
    """The next tag of a task's contexts in the order of tags: one index probe."""
    return select(func.min(Context.tag)).where(Context.task_id == task_id, Context.tag > tag)


def acts(task_id: str, kind: str, before: int | None, limit: int) -> Select[Act, Person]:
    """The audit log of a task with who did it, newest first, below the id `before`, of one kind or (empty) any: one
    index range, walked back."""
    statement = (
        select(Act, Person)
        .outerjoin(Person, Person.id == Act.person_id)
        .where(Act.task_id == task_id)
        .order_by(Act.id.desc())
        .limit(limit)
    )
    if kind:
        statement = statement.where(Act.kind == kind)
    return statement if before is None else statement.where(Act.id < before)


def kind_after(task_id: str, kind: str) -> Select[str]:
    """The next kind of acts in a task's log in the order of kinds: one index probe."""
    return select(func.min(Act.kind)).where(Act.task_id == task_id, Act.kind > kind)


def people_by_id(ids: Collection[int]) -> Select[Person]:
    """People by their numbers: one probe each."""
    return select(Person).where(Person.id.in_(ids))


def context_imports(task_id: str, limit: int) -> Select[Job]:
    """Imports of contexts into a task, newest first: walks the jobs of that kind, a few for each task."""
    of_task = Job.payload["task"].as_string() == task_id
    kind = Job.kind == "import_contexts"
    return select(Job).where(kind, of_task).order_by(Job.created_at.desc()).limit(limit)


def known_digests(task_id: str, digests: list[str]) -> Select[str]:
    """Return those of `digests` that the task has already: one index probe each."""
    return select(Context.digest).where(Context.task_id == task_id, Context.digest.in_(digests))


def contexts_by_digests(task_id: str, digests: list[str]) -> Select[Context]:
    """The task's contexts with these digests: one index probe each."""
    return select(Context).where(Context.task_id == task_id, Context.digest.in_(digests))


def refused_rows(job_id: str, after: int, limit: int) -> Select[RefusedRow]:
    """Rows that an import left out, above row `after`: one range of the primary key."""
    mine = select(RefusedRow).where(RefusedRow.job_id == job_id, RefusedRow.row > after)
    return mine.order_by(RefusedRow.row).limit(limit)


def chosen_contexts(round_id: int) -> Select[int]:
    """The few contexts that were chosen for a round, by id: one range of the primary key."""
    mine = select(RoundContext.context_id).where(RoundContext.round_id == round_id)
    return mine.order_by(RoundContext.context_id)


def named_people(round_id: int) -> Select[Person]:
    """Return the people who may take part in a round for invited people, by name.

    Reads one range of the primary key, and sorts.
    """
    joined = select(Person).join(RoundPerson, RoundPerson.person_id == Person.id)
    return joined.where(RoundPerson.round_id == round_id, Person.deleted_at.is_(None)).order_by(Person.username)


def owned_tasks(person_id: int) -> Select[str]:
    """The tasks that a person owns."""
    return select(Role.task_id).where(Role.person_id == person_id, Role.role == TaskRole.OWNER)


def rounds_to_turn() -> Select[Round]:
    """Drafts and open rounds, whose plans may say when they open or close: a scan of the rounds."""
    return select(Round).where(Round.state.in_((RoundState.DRAFT, RoundState.OPEN)))


def turns_of_round(round_id: int) -> Select[Job]:
    """The jobs that were asked for to open or close a round, newest first: a scan of the jobs, for a round that is
    overdue alone."""
    turns = (Job.kind == "turn_round", Job.payload["round"].as_integer() == round_id)
    return select(Job).where(*turns).order_by(Job.created_at.desc())
