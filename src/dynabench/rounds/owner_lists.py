"""Lists for owners, page by page: rounds, contexts, config versions, refused rows, the audit log."""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from sqlalchemy import Select, delete
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.people import may
from dynabench.people.accounts.tables import Act, Person
from dynabench.people.may import Action
from dynabench.rounds import queries, schemas, service, views
from dynabench.rounds.tables import Context, RoundState, TaskVersion

TAGS = 200  # tags that are listed; beyond, one types the name
SUBJECTS = ("person", "to", "author")  # members of an act's subject that hold people's numbers


def cursor(text: str) -> int | None:
    """The row that a page's cursor stands for; None for the first page."""
    if not text:
        return None
    if not text.isdecimal() or len(text) > 18:
        raise errors.Invalid({"after": _("Give the `next` of an earlier page.")})
    return int(text)


def rounds(session: Session, viewer: Person | None, task_id: str, after: str, limit: int) -> schemas.RoundPage:
    """A page of a task's rounds, newest first; drafts for owners alone."""
    service.task(session, task_id)
    drafts = may.may_in(session, viewer, Action.SEE_DRAFT, task_id)
    below = cursor(after)
    found = [
        each
        for each in session.scalars(queries.rounds(task_id))
        if (drafts or each.state != RoundState.DRAFT) and (below is None or each.number < below)
    ]
    items = [views.round_out(session, each) for each in found[:limit]]
    return schemas.RoundPage(items=items, next=str(items[-1].number) if len(found) > limit else None)


def tags(session: Session, task_id: str) -> list[str]:
    """The tags of a task's contexts, sorted, the first `TAGS`: one index probe each."""
    return list(islice(_following(session, queries.tag_after, task_id), TAGS))


def kinds(session: Session, task_id: str) -> list[str]:
    """The kinds of acts in a task's log, sorted: one index probe each, of which there are some dozens."""
    return list(_following(session, queries.kind_after, task_id))


def _following(session: Session, after: Callable[[str, str], Select[str]], task_id: str) -> Iterator[str]:
    found = session.scalar(after(task_id, ""))
    while found is not None:
        yield found
        found = session.scalar(after(task_id, found))


def delete_context(session: Session, actor: Person | None, task_id: str, context_id: int) -> None:
    """Remove a context that nobody was given yet; `Conflict` for one that was, since examples may hang on it."""
    service.require(session, actor, Action.MANAGE_CONTEXTS, task_id)
    found = session.get(Context, context_id)
    if found is None or found.task_id != task_id:
        raise errors.NotFound(_("There is no such context of this task."))
    try:
        with session.begin_nested():
            session.execute(delete(Context).where(Context.id == context_id))
    except IntegrityError:
        raise errors.Conflict(_("Somebody was given this context already, so it stays.")) from None
    service.act(session, actor, "context.deleted", task=task_id, context=context_id)


def versions(session: Session, task_id: str, after: str, limit: int) -> schemas.VersionPage:
    """A page of a task's config versions, newest first."""
    service.task(session, task_id)
    below = cursor(after)
    statement = queries.versions(task_id).limit(limit + 1)
    if below is not None:
        statement = statement.where(TaskVersion.number < below)
    found = session.scalars(statement).all()
    items = [schemas.VersionRow(**_version(session, each)) for each in found[:limit]]
    return schemas.VersionPage(items=items, next=str(items[-1].number) if len(found) > limit else None)


def version(session: Session, task_id: str, number: int) -> schemas.TaskVersionOut:
    """One version of a task's config, with its text."""
    found = session.scalar(queries.versions(task_id).where(TaskVersion.number == number))
    if found is None:
        raise errors.NotFound(_("Task %(task_id)s has no version %(number)s.", task_id=repr(task_id), number=number))
    return schemas.TaskVersionOut(config=found.source, **_version(session, found))


def _version(session: Session, of: TaskVersion) -> dict[str, object]:
    by = session.get(Person, of.created_by) if of.created_by else None
    used = [each.number for each in session.scalars(queries.rounds(of.task_id)) if each.version_id == of.id]
    name = by.public_name if by else None
    return {"number": of.number, "by": name, "created_at": of.created_at, "rounds": sorted(used)}


def acts(session: Session, task_id: str, kind: str, after: str, limit: int) -> schemas.ActPage:
    """A page of a task's audit log, newest first, of one kind or (empty) any; people by name."""
    rows = [(row[0], row[1]) for row in session.execute(queries.acts(task_id, kind, cursor(after), limit + 1))]
    names = _names(session, [act for act, _ in rows])
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


def _names(session: Session, acts: Iterable[Act]) -> dict[int, str]:
    ids = {act.subject[key] for act in acts for key in SUBJECTS if isinstance(act.subject.get(key), int)}
    return {each.id: each.public_name for each in session.scalars(queries.people(ids))} if ids else {}


def refused(session: Session, job_id: str, after: str, limit: int) -> schemas.RefusedPage:
    """A page of the rows that an import left out, in the file's order."""
    found = session.scalars(queries.refused(job_id, cursor(after) or 0, limit + 1)).all()
    items = [schemas.RefusedOut.model_validate(each, from_attributes=True) for each in found[:limit]]
    return schemas.RefusedPage(items=items, next=str(items[-1].row) if len(found) > limit else None)
