"""Joining a class by its code, with or without an account, and the personal codes by which students come back."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from dynabench.communities.classes import queries
from dynabench.communities.classes.service import (
    ADDRESS,
    REPEATED,
    STUDENT_NAME_LENGTH,
    TOKEN_SCOPES,
    UNKNOWN_CODE,
    clean_code,
    clean_line,
    draw_code,
    new_personal_code,
)
from dynabench.communities.classes.tables import ClassState, ClassStudent, SchoolClass
from dynabench.kit import errors
from dynabench.kit.db import now
from dynabench.kit.language import _
from dynabench.kit.security import digest
from dynabench.people.accounts import service as accounts
from dynabench.people.accounts.rules import Newcomer
from dynabench.people.accounts.tables import Person
from dynabench.people.roles import Role, TaskRole
from dynabench.rounds import people, planning
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Round, RoundPerson


@dataclass(frozen=True)
class JoinedStudent:
    """A student who has just joined; `code` is empty for people who came with an account of their own."""

    class_id: int
    person: Person
    code: str = ""


def class_to_join(session: Session, code: str, *, lock: bool = False) -> SchoolClass:
    """The open class with a join code; `Invalid` where there is none."""
    statement = queries.class_with_code(clean_code(code)[:12])
    school_class = session.scalar(statement.with_for_update() if lock else statement)
    if school_class is None or school_class.state != ClassState.OPEN or school_class.teacher_id is None:
        raise errors.Invalid({"code": UNKNOWN_CODE})
    return school_class


def join_class(
    session: Session, person: Person | None, code: str, name: str, agree: bool, key: str = ""
) -> JoinedStudent:
    """Let a person into a class, or make an account for a visitor, who needs no mail address.

    The same form sent twice (`key`) gives the same account, with another personal code. Joining again with an account
    changes nothing.
    """
    school_class = class_to_join(session, code, lock=True)
    join_digest = digest(f"{school_class.id} {key}") if key else None
    rows: Sequence[tuple[ClassStudent, Person]] = [
        (student, account) for student, account in session.execute(queries.students(school_class.id))
    ]
    if person is None and join_digest:
        for student, account in rows:
            if student.join_digest == join_digest and now() - student.joined_at < REPEATED:
                return JoinedStudent(school_class.id, account, new_personal_code(student))
    if person is not None and any(account.id == person.id for _student, account in rows):
        return JoinedStudent(school_class.id, person)
    _check_newcomer(school_class, rows, name := clean_line(name, STUDENT_NAME_LENGTH, "name"), person, agree)
    if person is not None:
        people.refuse_banned(session, person, school_class.task_id)
    account = person or _make_account(session)
    student = ClassStudent(class_id=school_class.id, person_id=account.id, name=name, account_made=person is None)
    session.add(student)
    code = ""
    if person is None:
        student.join_digest = join_digest
        code = new_personal_code(student)
    _seat_student(session, school_class, account)
    session.flush()
    rounds.record_act(session, account, "class.joined", task=school_class.task_id, school_class=school_class.id)
    return JoinedStudent(school_class.id, account, code)


def _check_newcomer(
    school_class: SchoolClass,
    rows: Sequence[tuple[ClassStudent, Person]],
    name: str,
    person: Person | None,
    agree: bool,
) -> None:
    wrong: dict[str, str] = {}
    if any(student.name.casefold() == name.casefold() for student, _account in rows):
        wrong["name"] = _("Another student of this class has this name. Add a letter or a number.")
    if person is None and not agree:
        wrong["agree"] = _("Accept the terms and the data licence to join.")
    if wrong:
        raise errors.Invalid(wrong)
    if len(rows) >= school_class.places:
        raise errors.Conflict(_("This class is full. Ask your teacher for another place."))
    if person is not None and person.id == school_class.teacher_id:
        raise errors.Conflict(_("You teach this class."))


def _make_account(session: Session) -> Person:
    username = f"student-{draw_code(3).replace('-', '')}"
    return accounts.register_account(session, Newcomer(username, f"{username}@{ADDRESS}", ""), "")


def _seat_student(session: Session, school_class: SchoolClass, person: Person) -> None:
    """Let a student write where the task is for invited people, or the class's round."""
    task_id = school_class.task_id
    if rounds.task_config(session, task_id).annotators == "invited" and session.get(Role, (task_id, person.id)) is None:
        session.add(Role(task_id=task_id, person_id=person.id, role=TaskRole.ANNOTATOR))
    if school_class.round_id is None:
        return
    round_ = session.get_one(Round, school_class.round_id)
    invited = planning.plan_of(round_).audience.kind == "invited"
    if invited and session.get(RoundPerson, (round_.id, person.id)) is None:
        session.add(RoundPerson(round_id=round_.id, person_id=person.id))


def student_token(session: Session, person_id: int) -> str:
    """Return the secret of a new API token for a student who joined by the API."""
    return accounts.create_token(session, person_id, "class", TOKEN_SCOPES)[1]


def return_to_class(session: Session, code: str) -> ClassStudent:
    """The student whose personal code this is; `Invalid` where there is none. A closed class can be read, too."""
    student = session.scalar(queries.student_with_code(digest(clean_code(code))))
    if student is None or student.leaving_at is not None:
        raise errors.Invalid({"code": _("There is no student with this code. Your teacher can give you another one.")})
    return student
