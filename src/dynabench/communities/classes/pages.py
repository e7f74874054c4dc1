"""The pages of classes: joining with a code, the student's own page, and the teacher's board."""

from dataclasses import asdict, dataclass
from datetime import UTC, datetime, time, timedelta
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from pydantic import ValidationError
from sqlalchemy.orm import Session
from starlette.responses import Response

from dynabench.communities.classes import joining, progress, queries, service
from dynabench.communities.classes.api import throttle_joining
from dynabench.communities.classes.schemas import MOST_STUDENTS, ClassChangeIn, ClassIn
from dynabench.kit import errors
from dynabench.kit.api import AppSettings, Db, csv_response, page_address
from dynabench.kit.errors import validation_message
from dynabench.kit.forms import Text, redirect, rejection
from dynabench.kit.language import _
from dynabench.kit.security import RowId
from dynabench.people.accounts import login
from dynabench.people.accounts.auth import Member, Viewer
from dynabench.people.accounts.pages import logged_in
from dynabench.people.accounts.tables import Person
from dynabench.rounds import queries as round_queries
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import RoundState
from dynabench.rounds.views import list_task_names
from dynabench.web import render

router = APIRouter(include_in_schema=False)
EMPTY = {
    "name": "",
    "task": "",
    "round": "",
    "assignment": "",
    "due": "",
    "places": "40",
    **dict.fromkeys(progress.GOAL_NAMES, ""),
}


def _whole(text: str, field: str) -> int | None:
    """The whole number that a field holds; None for an empty one."""
    if not text.strip():
        return None
    if not text.strip().isascii() or not text.strip().isdigit() or len(text.strip()) > 6:
        raise errors.Invalid({field: _("Enter a whole number.")})
    return int(text)


def _day_end(text: str) -> datetime | None:
    if not text.strip():
        return None
    try:
        day = datetime.strptime(text.strip(), "%Y-%m-%d").date()
    except ValueError:
        raise errors.Invalid({"due": _("Give a day such as 2026-12-01.")}) from None
    return datetime.combine(day, time(), UTC) + timedelta(days=1)


@dataclass(frozen=True)
class ClassForm:
    """The fields of a class as they are typed."""

    name: Text = ""
    assignment: Text = ""
    examples: Text = ""
    fooled: Text = ""
    verified: Text = ""
    votes: Text = ""
    due: Text = ""
    places: Text = ""

    def values(self) -> dict[str, Any]:
        """Return the values of the API's body; raises `Invalid` under the field that cannot be read."""
        return {
            "name": self.name,
            "assignment": self.assignment,
            "goals": {name: _whole(getattr(self, name), name) for name in progress.GOAL_NAMES},
            "due_at": _day_end(self.due),
            "places": _whole(self.places, "places"),
        }


PostedClass = Annotated[ClassForm, Depends()]


def _parsed(model: type[Any], values: dict[str, Any]) -> Any:
    """The body of the API made of a form; raises `Invalid` under the names of the form's fields."""
    try:
        return model.model_validate(values)
    except ValidationError as error:
        fields = {str(problem["loc"][-1]): validation_message(problem) for problem in error.errors()}
        raise errors.Invalid(fields) from None


async def _list_page(request: Request, person: Person, status: int = 200, **values: Any) -> Response:
    settings = request.app.state.settings

    def read(session: Session) -> dict[str, Any]:
        try:
            service.require_class_maker(session, person, settings.new_classes)
            makes = True
        except errors.Forbidden:
            makes = False
        taught = session.scalars(queries.taught_classes(person.id)).all()
        attended = session.scalars(queries.attended_classes(person.id)).all()
        names = rounds.task_names(session, {entry.task_id for entry in (*taught, *attended)})
        counts = {entry.id: service.count_students(session, entry.id) for entry in taught}
        return {
            "makes": makes,
            "taught": taught,
            "attended": attended,
            "names": names,
            "counts": counts,
            "tasks": list_task_names(session),
        }

    page = await request.app.state.db.aread(read) | {"typed": EMPTY, "errors": {}, "most": MOST_STUDENTS}
    return render(request, "classes/list.html", status=status, **(page | values))


@router.get("/classes", name="classes")
async def list_classes(request: Request, person: Member) -> Response:
    """The classes that a person teaches or attends, and the form for a new one."""
    return await _list_page(request, person)


