"""Results that others report, as JSON and as a sheet; nothing of it was measured here, and none of it is ranked."""

from dataclasses import asdict
from typing import Literal

import orjson
from fastapi import APIRouter, Depends
from sqlalchemy.orm import Session
from starlette.responses import Response

from dynabench.benchmark.leaderboards import files, reports, schemas
from dynabench.benchmark.leaderboards.board_api import download, file_route
from dynabench.benchmark.leaderboards.tables import Report
from dynabench.benchmark.reading import read_board
from dynabench.kit.api import Db
from dynabench.kit.csv_tables import as_csv
from dynabench.kit.language import _
from dynabench.kit.security import RowId
from dynabench.people.accounts import auth
from dynabench.people.accounts.auth import Member, Viewer

router = APIRouter(dependencies=[Depends(auth.scope("manage"))])


def report_out(report: Report) -> schemas.ReportOut:
    """An import."""
    return schemas.ReportOut(
        id=report.id,
        form=report.form,
        source=report.source,
        results=len(report.document["results"]),
        left_out=report.left_out,
        why=report.document["left_out"],
        digest=report.digest,
        made_at=report.made_at,
        removed_at=report.removed_at,
    )


def result_out(line: reports.ReportedLine) -> schemas.ResultOut:
    """One number."""
    fields = asdict(line.result) | {"number": line.result.number}
    return schemas.ResultOut(
        **fields, report=line.report, origin=line.origin or line.page, on=line.on, measure=line.measure
    )


@router.get("/tasks/{task}/reported", **file_route(_("The results."), "application/json", files.FORMATS["csv"]))
async def read_reported(db: Db, task: str, viewer: Viewer, format: Literal["json", "csv"] = "json") -> Response:
    """Return the results that others report of this task's models, at most 2,000; `format=csv` for a sheet."""

    def read(session: Session) -> schemas.ReportedOut:
        results = [result_out(entry) for entry in reports.reported_lines(session, read_board(session, viewer, task))]
        return schemas.ReportedOut(
            items=results, reports=[report_out(entry) for entry in reports.reports_of_task(session, task)]
        )

    reported: schemas.ReportedOut = await db.aread(read)
    if format == "json":
        return Response(reported.model_dump_json(), media_type="application/json")
    rows = [["" if cell is None else cell for cell in result.model_dump().values()] for result in reported.items]
    sheet = as_csv(list(schemas.ResultOut.model_fields), rows)
    return download(sheet, files.FORMATS["csv"], f"{task}-reported.csv")


@router.post("/tasks/{task}/reported", status_code=201)
async def import_reported(db: Db, task: str, report_in: schemas.ReportIn, person: Member) -> schemas.ReportOut:
    """Import results that others report (owners), in the form of Papers with Code or of a model card."""
    content = report_in.document.encode("utf-8", "replace") if isinstance(report_in.document, str) else None

    def write(session: Session) -> schemas.ReportOut:
        body = orjson.dumps(report_in.document) if content is None else content
        return report_out(reports.add_report(session, person, task, body, report_in.source))

    return await db.awrite(write)


@router.patch("/tasks/{task}/reported/{id}")
async def change_reported(
    db: Db, task: str, id: RowId, body: schemas.ReportChange, person: Member
) -> schemas.ReportOut:
    """Take an import back, or undo that (owners)."""

    def write(session: Session) -> schemas.ReportOut:
        return report_out(reports.remove_report(session, person, task, id, body.removed))

    return await db.awrite(write)
