"""Tasks and rounds as programs and pages see them."""

from sqlalchemy.orm import Session

from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.people import may
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.rounds import queries, schemas, service
from dynabench.rounds.tables import Round, RoundState, TaskVersion


def round_out(session: Session, of: Round) -> schemas.RoundOut:
    """A round with its targets."""
    return schemas.RoundOut.model_validate(
        {
            "task": of.task_id,
            "number": of.number,
            "state": of.state,
            "targets": [{"model": target.model, "version": target.version} for target in of.targets],
            "ensemble": of.fooled_when,
            "arms": of.arms,
            "assign": of.assign,
            "judge": of.judge,
            "plan": of.plan,
            "version": session.get_one(TaskVersion, of.version_id).number,
            "created_at": of.created_at,
            "opened_at": of.opened_at,
            "closed_at": of.closed_at,
        }
    )


def visible_round(session: Session, viewer: Person | None, task_id: str, number: int) -> schemas.RoundOut:
    """A round; drafts are there for the task's owners alone."""
    found = service.round_of(session, task_id, number)
    if found.state == RoundState.DRAFT and not may.may_in(session, viewer, Action.SEE_DRAFT, task_id):
        raise errors.NotFound(_("Task %(task_id)s has no round %(number)s.", task_id=repr(task_id), number=number))
    return round_out(session, found)


def task(session: Session, task_id: str) -> schemas.TaskOut:
    """A task's config in the version that collects now, else the newest, with the open round."""
    found = service.task(session, task_id)
    current = session.scalar(queries.open_round(task_id))
    version = session.get_one(TaskVersion, current.version_id if current else found.version_id)
    shown = service.config_of(session, version.id).public()
    opened = round_out(session, current) if current else None
    return schemas.TaskOut.model_validate({**shown, "version": version.number, "round": opened})


def task_page(session: Session, after: str, limit: int) -> schemas.TaskPage:
    """A page of tasks by id."""
    found = session.scalars(queries.tasks(after, limit + 1)).all()
    items = [task_row(session, each.id) for each in found[:limit]]
    return schemas.TaskPage(items=items, next=items[-1].id if len(found) > limit else None)


def task_row(session: Session, task_id: str) -> schemas.TaskRow:
    """One line about a task."""
    config = service.task_config(session, task_id)
    rounds = [each for each in session.scalars(queries.rounds(task_id)) if each.state != RoundState.DRAFT]
    return schemas.TaskRow(
        id=task_id,
        name=config.name,
        description=config.description,
        goal=config.goal,
        open_round=next((each.number for each in rounds if each.state == RoundState.OPEN), None),
        rounds=len(rounds),
    )