@router.post("/classes", name="create_class_form")
async def create_class(
    request: Request,
    db: Db,
    settings: AppSettings,
    person: Member,
    form: PostedClass,
    task: Text = "",
    round: Text = "",
) -> Response:
    """Make a class."""
    try:
        round_number, values = _whole(round, "round"), form.values()
        values |= {"task": task, "round": round_number, "places": values["places"] or 40}
        body = _parsed(ClassIn, values)
        new_class = await db.awrite(service.create_class, person, settings.new_classes, body)
    except (errors.Invalid, errors.Conflict) as problem:
        typed = asdict(form) | {"task": task, "round": round}
        return await _list_page(request, person, typed=typed, **rejection(problem, "name"))
    return redirect(request, "school_class", id=new_class.id)


async def _board(request: Request, person: Person, class_id: int, status: int = 200, **values: Any) -> Response:
    def read(session: Session) -> dict[str, Any]:
        school_class, student = service.visible_class(session, person, class_id)
        rows = progress.read_progress(session, school_class, student.person_id if student else None)
        teaches = student is None
        round_ = session.scalar(round_queries.open_round(school_class.task_id))
        facts = service.class_facts(session, school_class, teaches=teaches)
        due = school_class.due_at
        due_day = (due - timedelta(seconds=1)).date().isoformat() if due else ""
        goals = {name: school_class.goals.get(name, "") for name in progress.GOAL_NAMES}
        return {
            "school_class": facts,
            "teaches": teaches,
            "rows": rows,
            "goal_names": [name for name in progress.GOAL_NAMES if name in school_class.goals],
            "task_name": rounds.task_config(session, school_class.task_id).name,
            "collects": round_ is not None
            and round_.state == RoundState.OPEN
            and school_class.round_id in (None, round_.id),
            "past": service.is_past(due),
            "due_day": due_day,
            "typed": {
                "name": school_class.name,
                "assignment": school_class.assignment,
                "places": school_class.places,
                "due": due_day,
                **goals,
            },
        }

    page = await request.app.state.db.aread(read)
    page |= {"errors": {}, "done": request.query_params.get("done", ""), "new_code": None, "most": MOST_STUDENTS}
    page["door"] = page_address(request, "class_door")
    fragment = "classes/_board.html" if request.method == "GET" else None
    return render(request, "classes/class.html", status=status, fragment=fragment, **(page | values))


@router.get("/classes/{id}", name="school_class")
async def school_class(request: Request, id: RowId, person: Member) -> Response:
    """A class: the board for its teacher, their own work for its students."""
    return await _board(request, person, id)


@router.post("/classes/{id}", name="change_class_form")
async def change_class(request: Request, db: Db, id: RowId, person: Member, form: PostedClass) -> Response:
    """Change the name, assignment, goals, end and places of a class."""
    try:
        await db.awrite(service.change_class, person, id, _parsed(ClassChangeIn, form.values()))
    except errors.Invalid as problem:
        return await _board(request, person, id, typed=asdict(form), **rejection(problem, "name"))
    return redirect(request, "school_class", id=id, query={"done": "saved"})


@router.post("/classes/{id}/state", name="set_class_state")
async def set_class_state(request: Request, db: Db, id: RowId, person: Member, open: Text = "") -> Response:
    """Close a class to new students, or open it again."""
    await db.awrite(service.change_class, person, id, ClassChangeIn(open=open == "true"))
    return redirect(request, "school_class", id=id, query={"done": "opened" if open == "true" else "closed"})


@router.post("/classes/{id}/code", name="renew_join_code_form")
async def renew_join_code(request: Request, db: Db, id: RowId, person: Member) -> Response:
    """Replace the join code."""
    await db.awrite(service.renew_join_code, person, id)
    return redirect(request, "school_class", id=id, query={"done": "renewed"})


@router.post("/classes/{id}/delete", name="delete_class_form")
async def delete_class(request: Request, db: Db, id: RowId, person: Member) -> Response:
    """Delete a class without students."""
    await db.awrite(service.delete_class, person, id)
    return redirect(request, "classes")


@router.post("/classes/{id}/reset", name="reset_class_form")
async def reset_class(
    request: Request, db: Db, id: RowId, person: Member, confirm: Text = "", withdraw_examples: Text = ""
) -> Response:
    """Empty a class for the next group."""
    try:
        await db.awrite(service.reset_class, person, id, withdraw_examples == "true", confirm)
    except errors.Invalid as problem:
        return await _board(request, person, id, **rejection(problem, "confirm"))
    return redirect(request, "school_class", id=id, query={"done": "reset"})


