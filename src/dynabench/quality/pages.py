"""The desk of experts, who decide about disputed examples."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Request
from sqlalchemy.orm import Session
from starlette.responses import Response

from dynabench.collection import content_warning, overview
from dynabench.kit.api import Db, csv_response
from dynabench.kit.errors import Conflict, Forbidden, Invalid
from dynabench.kit.forms import Text, redirect
from dynabench.kit.security import RowId
from dynabench.people.accounts.auth import Member
from dynabench.people.accounts.tables import Person
from dynabench.quality import adjudication
from dynabench.rounds import people
from dynabench.web import render

router = APIRouter(include_in_schema=False)

Queue = Annotated[Literal["disputed", "split"], Query()]
Before = Annotated[int | None, Query(ge=1, le=2**63 - 1)]
COLUMNS = ("id", "example", "verdict", "reason", "by", "at", "revoked_at")


async def _desk(
    request: Request,
    person: Person,
    task: str,
    which: str = "disputed",
    before: int | None = None,
    *,
    example_id: int | None = None,
    status: int = 200,
    **values: Any,
) -> Response:
    def read(session: Session) -> dict[str, Any]:
        cases = adjudication.list_cases(session, person, task, which, before, limit=2)
        if example_id is not None:
            cases = [*adjudication.read_cases(session, [example_id]), *cases][:2]
        decisions = adjudication.list_decisions(session, person, task, limit=5)
        return {"case": cases[0] if cases else None, "more": len(cases) > 1, "decisions": decisions}

    db = request.app.state.db
    defaults: dict[str, Any] = {"problem": "", "errors": {}, "values": {}}
    page_values = defaults | await db.aread(read) | await db.aread(overview.page_head, task) | values
    return render(
        request, "quality/adjudicate.html", status=status, task=task, which=which, before=before, **page_values
    )


@router.get("/tasks/{task}/adjudicate", name="adjudicate", dependencies=[Depends(people.load_actions)])
async def adjudicate(
    request: Request, task: str, person: Member, which: Queue = "disputed", before: Before = None
) -> Response:
    """The next disputed example below `before`."""
    if warning := await content_warning.warn(request, task):
        return warning
    return await _desk(request, person, task, which, before)


@router.post("/tasks/{task}/adjudicate/{id}", name="decide_case", dependencies=[Depends(people.load_actions)])
async def decide(
    request: Request,
    db: Db,
    task: str,
    id: RowId,
    person: Member,
    verdict: Text = "",
    reason: Text = "",
    which: Text = "disputed",
) -> Response:
    """Decide about an example, and go on to the next."""
    queue = which if which in adjudication.QUEUES else "disputed"
    try:
        await db.awrite(adjudication.decide_case, person, id, verdict, reason)
    except Invalid as problem:
        values = {"verdict": verdict, "reason": reason}
        return await _desk(
            request, person, task, queue, example_id=id, status=422, errors=problem.fields, values=values
        )
    except (Conflict, Forbidden) as problem:
        return await _desk(request, person, task, queue, status=problem.status, problem=problem.detail)
    return redirect(request, "adjudicate", task=task, query={"which": queue})


@router.post(
    "/tasks/{task}/adjudications/{decision}/undo", name="revoke_decision", dependencies=[Depends(people.load_actions)]
)
async def revoke(request: Request, db: Db, task: str, decision: RowId, person: Member) -> Response:
    """Take a decision back."""
    try:
        await db.awrite(adjudication.revoke_decision, person, task, decision)
    except (Conflict, Forbidden) as problem:
        return await _desk(request, person, task, status=problem.status, problem=problem.detail)
    return redirect(request, "adjudicate", task=task)


@router.get("/tasks/{task}/adjudications.csv", name="download_adjudications")
async def download(db: Db, task: str, person: Member) -> Response:
    """The decisions of experts as a file, newest first."""
    rows = await db.aread(adjudication.list_decisions, person, task, limit=10_000)
    lines = [
        [row.id, row.example_id, row.verdict, row.reason, row.by, row.at.isoformat(), row.revoked_at or ""]
        for row in rows
    ]
    return csv_response(f"{task}-adjudications.csv", COLUMNS, lines)
