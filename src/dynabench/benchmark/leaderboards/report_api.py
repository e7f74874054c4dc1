"""Results that others report, as JSON and as a sheet; nothing of it was measured here, and none of it is ranked."""

from dataclasses import asdict
from typing import Literal

import orjson
from fastapi import APIRouter, Depends, Request
from sqlalchemy.orm import Session
from starlette.responses import Response

from dynabench.benchmark.leaderboards import files, reports, schemas
from dynabench.benchmark.leaderboards.board_api import download, file_route
from dynabench.benchmark.leaderboards.tables import Report
from dynabench.benchmark.reading import read_board
from dynabench.kit.csv_tables import as_csv
from dynabench.kit.language import _
from dynabench.kit.security import RowId
from dynabench.people.accounts import auth
from dynabench.people.accounts.auth import Member, Viewer

router = APIRouter(dependencies=[Depends(auth.scope("manage"))])


def report_out(of: Report) -> schemas.ReportOut:
    """An import."""
    return schemas.ReportOut(
        id=of.id, form=of.form, source=of.source, results=len(of.document["results"]), left_out=of.left_out,
        why=of.document["left_out"], digest=of.digest, made_at=of.made_at, removed_at=of.removed_at,
    )  # fmt: skip


def result_out(of: reports.ReportedLine) -> schemas.ResultOut:
    """One number."""
    told = asdict(of.result) | {"number": of.result.number}
    return schemas.ResultOut(**told, report=of.report, origin=of.origin or of.page, on=of.on, measure=of.measure)


@router.get("/tasks/{task}/reported", **file_route(_("The results."), "application/json", files.FORMATS["csv"]))
async def read_reported(
    request: Request, task: str, viewer: Viewer, format: Literal["json", "csv"] = "json"
) -> Response:
    """Return the results that others report of this task's models, at most 2,000; `format=csv` for a sheet."""

    def read(session: Session) -> schemas.ReportedOut:
        told = [result_out(each) for each in reports.reported_lines(session, read_board(session, viewer, task))]
        return schemas.ReportedOut(
            items=told, reports=[report_out(each) for each in reports.reports_of_task(session, task)]
        )

    found: schemas.ReportedOut = await request.app.state.db.aread(read)
    if format == "json":
        return Response(found.model_dump_json(), media_type="application/json")
    rows = [["" if cell is None else cell for cell in each.model_dump().values()] for each in found.items]
    sheet = as_csv(list(schemas.ResultOut.model_fields), rows)
    return download(sheet, files.FORMATS["csv"], f"{task}-reported.csv")


@router.post("/tasks/{task}/reported", status_code=201)
async def import_reported(request: Request, task: str, given: schemas.ReportIn, person: Member) -> schemas.ReportOut:
    """Import results that others report (owners), in the form of Papers with Code or of a model card."""
    content = given.document.encode("utf-8", "replace") if isinstance(given.document, str) else None

    def write(session: Session) -> schemas.ReportOut:
        body = orjson.dumps(given.document) if content is None else content
        return report_out(reports.add_report(session, person, task, body, given.source))

    found: schemas.ReportOut = await request.app.state.db.awrite(write)
    return found


@router.patch("/tasks/{task}/reported/{id}")
async def change_reported(
    request: Request, task: str, id: RowId, given: schemas.ReportChange, person: Member
) -> schemas.ReportOut:
    """Take an import back, or undo that (owners)."""

    def write(session: Session) -> schemas.ReportOut:
        return report_out(reports.remove_report(session, person, task, id, given.removed))

    found: schemas.ReportOut = await request.app.state.db.awrite(write)
    return found
