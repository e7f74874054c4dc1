"""Requested reports: jobs of the people who asked for them, about files of their own and datasets that all may read."""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from dynabench.datasets import library
from dynabench.insight.data_reports import stored_reports
from dynabench.insight.data_reports.report import DataReport, ReportOptions
from dynabench.insight.data_reports.sources import DataSource, dataset_source, file_source
from dynabench.kit import errors, jobs
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.kit.storable import printable
from dynabench.people import may
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.rounds import uploaded_files

KIND = "measure_data"
MOST_LISTED = 20
UPLOADS = ".measured"
"""Folder of files that wait to be measured, below that of uploads; no task is called so."""
GONE = _("There is no such report.")
Subject = dict[str, Any]


def uploads_folder(settings: Settings) -> Path:
    """Return the folder of files that wait to be measured."""
    return uploaded_files.uploads_folder(settings, UPLOADS)


def file_subject(path: Path, name: str) -> Subject:
    """Return an uploaded file as a job names it."""
    return {"file": str(path), "name": printable(name)[-100:]}


def dataset_subject(session: Session, viewer: Person | None, named: str) -> Subject:
    """Return a dataset, named TASK/NAME, as a job names it.

    Raises `NotFound` and `Forbidden` unless the viewer may have all of its rows, owners of hidden ones included.
    """
    task, _slash, name = named.strip().partition("/")
    version = library.readable_version(session, viewer, task, name)
    return {"task": task, "dataset": name, "digest": version.digest, "rows": version.rows, "name": f"{task}/{name}"}


def open_subject(settings: Settings, subject: Mapping[str, Any]) -> DataSource:
    """Return the data that a job names."""
    if "file" in subject:
        return file_source(Path(subject["file"]), subject["name"])
    return dataset_source(settings, subject["name"], subject["digest"], subject["rows"])


def request_report(
    session: Session, person: Person, first: Subject, options: ReportOptions, second: Subject | None = None
) -> jobs.Job:
    """Enqueue a report of a person on data, compared with other data where there are any."""
    payload = {"first": first, "second": second, "options": options.document()}
    return jobs.enqueue(session, KIND, payload, person.id)


def report_job(session: Session, person: Person, id: UUID) -> jobs.Job:
    """Return the job of a report of one's own.

    Raises `NotFound` for reports of others, and as `dataset_subject` where a dataset is no longer readable by all.
    """
    job = session.get(jobs.Job, str(id))
    mine = job is not None and job.kind == KIND and may.may(person, Action.SEE_DATA_REPORT, author=job.person_id)
    if job is None or not mine or (job.done or {}).get("deleted"):
        raise errors.NotFound(GONE)
    for subject in filter(None, (job.payload["first"], job.payload["second"])):
        if "dataset" in subject:
            library.readable_version(session, person, subject["task"], subject["dataset"])
    return job


def list_reports(session: Session, person: Person) -> list[jobs.Job]:
    """Return a person's newest reports."""
    statement = select(jobs.Job).where(jobs.Job.kind == KIND, jobs.Job.person_id == person.id)
    newest = session.scalars(statement.order_by(jobs.Job.created_at.desc()).limit(MOST_LISTED))
    return [job for job in newest if not (job.done or {}).get("deleted")]


def finished_report(settings: Settings, job: jobs.Job) -> DataReport | None:
    """Return what a job has measured; None while it has not."""
    key = (job.done or {}).get("key")
    return stored_reports.find_report(settings, key) if key else None


def job_problem(job: jobs.Job) -> str:
    """Return the reason why the data of a job could not be measured; empty where there is none."""
    return str((job.done or {}).get("problem", ""))


def finish_job(session: Session, job_id: str, result: Mapping[str, Any]) -> None:
    """Note the key of a job's report, or the problem; a job that was deleted meanwhile stays so."""
    job = session.get_one(jobs.Job, job_id, with_for_update=True)
    if not (job.done or {}).get("deleted"):
        job.done = dict(result)


def delete_report(session: Session, person: Person, id: UUID) -> list[str]:
    """Take a report of one's own off the list; return the paths of its files that still wait."""
    job = report_job(session, person, id)
    job.done = {"deleted": True}
    return [
        subject["file"] for subject in (job.payload["first"], job.payload["second"]) if subject and "file" in subject
    ]


def remove_files(paths: list[str]) -> None:
    """Delete uploaded files, once their job has no use for them."""
    for path in paths:
        with suppress(OSError):
            Path(path).unlink()
