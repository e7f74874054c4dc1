"""Lists for a task's owners: rounds, contexts, versions, refused rows, acts; and changes to contexts."""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from sqlalchemy import Select, delete, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from dynabench.kit import errors
from dynabench.kit.db import now
from dynabench.kit.language import _
from dynabench.people import may
from dynabench.people.accounts.rules import clean_language_code
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.rounds import people, queries, samplers, schemas, service, views
from dynabench.rounds.schemas import ContextOut, ContextPage
from dynabench.rounds.tables import Context, RoundState, TaskVersion

MOST_TAGS = 200  # tags that are listed; beyond, one types the name
SUBJECTS = ("person", "to", "author")  # members of an act's subject that hold people's numbers


def list_rounds(
    session: Session, viewer: Person | None, task_id: str, after: int | None, limit: int
) -> schemas.RoundPage:
    """A page of a task's rounds, newest first; drafts for owners alone."""
    service.get_task(session, task_id)
    drafts = may.may_in(session, viewer, Action.SEE_DRAFT, task_id)
    rounds = [
        entry
        for entry in session.scalars(queries.rounds(task_id))
        if (drafts or entry.state != RoundState.DRAFT) and (after is None or entry.number < after)
    ]
    return schemas.RoundPage.cut(rounds, limit, "number", show=lambda entry: views.round_out(session, entry))


def list_tags(session: Session, task_id: str) -> list[str]:
    """The tags of a task's contexts, sorted, the first `TAGS`: one index probe each."""
    return list(islice(_following(session, queries.tag_after, task_id), MOST_TAGS))


def list_act_kinds(session: Session, task_id: str) -> list[str]:
    """The kinds of acts in a task's log, sorted: one index probe each, of which there are some dozens."""
    return list(_following(session, queries.kind_after, task_id))


def _following(session: Session, after: Callable[[str, str], Select[str]], task_id: str) -> Iterator[str]:
    value = session.scalar(after(task_id, ""))
    while value is not None:
        yield value
        value = session.scalar(after(task_id, value))


def delete_context(session: Session, actor: Person | None, task_id: str, context_id: int) -> None:
    """Remove a context that nobody was given yet; `Conflict` for one that was, since examples may hang on it."""
    service.require(session, actor, Action.MANAGE_CONTEXTS, task_id)
    context = session.get(Context, context_id)
    if context is None or context.task_id != task_id:
        raise errors.NotFound(_("This task has no such context."))
    try:
        with session.begin_nested():
            session.execute(delete(Context).where(Context.id == context_id))
    except IntegrityError:
        raise errors.Conflict(_("This context was already handed out, so it cannot be deleted.")) from None
    service.record_act(session, actor, "context.deleted", task=task_id, context=context_id)


def list_versions(session: Session, task_id: str, after: int | None, limit: int) -> schemas.VersionPage:
    """A page of a task's config versions, newest first."""
    service.get_task(session, task_id)
    statement = queries.versions(task_id).limit(limit + 1)
    if after is not None:
        statement = statement.where(TaskVersion.number < after)
    rows = session.scalars(statement).all()
    return schemas.VersionPage.cut(rows, limit, "number", show=lambda row: schemas.VersionRow(**_version(session, row)))


def read_version(session: Session, task_id: str, number: int) -> schemas.TaskVersionOut:
    """One version of a task's config, with its text."""
    row = session.scalar(queries.versions(task_id).where(TaskVersion.number == number))
    if row is None:
        raise errors.NotFound(_("Task %(task_id)s has no version %(number)s.", task_id=repr(task_id), number=number))
    return schemas.TaskVersionOut(config=row.source, **_version(session, row))


def _version(session: Session, row: TaskVersion) -> dict[str, object]:
    by = session.get(Person, row.created_by) if row.created_by else None
    used = [round_.number for round_ in session.scalars(queries.rounds(row.task_id)) if round_.version_id == row.id]
    name = by.public_name if by else None
    return {"number": row.number, "by": name, "created_at": row.created_at, "rounds": sorted(used)}


def list_acts(session: Session, task_id: str, kind: str, after: int | None, limit: int) -> schemas.ActPage:
    """A page of a task's audit log, newest first, of one kind or (empty) any; people by name."""
    rows = [(row[0], row[1]) for row in session.execute(queries.acts(task_id, kind, after, limit + 1))]
    ids = {act.subject[key] for act, _ in rows for key in SUBJECTS if isinstance(act.subject.get(key), int)}
    names = people.public_names(session, ids)
    items = [
        schemas.ActOut(
            id=act.id,
            at=act.at,
            by=person.public_name if person else None,
            kind=act.kind,
            subject={
                key: names.get(value, value) if key in SUBJECTS and isinstance(value, int) else value
                for key, value in act.subject.items()
                if key != "task"
            },
        )
        for act, person in rows[:limit]
    ]
    return schemas.ActPage(items=items, next=str(items[-1].id) if len(rows) > limit else None)


def list_refused_rows(session: Session, job_id: str, after: int | None, limit: int) -> schemas.RefusedPage:
    """A page of the rows that an import left out, in the file's order."""
    rows = session.scalars(queries.refused_rows(job_id, after or 0, limit + 1)).all()
    return schemas.RefusedPage.cut(rows, limit, "row")


