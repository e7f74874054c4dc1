"""The work of a class's students, counted for the teacher's board, the student's own page and the grades."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from dynabench.communities.classes import queries
from dynabench.communities.classes.tables import ClassStudent, SchoolClass
from dynabench.people.accounts.tables import Person

GOAL_NAMES = ("examples", "fooled", "verified", "votes")
GRADE_HEADER = (
    *("name", "username", "joined_at", *GOAL_NAMES, "minutes"),
    *(f"{name}_goal" for name in GOAL_NAMES),
    "grade",
)


@dataclass(frozen=True)
class StudentProgress:
    """A student with counts; `minutes` is None where no page measured the time, `grade` where there are no goals."""

    person_id: int
    name: str
    username: str
    account_made: bool
    joined_at: datetime
    leaving: bool
    counts: Mapping[str, int]
    minutes: float | None
    grade: float | None


def read_progress(session: Session, school_class: SchoolClass, person_id: int | None = None) -> list[StudentProgress]:
    """Return the students of a class by name, or one of them, with what they did since the class was made.

    Four statements, over the index ranges of the students' own work.
    """
    rows: Sequence[tuple[ClassStudent, Person]] = [
        (student, person)
        for student, person in session.execute(queries.students(school_class.id))
        if person_id in (None, person.id)
    ]
    if not rows:
        return []
    scope = (school_class.task_id, school_class.round_id, school_class.created_at)
    ids = [person.id for _student, person in rows]
    written = {
        id: (int(examples), int(fooled), int(verified))
        for id, examples, fooled, verified in session.execute(queries.written(*scope, ids))
    }
    seconds = dict(session.execute(queries.writing_seconds(*scope, ids)).all())
    checked = {id: (count, spent) for id, count, spent in session.execute(queries.votes(*scope, ids))}
    progress = []
    for student, person in rows:
        votes, checking = checked.get(person.id, (0, None))
        counts = dict(zip(GOAL_NAMES, (*written.get(person.id, (0, 0, 0)), votes), strict=True))
        parts = [part for part in (seconds.get(person.id), checking) if part is not None]
        progress.append(
            StudentProgress(
                person.id,
                student.name,
                person.username,
                student.account_made,
                student.joined_at,
                student.leaving_at is not None,
                counts,
                round(sum(parts) / 60, 1) if parts else None,
                grade(counts, school_class.goals),
            )
        )
    return progress


def grade(counts: Mapping[str, int], goals: Mapping[str, int]) -> float | None:
    """Return the mean share of the goals that is reached, 0 to 100; None without goals."""
    if not goals:
        return None
    shares = [min(counts[name] / goal, 1.0) for name, goal in goals.items()]
    return round(100 * sum(shares) / len(shares), 1)


def grade_rows(school_class: SchoolClass, progress: Sequence[StudentProgress]) -> list[list[object]]:
    """Return the lines of the table of grades, under `GRADE_HEADER`."""
    goal_cells = [school_class.goals.get(name, "") for name in GOAL_NAMES]
    return [
        [
            *(row.name, row.username, row.joined_at.isoformat(timespec="seconds")),
            *(row.counts[name] for name in GOAL_NAMES),
            *("" if row.minutes is None else row.minutes, *goal_cells, "" if row.grade is None else row.grade),
        ]
        for row in progress
    ]
