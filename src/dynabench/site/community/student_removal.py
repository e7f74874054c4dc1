"""The end of students' accounts: a durable job, since a class has hundreds and each account takes many statements."""

from typing import Any

from dbos import DBOS
from sqlalchemy.orm import Session

from dynabench.communities.classes.tables import ClassStudent
from dynabench.kit import jobs
from dynabench.kit.settings import get_settings
from dynabench.people.accounts.tables import Person
from dynabench.site.community import service


def _remove_student(session: Session, class_id: int, person_id: int, withdraw: bool) -> None:
    student = session.get(ClassStudent, (class_id, person_id), with_for_update=True)
    if student is None or student.leaving_at is None:  # done before a crash, or by the student
        return
    if session.get_one(Person, person_id).deleted_at is None:
        service.delete_own_account(session, get_settings(), person_id, withdraw_examples=withdraw)


@DBOS.step(name="remove_students.one", retries_allowed=True)
def remove_student(class_id: int, person_id: int, withdraw: bool) -> None:
    """Delete the account of one student, in one transaction. Twice is as once."""
    jobs.database().write(_remove_student, class_id, person_id, withdraw)


def remove_students(payload: dict[str, Any]) -> dict[str, Any]:
    """The workflow: `payload` names the `class`, the `people` who leave, and whether to `withdraw` their examples."""
    for person_id in payload["people"]:
        remove_student(payload["class"], person_id, payload["withdraw"])
    return {}
