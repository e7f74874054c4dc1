"""Every `select` over classes and the work of their students, with its cost."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, Select, func, select, true

from dynabench.collection.tables import Example, ExampleSource, Standing, Tally
from dynabench.communities.classes.tables import ClassStudent, SchoolClass
from dynabench.people.accounts.tables import Person
from dynabench.rounds.tables import Round
from dynabench.validation.queries import UNDONE
from dynabench.validation.tables import Validation


def class_with_code(code: str) -> Select[SchoolClass]:
    """The class with a join code: one probe of the unique index."""
    return select(SchoolClass).where(SchoolClass.join_code == code)


def taught_classes(person_id: int) -> Select[SchoolClass]:
    """The classes of a teacher, newest first: one index range."""
    return select(SchoolClass).where(SchoolClass.teacher_id == person_id).order_by(SchoolClass.id.desc())


def all_classes(task_id: str = "") -> Select[SchoolClass, str | None]:
    """The classes of all teachers, or of one task, newest first, with the usernames of their teachers."""
    rows = select(SchoolClass, Person.username).outerjoin(Person, Person.id == SchoolClass.teacher_id)
    rows = rows.where(SchoolClass.task_id == task_id) if task_id else rows
    return rows.order_by(SchoolClass.id.desc())


def attended_classes(person_id: int) -> Select[SchoolClass]:
    """The classes that a person joined, newest first: one index range."""
    mine = select(ClassStudent.class_id).where(ClassStudent.person_id == person_id, ClassStudent.leaving_at.is_(None))
    return select(SchoolClass).where(SchoolClass.id.in_(mine)).order_by(SchoolClass.id.desc())


def students(class_id: int) -> Select[ClassStudent, Person]:
    """The students of a class with their accounts, by name: one range of the primary key."""
    return (
        select(ClassStudent, Person)
        .join(Person, Person.id == ClassStudent.person_id)
        .where(ClassStudent.class_id == class_id)
        .order_by(func.lower(ClassStudent.name), ClassStudent.person_id)
    )


def student_with_code(digest: str) -> Select[ClassStudent]:
    """The student whose personal code has this digest: one probe of the unique index."""
    return select(ClassStudent).where(ClassStudent.code_digest == digest)


def account_made(person_id: int) -> Select[int]:
    """The class for which a person's account was made, if any: one index range."""
    return select(ClassStudent.class_id).where(ClassStudent.person_id == person_id, ClassStudent.account_made).limit(1)


def _in_scope(task_id: str, round_id: int | None) -> Sequence[ColumnElement[bool]]:
    return [Round.task_id == task_id, Round.id == round_id if round_id is not None else true()]


def written(task_id: str, round_id: int | None, since: datetime, people: Sequence[int]) -> Select[int, int, int, int]:
    """Sums of the examples of a class's students: all, fooling, verified; those of programs left out.

    One index range for each. Days are counted whole, from the day of `since` on.
    """
    sums = [func.sum(getattr(Tally, name)) for name in ("examples", "fooled", "validated")]
    return (
        select(Tally.person_id, *sums)
        .join(Round, Round.id == Tally.round_id)
        .where(*_in_scope(task_id, round_id), Tally.day >= since.date().isoformat())
        .where(Tally.person_id.in_(people), Tally.source != ExampleSource.PROGRAM)
        .group_by(Tally.person_id)
    )


def writing_seconds(
    task_id: str, round_id: int | None, since: datetime, people: Sequence[int]
) -> Select[int, float | None]:
    """Seconds for which people worked on their examples, where the page measured them."""
    return (
        select(Example.author_id, func.sum(Example.active_seconds))
        .join(Round, Round.id == Example.round_id)
        .where(*_in_scope(task_id, round_id), Example.at >= since, Example.author_id.in_(people))
        .group_by(Example.author_id)
    )


def votes(task_id: str, round_id: int | None, since: datetime, people: Sequence[int]) -> Select[int, int, float | None]:
    """Votes of people that stand, and the seconds for which they worked on them, where the page measured these."""
    return (
        select(Validation.person_id, func.count(), func.sum(Validation.active_seconds))
        .join(Standing, Standing.example_id == Validation.example_id)
        .join(Round, Round.id == Standing.round_id)
        .where(*_in_scope(task_id, round_id), Validation.at >= since, ~UNDONE)
        .where(Validation.person_id.in_(people))
        .group_by(Validation.person_id)
    )
