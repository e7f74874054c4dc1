"""Pages of reports on data: a form and one's own reports, a report while it is measured and after, its files."""

from dataclasses import dataclass
from typing import Annotated, Any
from uuid import UUID

from anyio import to_thread
from fastapi import APIRouter, Depends, Query, Request
from fastapi import Path as PathParameter
from sqlalchemy.orm import Session
from starlette.datastructures import FormData, UploadFile
from starlette.responses import Response

from dynabench.insight.data_measurements import formatting
from dynabench.insight.data_reports import exports, service, subjects, views
from dynabench.insight.data_reports.api import SELDOM
from dynabench.insight.data_reports.files import FORMATS
from dynabench.insight.data_reports.measures import COMPARED, MEASURES
from dynabench.insight.data_reports.report import DataReport, ReportOptions, parse_pairs
from dynabench.insight.data_reports.sources import ChosenColumns
from dynabench.kit import errors
from dynabench.kit.api import AppSettings, Db, attachment, csv_response
from dynabench.kit.forms import redirect
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.people.accounts.auth import Member
from dynabench.people.accounts.tables import Person
from dynabench.rounds import uploaded_files
from dynabench.web import render

router = APIRouter(include_in_schema=False)
Name = Annotated[str, PathParameter(pattern=r"^[A-Za-z0-9_. -]{1,120}$")]
FIELDS = ("dataset", "other_dataset", "texts", "label", "group", "terms")
LONGEST = 300
"""Characters of a field of the form."""


ROWS_OF_PAGE = 50


@dataclass(frozen=True)
class RowChoice:
    """The rows of the map that a page shows."""

    cluster: Annotated[int | None, Query(ge=0, le=10_000)] = None
    area: Annotated[int | None, Query(ge=0, le=views.ACROSS * views.DOWN)] = None
    row: Annotated[int | None, Query(ge=1, le=2**53)] = None
    page: Annotated[int, Query(ge=1, le=1_000)] = 1


async def _form_page(request: Request, person: Person, status: int = 200, **values: Any) -> Response:
    state = request.app.state
    own = await state.db.aread(service.list_reports, person)
    reports = await to_thread.run_sync(lambda: [service.report_progress(state.settings, job) for job in own])
    defaults: dict[str, Any] = {"errors": {}, "typed": {}, "reports": reports}
    return render(request, "data_reports/list.html", status=status, **(defaults | values))


@router.get("/data-reports", name="data_reports")
async def show_reports(request: Request, person: Member, dataset: str = "") -> Response:
    """Show a form for data to measure, and the person's reports."""
    return await _form_page(request, person, typed={"dataset": dataset[:LONGEST]})


@router.post("/data-reports", name="send_data_report", dependencies=SELDOM)
async def send_report(request: Request, settings: AppSettings, db: Db, person: Member) -> Response:
    """Store the files, read their first rows, and have the worker measure them."""
    async with request.form(max_files=2, max_fields=12) as form:
        typed = {name: str(form.get(name, ""))[:LONGEST].strip() for name in FIELDS}
        paths: list[str] = []
        try:
            options = _options(typed)
            first = await _subject(settings, db, person, form, "file", paths)
            if first is None:
                raise errors.Invalid({"file": _("Choose a file, or name a dataset.")})
            second = await _subject(settings, db, person, form, "other_file", paths)
            await _check(settings, first, options.columns, "")
            if second is not None:
                await _check(settings, second, ChosenColumns(), "other_")
        except errors.Problem as problem:
            service.remove_files(paths)
            fields = problem.fields if isinstance(problem, errors.Invalid) else {"dataset": problem.detail}
            return await _form_page(request, person, 422, errors=_named(fields), typed=typed)
    job = await db.awrite(service.request_report, person, first, options, second)
    return redirect(request, "data_report", id=job.id)


async def _check(settings: Settings, subject: subjects.Subject, chosen: ChosenColumns, prefix: str) -> None:
    """Read the first rows; what is wrong with the data is told beside the field that named them."""
    field = f"{prefix}{'file' if 'file' in subject else 'dataset'}"
    try:
        await to_thread.run_sync(service.check_data, settings, subject, chosen)
    except errors.Invalid as problem:
        own = () if prefix else FIELDS[2:]  # the columns of other data are guessed
        fields = {name if name in own else field: text for name, text in problem.fields.items()}
        raise errors.Invalid(fields) from None
    except (errors.TooLarge, errors.NotFound) as problem:
        raise errors.Invalid({field: problem.detail}) from None


def _options(typed: dict[str, str]) -> ReportOptions:
    texts = tuple(name.strip() for name in typed["texts"].split(",") if name.strip())
    return ReportOptions(ChosenColumns(texts, typed["label"], "", typed["group"]), parse_pairs(typed["terms"]))


def _named(fields: dict[str, str]) -> dict[str, str]:
    """Problems under the fields of the form; those of others go to the file."""
    known_fields = (*FIELDS, "file", "other_file")
    return {name if name in known_fields else "file": message for name, message in fields.items()}


