"""Results that others report, as a page: the list, their order among measured ones where asked, the owner's form."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from sqlalchemy.orm import Session
from starlette.datastructures import UploadFile
from starlette.responses import RedirectResponse, Response

from dynabench.benchmark.leaderboards import reports
from dynabench.benchmark.leaderboards.board_pages import head_values
from dynabench.benchmark.reading import read_board
from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.kit.security import RowId
from dynabench.people import may
from dynabench.people.accounts.auth import Member, Viewer
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.rounds import service as rounds
from dynabench.web import render

router = APIRouter()
Pair = Annotated[str, Query(max_length=200, description="A dataset and a metric: `name/metric`.")]


async def _reported_page(
    request: Request, task: str, viewer: Person | None, beside: str = "", status: int = 200, **values: Any
) -> Response:
    def read(session: Session) -> dict[str, Any]:
        board = read_board(session, viewer, task)
        told = reports.reported_lines(session, board)
        titles = {each.name: each.title for each in board.datasets}
        measures = {each.name: each for each in board.metrics}
        pairs = dict.fromkeys((each.on, each.measure) for each in told if each.on and each.measure)
        choices = [(f"{on}/{name}", f"{titles[on]} · {measures[name].title}") for on, name in pairs]
        on, _, name = beside.partition("/")
        return head_values(session, task) | {
            "told": told,
            "imports": reports.reports_of_task(session, task),
            "owner": bool(may.may_in(session, viewer, Action.MANAGE_REPORTS, task)),
            "choices": choices,
            "order": reports.ordered_results(board, told, on, name) if beside else [],
            "measure": measures.get(name),
        }

    found = await request.app.state.db.aread(read)
    shown = {"beside": beside, "errors": {}, "given": {}} | values
    return render(request, "leaderboards/reported.html", status=status, **found, **shown)


@router.get("/tasks/{task}/reported", name="reported")
async def reported_page(request: Request, task: str, viewer: Viewer, beside: Pair = "") -> Response:
    """The list; `beside` puts the results on one dataset in one metric in order with the measured ones."""
    return await _reported_page(request, task, viewer, beside)


@router.post("/tasks/{task}/reported", name="import_reported_form")
async def import_report(request: Request, task: str, person: Member) -> Response:
    """Import a file (owners)."""
    await request.app.state.db.aread(rounds.require, person, Action.MANAGE_REPORTS, task)
    async with request.form(max_files=1, max_fields=10) as form:
        file, source = form.get("file"), str(form.get("source", ""))[:520]
        content = await file.read(reports.MAX_BYTES + 1) if isinstance(file, UploadFile) else b""
    try:
        if not content:
            raise errors.Invalid({"file": _("Choose a file first.")})
        await request.app.state.db.awrite(reports.add_report, person, task, content, source)
    except (errors.Invalid, errors.TooLarge, errors.Conflict) as problem:
        wrong = problem.fields if isinstance(problem, errors.Invalid) else {"file": problem.detail}
        return await _reported_page(
            request, task, person, status=problem.status, errors=wrong, given={"source": source}
        )
    return RedirectResponse(str(request.app.url_path_for("reported", task=task)), status_code=303)


@router.post("/tasks/{task}/reported/{id}", name="change_reported_form")
async def change_report(request: Request, task: str, id: RowId, person: Member) -> Response:
    """Take an import back (`removed` = 1), or undo that (owners)."""
    gone = (await request.form()).get("removed") == "1"
    await request.app.state.db.awrite(reports.remove_report, person, task, id, gone)
    return RedirectResponse(str(request.app.url_path_for("reported", task=task)), status_code=303)
