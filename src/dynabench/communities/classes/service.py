"""Classes: made, changed, joined and left. Every function runs in the caller's transaction."""

import secrets
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import delete, update
from sqlalchemy.orm import Session

from dynabench.communities.classes import queries
from dynabench.communities.classes.schemas import ClassChangeIn, ClassIn
from dynabench.communities.classes.tables import ClassState, ClassStudent, SchoolClass
from dynabench.kit import errors, jobs
from dynabench.kit.db import now
from dynabench.kit.language import _
from dynabench.kit.security import digest
from dynabench.people import may
from dynabench.people.accounts.tables import Person, Token
from dynabench.people.accounts.tables import Session as Login
from dynabench.people.may import Action
from dynabench.rounds import people, planning
from dynabench.rounds import queries as round_queries
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Round, RoundState

MOST_CLASSES = 50
NAME_LENGTH, STUDENT_NAME_LENGTH = 100, 60
ADDRESS = "class.invalid"
"""Accounts of students have addresses of this domain, which never gets mail."""
SENT_TWICE = timedelta(minutes=1)
"""A class that is made again with the same values within this time was sent twice, and is made once."""
TOKEN_SCOPES = ("read", "annotate")
REPEATED = timedelta(minutes=10)
"""The time in which a form that is sent twice gets the same account."""
REMOVE_KIND = "remove_students"
UNKNOWN_CODE = _("There is no open class with this code. Check it with your teacher.")
CODE_ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"
"""The characters of codes, which people read from a board and type: no letter or digit is like another one."""
CODE_GROUP = 4


def draw_code(groups: int) -> str:
    """Return a random code of groups of four, such as `k3f9-x2m7`: 19.8 bits for each group."""
    return "-".join("".join(secrets.choice(CODE_ALPHABET) for _ in range(CODE_GROUP)) for _ in range(groups))


def clean_code(text: str) -> str:
    """Return a typed code in its normal form: small letters, with a hyphen after every four."""
    letters = "".join(letter for letter in text.lower() if letter.isascii() and letter.isalnum())
    return "-".join(letters[start : start + CODE_GROUP] for start in range(0, len(letters), CODE_GROUP))


def clean_line(text: str, longest: int, name: str) -> str:
    """Return a name on one line; raises `Invalid` at the field `name` where it is empty, too long or not printable."""
    line = " ".join(text.split())
    if not line or len(line) > longest or not line.isprintable():
        raise errors.Invalid({name: _("Enter a name of at most %(longest)s characters.", longest=longest)})
    return line


def require_class_maker(session: Session, person: Person, maker: str) -> None:
    """Refuse people who may not make a class: those with a student's account, and where `maker` says so members."""
    if session.scalar(queries.account_made(person.id)) is not None:
        raise errors.Forbidden(_("An account of a class cannot make classes. Register an account of your own."))
    if maker == "admins":
        may.refuse_unless(may.may(person, Action.CREATE_CLASS))


def create_class(session: Session, teacher: Person, maker: str, body: ClassIn) -> SchoolClass:
    """Make a class on a task, or on one round of it; `maker` is the site's setting `new_classes`."""
    require_class_maker(session, teacher, maker)
    name = clean_line(body.name, NAME_LENGTH, "name")
    round_ = _class_round(session, teacher, body)
    session.get_one(Person, teacher.id, with_for_update=True)  # counted one at a time
    taught = session.scalars(queries.taught_classes(teacher.id)).all()
    goals = body.goals.model_dump(exclude_none=True)
    new_values = (
        body.task,
        round_.id if round_ else None,
        name,
        body.assignment.strip(),
        goals,
        body.due_at,
        body.places,
    )
    for earlier in taught:
        values = (earlier.task_id, earlier.round_id, earlier.name, earlier.assignment, earlier.goals, earlier.due_at)
        if (*values, earlier.places) == new_values and earlier.created_at > now() - SENT_TWICE:
            return earlier
    if len(taught) >= MOST_CLASSES:
        raise errors.Conflict(_("You have %(most)s classes. Delete one first.", most=MOST_CLASSES))
    school_class = SchoolClass(
        task_id=body.task,
        round_id=round_.id if round_ else None,
        name=name,
        teacher_id=teacher.id,
        join_code=draw_code(2),
        assignment=body.assignment.strip(),
        goals=goals,
        due_at=body.due_at,
        places=body.places,
    )
    session.add(school_class)
    session.flush()
    rounds.record_act(session, teacher, "class.made", task=body.task, school_class=school_class.id)
    return school_class


