"""The work that a logged-in person goes on with: the round they wrote in last, their rank, and the queue of checks."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from dynabench.collection import boards
from dynabench.people import may
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.rounds import queries as round_queries
from dynabench.site.home.task_index import TaskLine


@dataclass(frozen=True)
class Continuation:
    """The task to go on with, and as `check` the one with the longest queue; `rank` is None before a first example.

    `new` is True for a person who has written nothing yet.
    """

    line: TaskLine
    new: bool
    streak: int = 0
    today: int = 0
    verified: int = 0
    rank: int | None = None
    writers: int = 0
    check: TaskLine | None = None


def read_continuation(session: Session, person: Person, lines: Sequence[TaskLine], easiest: str) -> Continuation | None:
    """Return the work that a person goes on with; None where no round is open, and for admins who never wrote.

    `easiest` is the task of the box to try, with which newcomers begin.
    """
    by_id = {line.id: line for line in lines if line.round is not None}
    ready = [line for line in by_id.values() if not line.warning]
    longest = max(ready, key=lambda line: line.waiting, default=None)
    check = longest if longest and longest.waiting else None
    last = session.scalar(boards.last_round_of(person.id))
    if last is None:
        if not ready or may.may(person, Action.ADMINISTER_SITE):
            return None
        return Continuation(by_id.get(easiest, ready[0]), new=True, check=check)
    line = by_id.get(last.task_id) or (ready[0] if ready else None)
    current = session.scalar(round_queries.open_round(line.id)) if line else None
    if line is None or current is None:
        return None
    mine = boards.mine(session, person, current)
    ranked = [row.Person.id for row in session.execute(boards.ranked_people(current.id, boards.controls([current])))]
    rank = ranked.index(person.id) + 1 if person.id in ranked else None
    check = line if line.waiting else check
    return Continuation(line, False, mine.streak, mine.today, mine.validated, rank, len(ranked), check)
