"""`dynabench class`: classes with their join codes, students and grades."""

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dynabench.cli.operator import AsJson, OutFile, database, say, table, write_table

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

app = typer.Typer(help="List, create and reset classes; export grades.", no_args_is_help=True)
ClassId = Annotated[int, typer.Argument(min=1, metavar="CLASS", help="The number of the class.")]


@app.command("list")
def list_all(
    task: Annotated[str, typer.Option(help="Only classes that work on this task.")] = "", as_json: AsJson = False
) -> None:
    """List classes with their teachers and join codes, the newest first."""
    from dynabench.communities.classes import queries, service

    def read(session: "Session") -> list[dict[str, Any]]:
        rows = session.execute(queries.all_classes(task)).all()
        return [
            {**service.class_facts(session, school_class, teaches=True), "teacher": teacher}
            for school_class, teacher in rows
        ]

    with database() as db:
        facts = db.read(read)
    table(as_json, facts, "id", "name", "task", "round", "teacher", "open", "join_code", "students", "places", "due_at")


@app.command("create")
def create(
    task: str,
    name: str,
    teacher: Annotated[str, typer.Option(help="Username of the teacher.")],
    number: Annotated[int | None, typer.Option("--round", min=1, help="One round of the task.")] = None,
    places: Annotated[int, typer.Option(min=1, help="The most students.")] = 40,
    assignment: Annotated[str, typer.Option(help="Markdown that the students read.")] = "",
    goals: Annotated[list[str] | None, typer.Option("--goal", help="Such as examples=5, fooled=2, votes=20.")] = None,
    due: Annotated[datetime | None, typer.Option(help="The end, in UTC.")] = None,
    as_json: AsJson = False,
) -> None:
    """Make a class on TASK, called NAME; students join with the code that is printed."""
    from datetime import UTC

    from dynabench.communities.classes import service
    from dynabench.communities.classes.schemas import ClassIn
    from dynabench.rounds.people import person_named

    body = ClassIn.model_validate(
        {
            "name": name, "task": task, "round": number, "assignment": assignment, "places": places,
            "goals": _goals(goals or []), "due_at": due.replace(tzinfo=UTC) if due else None,
        }
    )  # fmt: skip

    def write(session: "Session") -> dict[str, Any]:
        school_class = service.create_class(session, person_named(session, teacher), "members", body)
        return dict(service.class_facts(session, school_class, teaches=True))

    with database() as db:
        facts = db.write(write)
    say(as_json, facts, f"Class {facts['id']} is open. Students join with the code {facts['join_code']}.")


def _goals(words: list[str]) -> dict[str, int]:
    goals = {}
    for word in words:
        name, _equals, number = word.partition("=")
        if name not in ("examples", "fooled", "verified", "votes") or not number.isdigit() or int(number) < 1:
            raise typer.BadParameter("A goal is examples, fooled, verified or votes, `=`, and a number above 0.")
        goals[name] = int(number)
    return goals


@app.command("reset")
def reset(
    number: ClassId,
    withdraw: Annotated[bool, typer.Option(help="Withdraw examples that are in no release.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: AsJson = False,
) -> None:
    """Empty a class for the next group: students leave, accounts that joining made are deleted by the worker."""
    from dynabench.communities.classes import service

    def read(session: "Session") -> tuple[str, int]:
        school_class = service.managed_class(session, None, number)
        return school_class.name, service.count_students(session, number)

    def write(session: "Session", name: str) -> str:
        service.reset_class(session, None, number, withdraw, name)
        return service.managed_class(session, None, number).join_code

    with database() as db:
        name, students = db.read(read)
        if not yes:
            typer.confirm(f"Remove {students} students from “{name}”, for good?", abort=True)
        code = db.write(write, name)
    say(as_json, {"class": number, "removed": students, "join_code": code}, f"The class is empty. Its code is {code}.")


@app.command("export")
def export(number: ClassId, out: OutFile = None) -> None:
    """Write the grades of a class as CSV: each student's work, beside the goals."""
    from dynabench.communities.classes import progress, service

    def read(session: "Session") -> list[list[object]]:
        school_class = service.managed_class(session, None, number)
        return progress.grade_rows(school_class, progress.read_progress(session, school_class))

    with database() as db:
        write_table(out, progress.GRADE_HEADER, db.read(read))
