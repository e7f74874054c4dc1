"""Classes as JSON."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Request
from sqlalchemy.orm import Session

from dynabench.communities.classes import joining, progress, queries, schemas, service
from dynabench.communities.classes.progress import StudentProgress
from dynabench.kit import security
from dynabench.kit.api import AppSettings, Db
from dynabench.kit.security import RowId
from dynabench.people.accounts.auth import Member, Viewer, needs, scope
from dynabench.people.accounts.tables import Person

router = APIRouter(prefix="/api/v1", tags=["classes"], dependencies=[Depends(scope("annotate"))])
MINUTE, HOUR = 60.0, 3600.0
Key = Annotated[str, Header(alias="Idempotency-Key", max_length=200)]


def throttle_joining(request: Request) -> None:
    """Limit the codes that are tried from one address; a class room shares one."""
    security.throttle(request, "class codes", 600, HOUR, key=security.address(request))
    security.throttle(request, "class codes a minute", 120, MINUTE, key=security.address(request))


def _facts(session: Session, person: Person, class_id: int) -> schemas.ClassOut:
    school_class, student = service.visible_class(session, person, class_id)
    return schemas.ClassOut(**service.class_facts(session, school_class, teaches=student is None))


@router.get("/classes")
async def list_classes(db: Db, person: Member) -> schemas.ClassList:
    """List the classes that you teach and those that you attend."""

    def read(session: Session) -> schemas.ClassList:
        lists = ((queries.taught_classes, True), (queries.attended_classes, False))
        facts = [
            service.class_facts(session, school_class, teaches=teaches)
            for statement, teaches in lists
            for school_class in session.scalars(statement(person.id))
        ]
        return schemas.ClassList(items=[schemas.ClassOut(**entry) for entry in facts])

    return await db.aread(read)


@router.post("/classes", status_code=201)
@needs("manage")
async def create_class(db: Db, settings: AppSettings, body: schemas.ClassIn, person: Member) -> schemas.ClassOut:
    """Make a class. Students join with its code and need no mail address."""

    def write(session: Session) -> schemas.ClassOut:
        school_class = service.create_class(session, person, settings.new_classes, body)
        return schemas.ClassOut(**service.class_facts(session, school_class, teaches=True))

    return await db.awrite(write)


@router.post("/classes/join", status_code=201)
async def join_class(
    request: Request, db: Db, body: schemas.JoinClassIn, viewer: Viewer, key: Key = ""
) -> schemas.JoinedClassOut:
    """Join a class. Without a token an account is made: keep its personal code, and use the token that comes with it.

    A request that is repeated with the same `Idempotency-Key` within ten minutes gives the same account.
    """
    throttle_joining(request)

    def write(session: Session) -> schemas.JoinedClassOut:
        joined = joining.join_class(session, viewer, body.code, body.name, body.agree, key)
        token = joining.student_token(session, joined.person.id) if joined.code else None
        return schemas.JoinedClassOut(
            id=joined.class_id, username=joined.person.username, code=joined.code or None, token=token
        )

    return await db.awrite(write)


@router.post("/classes/return", status_code=201)
async def return_to_class(request: Request, db: Db, body: schemas.ClassReturnIn) -> schemas.JoinedClassOut:
    """Get a new token for the personal code of a student."""
    throttle_joining(request)

    def write(session: Session) -> schemas.JoinedClassOut:
        student = joining.return_to_class(session, body.code)
        token = joining.student_token(session, student.person_id)
        username = session.get_one(Person, student.person_id).username
        return schemas.JoinedClassOut(id=student.class_id, username=username, code=None, token=token)

    return await db.awrite(write)


@router.get("/classes/{id}")
async def read_class(db: Db, id: RowId, person: Member) -> schemas.ClassOut:
    """Return a class that you teach or attend."""
    return await db.aread(_facts, person, id)


@router.patch("/classes/{id}")
@needs("manage")
async def change_class(db: Db, id: RowId, body: schemas.ClassChangeIn, person: Member) -> schemas.ClassOut:
    """Change a class, close it to new students, or open it again (teacher)."""

    def write(session: Session) -> schemas.ClassOut:
        service.change_class(session, person, id, body)
        return _facts(session, person, id)

    return await db.awrite(write)


@router.delete("/classes/{id}", status_code=204)
@needs("manage")
async def delete_class(db: Db, id: RowId, person: Member) -> None:
    """Delete a class that has no students (teacher)."""
    await db.awrite(service.delete_class, person, id)


@router.post("/classes/{id}/code")
@needs("manage")
async def renew_join_code(db: Db, id: RowId, person: Member) -> schemas.ClassOut:
    """Replace the join code of a class (teacher)."""

    def write(session: Session) -> schemas.ClassOut:
        service.renew_join_code(session, person, id)
        return _facts(session, person, id)

    return await db.awrite(write)


def _student_out(row: StudentProgress) -> schemas.StudentOut:
    facts: dict[str, Any] = dict(row.counts)
    return schemas.StudentOut(
        **facts,
        person=row.person_id,
        name=row.name,
        username=row.username,
        joined_at=row.joined_at,
        minutes=row.minutes,
        grade=row.grade,
        leaving=row.leaving,
    )


@router.get("/classes/{id}/students")
async def list_students(db: Db, id: RowId, person: Member) -> schemas.StudentList:
    """List the students of a class with their work: all for the teacher, a student's own line for the student."""

    def read(session: Session) -> schemas.StudentList:
        school_class, student = service.visible_class(session, person, id)
        rows = progress.read_progress(session, school_class, student.person_id if student else None)
        return schemas.StudentList(items=[_student_out(row) for row in rows])

    return await db.aread(read)


@router.post("/classes/{id}/students/{person_id}/code")
@needs("manage")
async def reset_student_code(db: Db, id: RowId, person_id: RowId, person: Member) -> schemas.StudentCodeOut:
    """Give a student another personal code; the earlier one and all log-ins end (teacher)."""
    return schemas.StudentCodeOut(code=await db.awrite(service.reset_student_code, person, id, person_id))


@router.delete("/classes/{id}/students/{person_id}", status_code=204)
@needs("manage")
async def remove_student(db: Db, id: RowId, person_id: RowId, person: Member, withdraw: bool = False) -> None:
    """Remove a student; an account that joining made is deleted, with `withdraw` also its examples (teacher)."""
    await db.awrite(service.remove_student, person, id, person_id, withdraw)


@router.post("/classes/{id}/reset", status_code=204)
@needs("manage")
async def reset_class(db: Db, id: RowId, body: schemas.ClassResetIn, person: Member) -> None:
    """Empty a class: accounts that joining made are deleted by a job, and the join code is another (teacher)."""
    await db.awrite(service.reset_class, person, id, body.withdraw_examples, body.confirm)
