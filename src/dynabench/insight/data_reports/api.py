"""The JSON API of data reports: files, requests, states, results."""

from typing import Annotated
from uuid import UUID

from anyio import to_thread
from fastapi import APIRouter, Depends, Query, Request
from sqlalchemy.orm import Session
from starlette.responses import Response

from dynabench.insight.data_reports import service, subjects
from dynabench.insight.data_reports.files import FORMATS
from dynabench.insight.data_reports.report import ReportOptions, check_pairs
from dynabench.insight.data_reports.schemas import (
    DataReportIn,
    DataReportOut,
    DataReportPage,
    DataReportResultOut,
    MeasuredFileOut,
)
from dynabench.insight.data_reports.sources import ChosenColumns
from dynabench.kit import errors, jobs
from dynabench.kit.api import AppSettings, Db, Limit, TextAfter, download, file_route
from dynabench.kit.settings import Settings
from dynabench.people.accounts.auth import Member, limited, scope
from dynabench.people.accounts.tables import Person
from dynabench.rounds.owner_api import BINARY_BODY

router = APIRouter(prefix="/api/v1/data-reports", tags=["data reports"], dependencies=[Depends(scope("annotate"))])
SELDOM = [Depends(limited("data_report", 20, 3600))]
FileName = Annotated[str, Query(min_length=1, max_length=200, description="Its ending tells the kind of file.")]
FILE = file_route("The report as a file", *(form.media_type for form in FORMATS.values()))


@router.post(
    "/files", status_code=201, openapi_extra=BINARY_BODY, dependencies=[Depends(limited("measured_file", 40, 3600))]
)
async def upload_file(request: Request, settings: AppSettings, person: Member, name: FileName) -> MeasuredFileOut:
    """Upload rows as the body: CSV, TSV, JSON, JSON lines or Parquet, or a zip of these.

    The file is for reports of yours alone; it is deleted once they are measured, or after a day.
    """
    path = await service.store_file(settings, person, name, request.stream())
    id, _dashes, plain = path.name.partition("--")
    return MeasuredFileOut(data=f"file:{id}", name=plain)


@router.post("", status_code=202, dependencies=SELDOM)
async def request_report(db: Db, settings: AppSettings, person: Member, body: DataReportIn) -> DataReportOut:
    """Have data measured, and compared with other data. 422 names what cannot be read.

    The same request about the same file, sent again, is the same report.
    """
    options = ReportOptions(
        ChosenColumns(tuple(body.texts), body.label, body.split, body.group), check_pairs(body.pairs), body.seed
    )
    first = await _checked(db, settings, person, body.data, "data", options.columns)
    second = await _checked(db, settings, person, body.compare, "compare", ChosenColumns()) if body.compare else None
    job = await db.awrite(service.request_report, person, first, options, second)
    return await _progress_of(settings, job)


async def _checked(
    db: Db, settings: Settings, person: Person, named: str, field: str, chosen: ChosenColumns
) -> subjects.Subject:
    subject = await db.aread(subjects.find_subject, settings, person, named, field)
    try:
        await to_thread.run_sync(service.check_data, settings, subject, chosen)
    except errors.Invalid as problem:
        fields = {field if name in ("file", "dataset") else name: text for name, text in problem.fields.items()}
        raise errors.Invalid(fields) from None
    return subject


async def _progress_of(settings: Settings, job: jobs.Job) -> DataReportOut:
    return DataReportOut.model_validate(await to_thread.run_sync(service.report_progress, settings, job))


@router.get("")
async def list_reports(
    db: Db, settings: AppSettings, person: Member, after: TextAfter = "", limit: Limit = 20
) -> DataReportPage:
    """List your reports, newest first."""
    own = await db.aread(service.list_reports, person, after, limit + 1)
    reports = await to_thread.run_sync(lambda: [service.report_progress(settings, job) for job in own])
    return DataReportPage.cut(reports, limit)


@router.get("/{id}")
async def read_report(db: Db, settings: AppSettings, id: UUID, person: Member) -> DataReportOut:
    """Return how far a report is."""
    return await _progress_of(settings, await db.aread(service.report_job, person, id))


@router.get("/{id}/result")
async def read_result(db: Db, settings: AppSettings, id: UUID, person: Member) -> DataReportResultOut:
    """Return a finished report. 409 before it is done, and where the data could not be measured."""
    job = await db.aread(service.report_job, person, id)
    report = await to_thread.run_sync(service.require_report, settings, job)
    return DataReportResultOut.model_validate(report.document())


@router.get("/{id}/files/{form}", **FILE)
async def download_report(db: Db, settings: AppSettings, id: UUID, form: str, person: Member) -> Response:
    """Download a finished report as `html`, `pdf`, `md` (for the card of the data) or `json`."""
    if form not in FORMATS:
        raise errors.NotFound(service.GONE)
    job = await db.aread(service.report_job, person, id)
    report = await to_thread.run_sync(service.require_report, settings, job)
    content = await to_thread.run_sync(FORMATS[form].render, report)
    return download(content, FORMATS[form].media_type, f"data-report.{form}")


@router.delete("/{id}", status_code=204)
async def delete_report(db: Db, id: UUID, person: Member) -> None:
    """Take a report of yours off the list; one that waits is not measured."""

    def forget(session: Session) -> list[str]:
        return service.delete_report(session, person, id)

    service.remove_files(await db.awrite(forget))