def _class_round(session: Session, teacher: Person, body: ClassIn) -> Round | None:
    """The round that the class works on, if one; refuses a teacher whose students could not write there."""
    try:
        config = rounds.task_config(session, body.task)
    except errors.NotFound as problem:
        raise errors.Invalid({"task": problem.detail}) from None
    people.require_seat(session, teacher, body.task, checking=True)
    round_ = session.scalar(round_queries.round_numbered(body.task, body.round)) if body.round is not None else None
    runs_task = bool(may.may_in(session, teacher, Action.INVITE_PEOPLE, body.task))
    if body.round is not None and (
        round_ is None
        or round_.state not in (RoundState.DRAFT, RoundState.OPEN)
        or (round_.state == RoundState.DRAFT and not runs_task)
    ):
        raise errors.Invalid({"round": _("Choose an open round, or a draft of your own.")})
    current = round_ or session.scalar(round_queries.open_round(body.task))
    closed = config.annotators == "invited" or (current and planning.plan_of(current).audience.kind != "anyone")
    if closed and not runs_task:
        raise errors.Invalid(
            {"task": _("This task or round is not for everybody. One of the task's owners can make the class.")}
        )
    if current and planning.plan_of(current).audience.kind in ("experts", "qualified"):
        raise errors.Invalid({"round": _("New accounts cannot write in this round. Choose another one.")})
    if round_ is None and current and planning.plan_of(current).audience.kind == "invited":
        raise errors.Invalid({"round": _("The open round is by invitation. Choose it by its number.")})
    return round_


def managed_class(session: Session, person: Person | None, class_id: int, *, lock: bool = False) -> SchoolClass:
    """A class that a person manages: its teacher, or an administrator; for others there is none.

    The operator (`person` is None) manages all.
    """
    school_class = session.get(SchoolClass, class_id, with_for_update=True if lock else None)
    if school_class is None or (
        person is not None and not may.may(person, Action.MANAGE_CLASS, author=school_class.teacher_id)
    ):
        raise errors.NotFound(_("There is no such class."))
    return school_class


def visible_class(session: Session, person: Person, class_id: int) -> tuple[SchoolClass, ClassStudent | None]:
    """A class, for its teacher (None beside it) or for one of its students (with their place in it)."""
    school_class = session.get(SchoolClass, class_id)
    if school_class is not None:
        if may.may(person, Action.MANAGE_CLASS, author=school_class.teacher_id):
            return school_class, None
        student = session.get(ClassStudent, (class_id, person.id))
        if student is not None and student.leaving_at is None:
            return school_class, student
    raise errors.NotFound(_("There is no such class."))


def own_class_with_code(session: Session, person: Person, code: str) -> int | None:
    """Return the class with a join code that a person teaches or has joined; None for any other code."""
    school_class = session.scalar(queries.class_with_code(clean_code(code)))
    if school_class is None:
        return None
    try:
        return visible_class(session, person, school_class.id)[0].id
    except errors.NotFound:
        return None


def count_students(session: Session, class_id: int) -> int:
    """Return how many students a class has, those about to leave left out."""
    return sum(student.leaving_at is None for student, _person in session.execute(queries.students(class_id)))


def change_class(session: Session, teacher: Person, class_id: int, body: ClassChangeIn) -> SchoolClass:
    """Change a class: its name, assignment, goals, end, places, and whether students can join."""
    school_class = managed_class(session, teacher, class_id, lock=True)
    changed = body.model_dump(exclude_unset=True)
    if body.name is not None:
        school_class.name = clean_line(body.name, NAME_LENGTH, "name")
    if body.assignment is not None:
        school_class.assignment = body.assignment.strip()
    if body.goals is not None:
        school_class.goals = body.goals.model_dump(exclude_none=True)
    if "due_at" in changed:
        school_class.due_at = body.due_at
    if body.places is not None:
        if body.places < count_students(session, class_id):
            raise errors.Invalid({"places": _("The class has more students than that.")})
        school_class.places = body.places
    if body.open is not None:
        school_class.state = ClassState.OPEN if body.open else ClassState.CLOSED
    subject: dict[str, Any] = {"task": school_class.task_id, "school_class": class_id}
    rounds.record_act(session, teacher, "class.changed", **subject, changed=", ".join(sorted(changed)))
    return school_class


def renew_join_code(session: Session, teacher: Person, class_id: int) -> SchoolClass:
    """Give a class another join code; the earlier one lets nobody in any more."""
    school_class = managed_class(session, teacher, class_id, lock=True)
    school_class.join_code = draw_code(2)
    return school_class


def delete_class(session: Session, teacher: Person, class_id: int) -> None:
    """Delete a class without students; one that has some is reset first."""
    school_class = managed_class(session, teacher, class_id, lock=True)
    if session.execute(queries.students(class_id)).first() is not None:
        raise errors.Conflict(_("The class has students. Reset it first, then delete it."))
    rounds.record_act(session, teacher, "class.deleted", task=school_class.task_id, school_class=class_id)
    session.delete(school_class)


# Joining


# The teacher's care of students