SEARCHED, SEARCH_PIECE = 4_000, 400
"""Contexts that a search for words looks through at once, a piece at a time: its page says so, and goes on from there.
"""
MOST_CHANGED = 1_000


@dataclass(frozen=True)
class ContextFilter:
    """A filter for contexts: words anywhere in them (in any case), a tag, and whether they are retired.

    None sets no condition.
    """

    q: str = ""
    tag: str | None = None
    retired: bool | None = False

    @property
    def words(self) -> list[str]:
        """The words of `q`, at most ten."""
        return self.q.casefold().split()[:10]


def find_contexts(session: Session, task_id: str, sought: ContextFilter, after: int | None, limit: int) -> ContextPage:
    """A page of contexts, newest first. A search for words that looked through `SEARCHED` contexts ends its page
    early, with the cursor to go on from."""
    if not sought.words:
        contexts = session.scalars(_range(task_id, sought, after, limit + 1)).all()
        return ContextPage.cut(contexts, limit)
    met: list[int] = []
    before = after
    for _piece in range(SEARCHED // SEARCH_PIECE):
        piece = _range(task_id, sought, before, SEARCH_PIECE).with_only_columns(Context.id, Context.values)
        rows = session.execute(piece).all()
        met += [row.id for row in rows if _contains_words(row.values, sought.words)]
        before = rows[-1].id if rows else before
        if len(met) > limit:
            return ContextPage(items=_newest(session, met[:limit]), next=str(met[limit - 1]))
        if len(rows) < SEARCH_PIECE:
            return ContextPage(items=_newest(session, met), next=None)
    return ContextPage(items=_newest(session, met), next=str(before))


def _newest(session: Session, ids: Sequence[int]) -> list[ContextOut]:
    return contexts_by_id(session, ids)[::-1]


def _range(task_id: str, sought: ContextFilter, before: int | None, limit: int) -> Select[Context]:
    """One index range, walked back; retired or live ones that are passed over are read."""
    statement = select(Context).where(Context.task_id == task_id).order_by(Context.id.desc()).limit(limit)
    if sought.tag is not None:
        statement = statement.where(Context.tag == sought.tag)
    elif sought.retired:
        # SQLite counts no rows: left to itself it walks all of the task's contexts past the few that are retired.
        statement = statement.with_hint(Context, "INDEXED BY ix_contexts_retired", "sqlite")
    if sought.retired is not None:
        statement = statement.where(Context.retired_at.is_not(None) if sought.retired else Context.retired_at.is_(None))
    return statement if before is None else statement.where(Context.id < before)


def _contains_words(values: dict[str, Any], words: Sequence[str]) -> bool:
    text = " ".join(map(str, values.values())).casefold() if words else ""
    return all(word in text for word in words)


def contexts_by_id(session: Session, ids: Sequence[int]) -> list[ContextOut]:
    """Contexts in the order of their ids: one probe each."""
    contexts = session.scalars(select(Context).where(Context.id.in_(ids)).order_by(Context.id))
    return [ContextOut.model_validate(context) for context in contexts]


@dataclass(frozen=True)
class ContextChange:
    """Changes to contexts; None leaves a value as it is."""

    tag: str | None = None
    language: str | None = None
    weight: float | None = None
    retired: bool | None = None


def change_contexts(
    session: Session, actor: Person | None, task_id: str, ids: Sequence[int], change: ContextChange
) -> int:
    """Change contexts of a task (owners), with an entry in the log; how many there were.

    A retired context is handed out no more; what was written on it stays. Raises `Invalid` by field.
    """
    service.require(session, actor, Action.MANAGE_CONTEXTS, task_id)
    _check_change(ids, change)
    clean_language_code(change.language)
    mine = (Context.task_id == task_id, Context.id.in_(set(ids)))
    contexts = session.scalars(select(Context).where(*mine).order_by(Context.id).with_for_update()).all()
    moment, rng = samplers.clock_time(session, task_id), random.SystemRandom()
    for context in contexts:
        if change.tag is not None:
            context.tag = change.tag
        if change.language is not None:
            context.language = clean_language_code(change.language)
        if change.weight is not None:
            context.weight = change.weight
        if change.weight is not None or change.retired is False:
            context.clock = samplers.wind_clock(moment, context.weight, rng)
        if change.retired is not None:
            context.retired_at = (context.retired_at or now()) if change.retired else None
    changes = {name: value for name, value in vars(change).items() if value is not None}
    if contexts and changes:
        service.record_act(session, actor, "contexts.changed", task=task_id, contexts=len(contexts), **changes)
    return len(contexts)


def _check_change(ids: Sequence[int], change: ContextChange) -> None:
    wrong = {}
    if not ids:
        wrong["contexts"] = _("Choose at least one context.")
    if len(ids) > MOST_CHANGED:
        wrong["contexts"] = _("Choose at most %(most)s contexts at once.", most=f"{MOST_CHANGED:,}")
    if change.tag is not None and (len(change.tag) > 100 or not change.tag.isprintable()):
        wrong["tag"] = _("Give up to 100 printable characters.")
    if change.weight is not None and not 0 <= change.weight <= 1_000:
        wrong["weight"] = _("Give a number from 0 to 1,000.")
    if wrong:
        raise errors.Invalid(wrong)