async def _subject(
    settings: Settings, db: Db, person: Person, form: FormData, field: str, paths: list[str]
) -> subjects.Subject | None:
    file = form.get(field)
    if isinstance(file, UploadFile) and file.filename:
        try:
            path = await service.store_file(settings, person, file.filename, uploaded_files.read_pieces(file))
        except errors.Invalid as problem:
            raise errors.Invalid({field: "; ".join(problem.fields.values())}) from None
        paths.append(str(path))
        return subjects.file_subject(path, file.filename.replace("\\", "/").rpartition("/")[2])
    field = field.replace("file", "dataset")
    named = str(form.get(field, ""))[:LONGEST].strip()
    if not named:
        return None
    named = named if ":" in named else f"dataset:{named}"
    return await db.aread(subjects.find_subject, settings, person, named, field)


@router.get("/data-reports/{id}", name="data_report")
async def show_report(request: Request, settings: AppSettings, db: Db, id: UUID, person: Member) -> Response:
    """Show a report, or how far it is."""
    job = await db.aread(service.report_job, person, id)
    requested = await to_thread.run_sync(service.report_progress, settings, job)
    report = await to_thread.run_sync(service.finished_report, settings, job)
    values: dict[str, Any] = {"requested": requested, "report": report, "lost": service.LOST}
    if report is not None:
        values |= report_values(report)
    return render(request, "data_reports/report.html", fragment="data_reports/_report.html", **values)


def report_values(report: DataReport) -> dict[str, Any]:
    """Return the values that a page needs to show a report."""
    themes = report.results.get("themes")
    return {
        "sections": list(exports.sections(report)),
        "formatting": formatting,
        "chart": views.table_chart,
        "header": formatting.table_header,
        "lines": formatting.table_lines,
        "tree": views.cluster_tree(themes) if themes else [],
        "points": (points := views.map_points(themes) if themes else []),
        "areas": views.map_areas(points),
        "hidden_tables": views.DRAWN,
        "formats": FORMATS,
    }


@router.get("/data-reports/{id}/rows", name="data_report_rows")
async def show_rows(
    request: Request,
    settings: AppSettings,
    db: Db,
    id: UUID,
    person: Member,
    chosen: Annotated[RowChoice, Depends()],
) -> Response:
    """Show rows of the map whole: a row with those like it, those of a cluster or of a part of the map, or all."""
    job = await db.aread(service.report_job, person, id)
    report = await to_thread.run_sync(service.require_report, settings, job)
    themes = report.results.get("themes")
    rows = views.mapped_rows(themes, chosen.cluster, chosen.area, chosen.row) if themes else []
    if not rows:
        raise errors.NotFound(service.GONE)
    nodes = {node.number: node for node in views.all_clusters(views.cluster_tree(themes))} if themes else {}
    first = ROWS_OF_PAGE * (chosen.page - 1)
    values = {
        "requested": await to_thread.run_sync(service.report_progress, settings, job),
        "chosen": chosen,
        "rows": rows[first : first + ROWS_OF_PAGE],
        "total": len(rows),
        "pages": -(-len(rows) // ROWS_OF_PAGE),
        "clusters": nodes,
        "subject": job.payload["first"],
    }
    return render(request, "data_reports/rows.html", **values)


@router.post("/data-reports/{id}/delete", name="delete_data_report")
async def delete_report(request: Request, db: Db, id: UUID, person: Member) -> Response:
    """Take a report of one's own off the list."""

    def forget(session: Session) -> list[str]:
        return service.delete_report(session, person, id)

    service.remove_files(await db.awrite(forget))
    return redirect(request, "data_reports")


@router.get("/data-reports/{id}/report.{form}", name="data_report_file")
async def download_report(settings: AppSettings, db: Db, id: UUID, form: str, person: Member) -> Response:
    """Send a report as HTML, PDF, Markdown for a card, or JSON."""
    if form not in FORMATS:
        raise errors.NotFound(service.GONE)
    report = await _finished(settings, db, id, person)
    content = await to_thread.run_sync(FORMATS[form].render, report)
    return Response(content, media_type=FORMATS[form].media_type, headers=attachment(f"data-report.{form}"))


@router.get("/data-reports/{id}/{measure}/{table}.csv", name="data_report_table")
async def download_table(
    settings: AppSettings, db: Db, id: UUID, measure: Name, table: Name, person: Member
) -> Response:
    """Send one table of a report, `figures` for a measure's figures, as a sheet."""
    report = await _finished(settings, db, id, person)
    result = report.result(measure) if measure in {**MEASURES, **COMPARED} else None
    if result is None:
        raise errors.NotFound(service.GONE)
    if table == "figures":
        lines = [[item.name, item.label, item.value, item.low, item.high, item.n] for item in result.figures]
        return csv_response(f"{measure}-figures.csv", ["name", "label", "value", "low", "high", "n"], lines)
    match = next((item for item in result.tables if item.name == table), None)
    if match is None:
        raise errors.NotFound(service.GONE)
    return csv_response(f"{measure}-table.csv", [item.name for item in match.columns], match.rows)


async def _finished(settings: Settings, db: Db, id: UUID, person: Person) -> DataReport:
    job = await db.aread(service.report_job, person, id)
    return await to_thread.run_sync(service.require_report, settings, job)