def _student(session: Session, teacher: Person, class_id: int, person_id: int) -> tuple[SchoolClass, ClassStudent]:
    school_class = managed_class(session, teacher, class_id, lock=True)
    student = session.get(ClassStudent, (class_id, person_id))
    if student is None:
        raise errors.NotFound(_("The class has no such student."))
    return school_class, student


def new_personal_code(student: ClassStudent) -> str:
    """Give a student a new personal code, of which only the digest is stored, and return it."""
    code = draw_code(3)
    student.code_digest = digest(code)
    return code


def reset_student_code(session: Session, teacher: Person, class_id: int, person_id: int) -> str:
    """Give a student another personal code; browsers and tokens that used the account are logged out."""
    school_class, student = _student(session, teacher, class_id, person_id)
    if not student.account_made or student.leaving_at is not None:
        raise errors.Conflict(_("This student came with an account of their own and logs in with its password."))
    _log_out(session, [person_id])
    subject: dict[str, Any] = {"task": school_class.task_id, "school_class": class_id, "person": person_id}
    rounds.record_act(session, teacher, "class.code_reset", **subject)
    return new_personal_code(student)


def _log_out(session: Session, person_ids: Sequence[int]) -> None:
    session.execute(delete(Login).where(Login.person_id.in_(person_ids)))
    revoked = update(Token).where(Token.person_id.in_(person_ids), Token.revoked_at.is_(None))
    session.execute(revoked.values(revoked_at=now()))


def remove_student(session: Session, teacher: Person, class_id: int, person_id: int, withdraw: bool) -> None:
    """Remove a student; an account that joining made is deleted, by a job, with its examples where `withdraw`."""
    school_class, student = _student(session, teacher, class_id, person_id)
    _remove(session, teacher, school_class, [student], withdraw)


def reset_class(session: Session, teacher: Person | None, class_id: int, withdraw: bool, confirm: str) -> None:
    """Empty a class for the next group: students leave, accounts that joining made are deleted, the code is another.

    Examples and votes stay under pseudonyms that lead to nobody; with `withdraw` the examples that are in no release
    are withdrawn. `confirm` is the name of the class. Accounts that students brought along stay as they are.
    """
    school_class = managed_class(session, teacher, class_id, lock=True)
    if " ".join(confirm.split()) != school_class.name:
        raise errors.Invalid({"confirm": _("Type the name of the class.")})
    students = [student for student, _person in session.execute(queries.students(class_id))]
    school_class.join_code = draw_code(2)
    _remove(session, teacher, school_class, students, withdraw)


def _remove(
    session: Session,
    teacher: Person | None,
    school_class: SchoolClass,
    students: Sequence[ClassStudent],
    withdraw: bool,
) -> None:
    with_account = [student for student in students if student.account_made]
    for student in students:
        if not student.account_made:
            session.delete(student)
    for student in with_account:
        student.leaving_at, student.code_digest, student.join_digest = student.leaving_at or now(), None, None
    ids = [student.person_id for student in with_account]
    if ids:
        _log_out(session, ids)
        payload = {"class": school_class.id, "people": ids, "withdraw": withdraw}
        jobs.enqueue(session, REMOVE_KIND, payload, teacher.id if teacher else None)
    subject: dict[str, Any] = {"task": school_class.task_id, "school_class": school_class.id}
    act = "class.students_removed"
    rounds.record_act(session, teacher, act, **subject, students=len(students), examples_withdrawn=withdraw)


def forget_person(session: Session, person_id: int) -> None:
    """Forget which classes a person attended, and close those that the person taught: they have no teacher any more."""
    session.execute(delete(ClassStudent).where(ClassStudent.person_id == person_id))
    taught = update(SchoolClass).where(SchoolClass.teacher_id == person_id)
    session.execute(taught.values(teacher_id=None, state=ClassState.CLOSED))


def class_facts(session: Session, school_class: SchoolClass, *, teaches: bool) -> Mapping[str, Any]:
    """Return a class as JSON; the join code is for the teacher alone."""
    round_ = session.get(Round, school_class.round_id) if school_class.round_id else None
    return {
        "id": school_class.id,
        "name": school_class.name,
        "task": school_class.task_id,
        "round": round_.number if round_ else None,
        "open": school_class.state == ClassState.OPEN,
        "join_code": school_class.join_code if teaches else None,
        "assignment": school_class.assignment,
        "goals": school_class.goals,
        "due_at": school_class.due_at,
        "places": school_class.places,
        "students": count_students(session, school_class.id),
        "created_at": school_class.created_at,
    }


def form_key() -> str:
    """Return a random key for a form, which tells that it was sent twice."""
    return secrets.token_urlsafe(16)


def is_past(moment: datetime | None) -> bool:
    """Return whether a moment has passed; false for none."""
    return moment is not None and moment <= now()
