"""Tasks and rounds as programs and pages see them."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from sqlalchemy.orm import Session

from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.people import may
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.rounds import queries, schemas, service
from dynabench.rounds.tables import Round, RoundState, Task, TaskVersion

MAX_TASKS = 1000
"""Tasks that a page has in a list to choose from."""


def round_out(session: Session, round_: Round) -> schemas.RoundOut:
    """A round with its targets."""
    return schemas.RoundOut.model_validate(
        {
            "task": round_.task_id,
            "number": round_.number,
            "state": round_.state,
            "targets": [{"model": target.model, "version": target.version} for target in round_.targets],
            "ensemble": round_.fooled_when,
            "arms": round_.arms,
            "assign": round_.assign,
            "judge": round_.judge,
            "plan": round_.plan,
            "version": session.get_one(TaskVersion, round_.version_id).number,
            "created_at": round_.created_at,
            "opened_at": round_.opened_at,
            "closed_at": round_.closed_at,
        }
    )


def started_rounds(session: Session, task_id: str) -> list[Round]:
    """Return the rounds of a task that were opened, newest first."""
    return [round_ for round_ in session.scalars(queries.rounds(task_id)) if round_.state != RoundState.DRAFT]


def current_round(started: Sequence[Round]) -> Round | None:
    """Return the open one of rounds that were opened (newest first), else the newest; None without any."""
    return next((round_ for round_ in started if round_.state == RoundState.OPEN), started[0] if started else None)


def visible_round(session: Session, viewer: Person | None, task_id: str, number: int) -> schemas.RoundOut:
    """A round; drafts are there for the task's owners alone."""
    round_ = service.round_of(session, task_id, number)
    if round_.state == RoundState.DRAFT and not may.may_in(session, viewer, Action.SEE_DRAFT, task_id):
        raise errors.NotFound(_("Task %(task_id)s has no round %(number)s.", task_id=repr(task_id), number=number))
    return round_out(session, round_)


def task_out(session: Session, task_id: str) -> schemas.TaskOut:
    """A task's config in the version that collects now, else the newest, with the open round."""
    task = service.get_task(session, task_id)
    current = session.scalar(queries.open_round(task_id))
    version = session.get_one(TaskVersion, current.version_id if current else task.version_id)
    config = service.config_of(session, version.id).public()
    opened = round_out(session, current) if current else None
    return schemas.TaskOut.model_validate({**config, "version": version.number, "round": opened})


def task_page(session: Session, after: str, limit: int) -> schemas.TaskPage:
    """A page of tasks by id, in two statements."""
    tasks = session.scalars(queries.tasks(after, limit + 1)).all()
    rounds_by_task: dict[str, list[Any]] = defaultdict(list)
    for row in session.execute(queries.begun_rounds([task.id for task in tasks])):
        rounds_by_task[row.task_id].append(row)

    def show(task: Task) -> schemas.TaskRow:
        rounds = rounds_by_task[task.id]
        open_round = next((round_ for round_ in rounds if round_.state == RoundState.OPEN), None)
        version_id = open_round.version_id if open_round else task.version_id
        config = service.config_of(session, version_id) if version_id else service.task_config(session, task.id)
        return schemas.TaskRow(
            id=task.id,
            name=config.name,
            description=config.description,
            goal=config.goal,
            open_round=open_round.number if open_round else None,
            rounds=len(rounds),
        )

    return schemas.TaskPage.cut(tasks, limit, show=show)


def list_task_names(session: Session) -> list[tuple[str, str]]:
    """Return the id and name of each task that has a config, in the order of names, for a list to choose from."""
    tasks = session.scalars(queries.tasks("", MAX_TASKS)).all()
    names = [(task.id, service.config_of(session, task.version_id).name) for task in tasks if task.version_id]
    return sorted(names, key=lambda pair: pair[1].casefold())
