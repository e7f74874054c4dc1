"""Pages of decisions about oneself, and of the appeals in a task for those who answer them."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Request
from sqlalchemy.orm import Session
from starlette.responses import Response

from dynabench.collection import overview
from dynabench.kit.api import Db, csv_response
from dynabench.kit.errors import Conflict, Forbidden, Invalid
from dynabench.kit.forms import Text, read_number, redirect
from dynabench.kit.language import _
from dynabench.kit.security import RowId
from dynabench.people.accounts.auth import Member
from dynabench.people.accounts.tables import Person
from dynabench.quality import appeals
from dynabench.rounds import people
from dynabench.rounds import service as rounds
from dynabench.web import render

router = APIRouter(include_in_schema=False)

Which = Annotated[Literal["waiting", "answered"], Query()]
Before = Annotated[int | None, Query(ge=1, le=2**63 - 1)]
PAGE_SIZE = 20
COLUMNS = ("id", "person", "decision", "reason", "text", "state", "answer", "at", "answered_at")


async def _own_page(request: Request, person: Person, status: int = 200, **values: Any) -> Response:
    def read(session: Session) -> dict[str, Any]:
        rows, history = appeals.list_own_decisions(session, person), appeals.list_own_appeals(session, person)
        ids = {row.decision.task_id for row in rows} | {appeal.task_id for appeal in history}
        return {"rows": rows, "history": history, "names": rounds.task_names(session, sorted(ids))}

    defaults: dict[str, Any] = {"problem": "", "errors": {}, "values": {}}
    page_values = defaults | await request.app.state.db.aread(read) | values
    return render(request, "quality/decisions.html", status=status, **page_values)


@router.get("/me/decisions", name="own_decisions")
async def own_decisions(request: Request, person: Member) -> Response:
    """Decisions about the person who asks, each with its reason and appeal."""
    return await _own_page(request, person)


@router.post("/me/decisions", name="write_appeal")
async def write_appeal(
    request: Request,
    db: Db,
    person: Member,
    task: Text = "",
    kind: Text = "",
    subject: Text = "0",
    text: Text = "",
) -> Response:
    """Appeal against a decision."""
    number = read_number(subject)
    try:
        await db.awrite(appeals.write_appeal, person, task, kind, number, text)
    except Invalid as problem:
        values = {"key": f"{task} {kind} {number}", "text": text}
        return await _own_page(request, person, 422, errors=problem.fields, values=values)
    except Conflict as problem:
        return await _own_page(request, person, problem.status, problem=problem.detail)
    return redirect(request, "own_decisions")


@router.post("/me/appeals/{appeal}/withdraw", name="withdraw_appeal")
async def withdraw_appeal(request: Request, db: Db, appeal: RowId, person: Member) -> Response:
    """Take an appeal back."""
    try:
        await db.awrite(appeals.withdraw_appeal, person, appeal)
    except Conflict as problem:
        return await _own_page(request, person, problem.status, problem=problem.detail)
    return redirect(request, "own_decisions")


async def _task_page(
    request: Request,
    person: Person,
    task: str,
    which: str = "waiting",
    before: int | None = None,
    status: int = 200,
    **values: Any,
) -> Response:
    def read(session: Session) -> dict[str, Any]:
        cases = appeals.list_appeals(session, person, task, which == "waiting", before, PAGE_SIZE + 1)
        following = cases[PAGE_SIZE - 1].appeal.id if len(cases) > PAGE_SIZE else None
        return {"cases": cases[:PAGE_SIZE], "following": following}

    db = request.app.state.db
    defaults: dict[str, Any] = {"problem": "", "errors": {}, "values": {}}
    page_values = defaults | await db.aread(read) | await db.aread(overview.page_head, task) | values
    return render(request, "quality/appeals.html", status=status, task=task, which=which, before=before, **page_values)


@router.get("/tasks/{task}/appeals", name="task_appeals", dependencies=[Depends(people.load_actions)])
async def task_appeals(
    request: Request, task: str, person: Member, which: Which = "waiting", before: Before = None
) -> Response:
    """The appeals of a task that wait, or those that were answered."""
    return await _task_page(request, person, task, which, before)


@router.post("/tasks/{task}/appeals/{appeal}", name="answer_appeal", dependencies=[Depends(people.load_actions)])
async def answer_appeal(
    request: Request, db: Db, task: str, appeal: RowId, person: Member, outcome: Text = "", answer: Text = ""
) -> Response:
    """Grant or refuse an appeal."""
    try:
        if outcome not in ("grant", "refuse"):
            raise Invalid({"answer": _("Choose whether you grant or refuse the appeal.")})
        await db.awrite(appeals.answer_appeal, person, task, appeal, outcome == "grant", answer)
    except Invalid as problem:
        values = {"id": appeal, "answer": answer}
        return await _task_page(request, person, task, status=422, errors=problem.fields, values=values)
    except (Conflict, Forbidden) as problem:
        return await _task_page(request, person, task, status=problem.status, problem=problem.detail)
    return redirect(request, "task_appeals", task=task)


@router.get("/tasks/{task}/appeals.csv", name="download_appeals")
async def download_appeals(db: Db, task: str, person: Member) -> Response:
    """The appeals of a task as a file: first those that wait."""

    def read(session: Session) -> list[appeals.AppealCase]:
        lists = [appeals.list_appeals(session, person, task, waiting, limit=10_000) for waiting in (True, False)]
        return [case for cases in lists for case in cases]

    lines = [
        [
            *(case.appeal.id, case.person, case.appeal.kind, case.appeal.reason, case.appeal.text),
            *(case.appeal.state, case.appeal.answer, case.appeal.at.isoformat(), case.appeal.answered_at or ""),
        ]
        for case in await db.aread(read)
    ]
    return csv_response(f"{task}-appeals.csv", COLUMNS, lines)