@router.post("/classes/{id}/students/{person_id}/code", name="reset_student_code_form")
async def reset_student_code(request: Request, db: Db, id: RowId, person_id: RowId, person: Member) -> Response:
    """Show a student's new personal code, this once."""
    code = await db.awrite(service.reset_student_code, person, id, person_id)
    return await _board(request, person, id, new_code={"person": person_id, "code": code})


@router.post("/classes/{id}/students/{person_id}/remove", name="remove_student_form")
async def remove_student(
    request: Request, db: Db, id: RowId, person_id: RowId, person: Member, withdraw_examples: Text = ""
) -> Response:
    """Remove a student."""
    await db.awrite(service.remove_student, person, id, person_id, withdraw_examples == "true")
    return redirect(request, "school_class", id=id, query={"done": "removed"})


@router.get("/classes/{id}/grades.csv", name="class_grades")
async def class_grades(db: Db, id: RowId, person: Member) -> Response:
    """The grades of a class as CSV, with the names that the teacher knows."""

    def read(session: Session) -> list[list[object]]:
        school_class = service.managed_class(session, person, id)
        return progress.grade_rows(school_class, progress.read_progress(session, school_class))

    return csv_response(f"class-{id}-grades.csv", progress.GRADE_HEADER, await db.aread(read))


# For students


async def _door(request: Request, code: str, status: int = 200, **values: Any) -> Response:
    def read(session: Session) -> dict[str, Any]:
        school_class = joining.class_to_join(session, code)
        return {
            "school_class": school_class,
            "task_name": rounds.task_config(session, school_class.task_id).name,
            "code": school_class.join_code,
        }

    page: dict[str, Any] = {"school_class": None, "task_name": "", "code": code, "typed": {"name": ""}, "errors": {}}
    if code:
        try:
            page |= await request.app.state.db.aread(read)
        except errors.Invalid as problem:
            page["errors"], status = problem.fields, problem.status
    page["key"] = service.form_key()
    return render(request, "classes/join.html", status=status, **(page | values))


@router.get("/class", name="class_door")
async def class_door(request: Request, db: Db, viewer: Viewer, code: str = "") -> Response:
    """The form for the code of a class, then for the student's name; or for the personal code to come back."""
    if code:
        throttle_joining(request)
        class_id = await db.aread(service.own_class_with_code, viewer, code[:40]) if viewer else None
        if class_id is not None:  # who has joined comes back, by the browser's button for example
            return redirect(request, "school_class", id=class_id)
    return await _door(request, code[:40])


@router.post("/class", name="join_class_form")
async def join_class(
    request: Request,
    db: Db,
    viewer: Viewer,
    code: Text = "",
    name: Text = "",
    agree: Text = "",
    key: Text = "",
) -> Response:
    """Join a class; a visitor gets an account, and its personal code this once."""
    throttle_joining(request)
    try:
        joined = await db.awrite(joining.join_class, viewer, code[:40], name, agree == "yes", key[:100])
    except (errors.Invalid, errors.Conflict) as problem:
        return await _door(request, code[:40], typed={"name": name}, **rejection(problem, "name"))
    if not joined.code:
        return redirect(request, "school_class", id=joined.class_id)
    cookie = await login.start_session(request, joined.person.id)
    session_cookie = logged_in(request, cookie, "/").headers["set-cookie"]
    request.state.viewer = joined.person
    response = render(request, "classes/joined.html", class_id=joined.class_id, code=joined.code)
    response.headers["set-cookie"] = session_cookie
    response.headers["Cache-Control"] = "no-store"
    return response


@router.post("/class/return", name="return_to_class_form")
async def return_to_class(request: Request, db: Db, personal: Text = "") -> Response:
    """Log a student in by the personal code."""
    throttle_joining(request)
    try:
        student = await db.aread(joining.return_to_class, personal[:60])
    except errors.Invalid as problem:
        return await _door(request, "", status=422, errors={"personal": problem.fields["code"]})
    cookie = await login.start_session(request, student.person_id)
    return logged_in(request, cookie, str(request.app.url_path_for("school_class", id=student.class_id)))
