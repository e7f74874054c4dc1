"""Requested reports: jobs of the people who asked for them, about data that they may have."""

from collections.abc import AsyncIterable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any
from uuid import UUID

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from dynabench.insight.data_reports.report import DataReport, ReportOptions, find_report, report_path
from dynabench.insight.data_reports.sources import ChosenColumns, choose_columns
from dynabench.insight.data_reports.subjects import Subject, check_subject, open_subject, uploads_folder
from dynabench.intake import sources
from dynabench.kit import errors, jobs
from dynabench.kit.jobs import JobState
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.people import may
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.rounds import uploaded_files

KIND = "measure_data"
MOST_LISTED = 20
GONE = _("There is no such report.")
LOST = _("The stored report is gone or cannot be read. Measure the data again.")


@dataclass(frozen=True)
class RequestedReport:
    """A report that a person asked for: its job, how far it is, and why its data could not be measured."""

    job: jobs.Job
    state: JobState
    done: int
    steps: int
    problem: str

    @property
    def id(self) -> str:
        """The id of the job."""
        return self.job.id

    @property
    def name(self) -> str:
        """The name of the data."""
        return str(self.job.payload["first"]["name"])

    @property
    def compared_with(self) -> str | None:
        """The name of the other data, where there are any."""
        return self.job.payload["second"]["name"] if self.job.payload["second"] else None

    @property
    def created_at(self) -> datetime:
        """The moment of the request."""
        return self.job.created_at


async def store_file(settings: Settings, person: Person, name: str, parts: AsyncIterable[bytes]) -> Path:
    """Store an uploaded file in the folder of the person. Raises `Invalid` under `file` for another kind of file."""
    plain = Path(name.replace("\\", "/")).name[-100:]
    sources.kind_of_source(plain)
    return await uploaded_files.store_stream(uploads_folder(settings, person.id), plain, parts)


def check_data(settings: Settings, subject: Subject, chosen: ChosenColumns) -> None:
    """Read the first rows of data. Raises a problem for data and columns that cannot be read."""
    choose_columns(open_subject(settings, subject), chosen)


def request_report(
    session: Session, person: Person, first: Subject, options: ReportOptions, second: Subject | None = None
) -> jobs.Job:
    """Enqueue a report of a person on data, compared with other data where there are any.

    A request about a file that is repeated word for word is the same report.
    """
    payload = {"first": first, "second": second, "options": options.document()}
    if "file" in first:
        session.get_one(Person, person.id, with_for_update=True)  # one request of a person after the other
        for job in list_reports(session, person):
            if job.payload == payload and not job_problem(job):
                return job
    return jobs.enqueue(session, KIND, payload, person.id)


def report_job(session: Session, person: Person, id: UUID) -> jobs.Job:
    """Return the job of a report of one's own.

    Raises `NotFound` for reports of others, and another problem where the data are no longer readable by the person.
    """
    job = session.get(jobs.Job, str(id))
    mine = job is not None and job.kind == KIND and may.may(person, Action.SEE_DATA_REPORT, author=job.person_id)
    if job is None or not mine or _is_deleted(job):
        raise errors.NotFound(GONE)
    for subject in filter(None, (job.payload["first"], job.payload["second"])):
        check_subject(session, person, subject)
    return job


def list_reports(session: Session, person: Person, after: str = "", limit: int = MOST_LISTED) -> list[jobs.Job]:
    """Return a person's newest reports, or those asked for before the report with the id `after`."""
    statement = select(jobs.Job).where(jobs.Job.kind == KIND, jobs.Job.person_id == person.id)
    last = session.get(jobs.Job, after) if after else None
    if last is not None and last.person_id == person.id:
        same_moment = (jobs.Job.created_at == last.created_at) & (jobs.Job.id < last.id)
        statement = statement.where(or_(jobs.Job.created_at < last.created_at, same_moment))
    newest = session.scalars(statement.order_by(jobs.Job.created_at.desc(), jobs.Job.id.desc()))
    return list(islice((job for job in newest if not _is_deleted(job)), limit))


def _is_deleted(job: jobs.Job) -> bool:
    return bool((job.done or {}).get("deleted"))


def report_progress(settings: Settings, job: jobs.Job) -> RequestedReport:
    """Return how far a report is; asks the engine of jobs unless it has ended."""
    problem, key = job_problem(job), (job.done or {}).get("key")
    if key and not report_path(settings, key).is_file():
        problem = LOST
    if problem or key:
        return RequestedReport(job, JobState.FAILED if problem else JobState.DONE, 1, 1, problem)
    state = jobs.progress(settings, job)
    counted = state["progress"] or {"done": 0, "of": 0}
    return RequestedReport(job, JobState(state["state"]), counted["done"], counted["of"], state["error"] or "")


def finished_report(settings: Settings, job: jobs.Job) -> DataReport | None:
    """Return what a job has measured; None while it has not."""
    key = (job.done or {}).get("key")
    return find_report(settings, key) if key else None


def require_report(settings: Settings, job: jobs.Job) -> DataReport:
    """Return what a job has measured. Raises `Conflict` while it has not, or where its data cannot be read."""
    report = finished_report(settings, job)
    if report is None:
        ended = LOST if (job.done or {}).get("key") else job_problem(job)
        raise errors.Conflict(ended or _("This report is not finished yet."))
    return report


def job_problem(job: jobs.Job) -> str:
    """Return the reason why the data of a job could not be measured; empty where there is none."""
    return str((job.done or {}).get("problem", ""))


def finish_job(session: Session, job_id: str, result: Mapping[str, Any]) -> None:
    """Note the key of a job's report, or the problem; a job that was deleted meanwhile stays so."""
    job = session.get_one(jobs.Job, job_id, with_for_update=True)
    if not _is_deleted(job):
        job.done = dict(result)


def delete_report(session: Session, person: Person, id: UUID) -> list[str]:
    """Take a report of one's own off the list; return the paths of files that no report of the person waits for."""
    job = report_job(session, person, id)
    job.done = {"deleted": True}
    session.flush()
    return unused_files(session, job)


def unused_files(session: Session, job: jobs.Job) -> list[str]:
    """Return the uploaded files of a job that has ended, without those that another report still waits for."""
    statement = select(jobs.Job).where(
        jobs.Job.kind == KIND, jobs.Job.person_id == job.person_id, jobs.Job.id != job.id, jobs.Job.done.is_(None)
    )
    waiting = {path for other in session.scalars(statement) for path in _files_of(other)}
    return [path for path in _files_of(job) if path not in waiting]


def _files_of(job: jobs.Job) -> Iterable[str]:
    subjects = (job.payload["first"], job.payload["second"])
    return [subject["file"] for subject in subjects if subject and "file" in subject]


def remove_files(paths: Iterable[str]) -> None:
    """Delete uploaded files, once their job has no use for them."""
    for path in paths:
        with suppress(OSError):
            Path(path).unlink()
