"""All tasks of the site in one list, for administrators."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from dynabench.collection.tables import Tally
from dynabench.people.accounts.tables import Person
from dynabench.people.roles import Role, TaskRole
from dynabench.rounds import queries
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Round, Task


@dataclass(frozen=True)
class AdminTaskRow:
    """A task with its owners, the number of its open round (None without one) and counts of its examples."""

    id: str
    name: str
    owners: Sequence[str]
    round: int | None
    examples: int
    verified: int
    people: int


def list_tasks(session: Session) -> list[AdminTaskRow]:
    """Return all tasks by name: four statements, one of which reads the tallies."""
    open_rounds = {row.task_id: row.number for row in session.scalars(queries.open_rounds())}
    owners: dict[str, list[str]] = {}
    named = select(Role.task_id, Person.username).join(Person, Person.id == Role.person_id)
    for task_id, username in session.execute(named.where(Role.role == TaskRole.OWNER).order_by(Person.username)):
        owners.setdefault(task_id, []).append(username)
    sums = (func.sum(Tally.examples), func.sum(Tally.validated), func.count(Tally.person_id.distinct()))
    counted = select(Round.task_id, *sums).join(Round, Round.id == Tally.round_id).group_by(Round.task_id)
    counts = {task_id: tuple(map(int, figures)) for task_id, *figures in session.execute(counted)}
    rows = []
    for task_id in session.scalars(select(Task.id).where(Task.version_id.is_not(None))):
        examples, verified, people = counts.get(task_id, (0, 0, 0))
        name = rounds.task_config(session, task_id).name
        rows.append(
            AdminTaskRow(task_id, name, owners.get(task_id, ()), open_rounds.get(task_id), examples, verified, people)
        )
    return sorted(rows, key=lambda row: (row.name.lower(), row.id))
