"""The worker's periodic tasks: submissions, evaluations and releases whose job was given up, and files not needed.

Below `uploads/` lie waiting files, in folders of a task or a person, and at its top those that jobs and submissions
took. A process that dies between taking a file and writing the row that names it, or a job that ends unexpectedly,
leaves a file there that would never be deleted.
"""

import shutil
from collections.abc import Callable, Iterable, Iterator, Set
from datetime import timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from dynabench.benchmark.evaluations import queries as evaluation_queries
from dynabench.benchmark.evaluations import service
from dynabench.benchmark.evaluations import service as evaluations
from dynabench.benchmark.evaluations.tables import Evaluation, EvaluationState
from dynabench.benchmark.registry import queries, submission_sources
from dynabench.benchmark.registry.tables import Submission, SubmissionState
from dynabench.benchmark.releases import service as releases
from dynabench.benchmark.releases.tables import Release, ReleaseState
from dynabench.kit import jobs
from dynabench.kit.db import Database, now
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.people.notices import service as notices
from dynabench.rounds import uploaded_files

LOST_CHECK = _("The check was started many times and never finished. Try again; the operator's log has details.")
LOST_RELEASE = _(
    "The job was started many times and never finished. Release the round again; the operator's log has details."
)
MAX_SPENDING_ATTEMPTS = 60
"""Attempts after which an evaluation that its limit keeps from ending is left alone."""
TEMPORARY_CODES = ("crashed", "unreachable", "cluster", "failed")
"""Reasons for failures that pass by themselves, so that the evaluation is tried again."""
RETRY_DELAYS = tuple(timedelta(hours=hours) for hours in (1, 4, 16))
"""Before each further attempt after such a failure; then it is for a person to look."""


def tidy_submissions(database: Database, settings: Settings) -> None:
    """End checks that no job works on any more; delete what waited for more than a day."""
    for job, id in _abandoned(database, settings, queries.open_checks()):
        database.write(_end_check, id, job)
        for leftover in (settings.folder / "checks").glob(f"{id}-*"):
            shutil.rmtree(leftover, ignore_errors=True)
    uploads = settings.folder / "uploads"
    for place in (*uploads.glob("*/"), *uploads.glob("*/*/")):
        if place.is_dir() and not place.name.startswith(uploaded_files.UNPACKED):
            uploaded_files.sweep_folder(place)
    _clear(uploads, lambda old: _needed_files(database, settings, old))
    _clear(settings.folder / "tokens", lambda _old: database.read(_tokens))


def tidy_evaluations(database: Database, settings: Settings) -> None:
    """Run again what may succeed now, and end evaluations that no job works on any more."""
    database.write(_run_paid_evaluations)
    database.write(_run_failed_evaluations)
    open_jobs = select(Evaluation.job_id, Evaluation.id).where(Evaluation.state.in_(evaluation_queries.OPEN_STATES))
    for job, id in _abandoned(database, settings, open_jobs):
        database.write(_end_evaluation, id, job)


def tidy_releases(database: Database, settings: Settings) -> None:
    """Mark releases as failed that no job works on any more."""
    states = (ReleaseState.QUEUED, ReleaseState.WRITING)
    open_jobs = select(Release.job_id, Release.id).where(Release.state.in_(states))
    for _job, id in _abandoned(database, settings, open_jobs):
        database.write(releases.fail_release, id, LOST_RELEASE)


def _abandoned(database: Database, settings: Settings, open_jobs: Any) -> list[tuple[str, int]]:
    """Return those of the (job, id) pairs that `open_jobs` selects whose job was given up."""
    ids = {job: id for job, id in database.read(lambda session: session.execute(open_jobs).all()) if job}
    return [(job, ids[job]) for job in jobs.given_up(database, settings, list(ids))]


def _end_check(session: Session, id: int, job: str) -> None:
    submission = session.get_one(Submission, id, with_for_update=True)
    if submission.job_id != job or submission.state not in queries.GOING:
        return
    submission.state, submission.code, submission.reason = SubmissionState.FAILED, "crashed", LOST_CHECK
    if submission.person_id:
        text = f"{submission.name} did not pass its check: {LOST_CHECK}"
        notices.notify_person(session, submission.person_id, "submission", text, link=f"/submissions/{submission.id}")


def _end_evaluation(session: Session, id: int, job: str) -> None:
    evaluation = session.get_one(Evaluation, id, with_for_update=True)
    if evaluation.job_id == job and evaluation.state in evaluation_queries.OPEN_STATES:
        evaluation.state, evaluation.code, evaluation.ended_at = EvaluationState.FAILED, "crashed", now()
        evaluations.announce_end(session, evaluation)


def _run_paid_evaluations(session: Session) -> None:
    """Go on with what ended at a limit on spending of a day before (UTC); what was answered then is not paid twice."""
    today = now().replace(hour=0, minute=0, second=0, microsecond=0)
    for evaluation in session.scalars(evaluation_queries.failed_before(today, ("spending",), MAX_SPENDING_ATTEMPTS)):
        service.run_again(session, evaluation)


def _run_failed_evaluations(session: Session) -> None:
    """Try again what failed for a cause that passes, such as an endpoint that did not answer."""
    moment, attempts = now(), len(RETRY_DELAYS) + 1
    failed = evaluation_queries.failed_before(moment - RETRY_DELAYS[0], TEMPORARY_CODES, attempts)
    for evaluation in session.scalars(failed):
        if evaluation.ended_at is not None and evaluation.ended_at < moment - RETRY_DELAYS[evaluation.attempt - 1]:
            service.run_again(session, evaluation)


def _clear(place: Path, needed: Callable[[Set[str]], Iterable[str]]) -> None:
    """Delete what has lain in a folder for more than a day, except for the names that are `needed`."""
    old = {path.name: path for path in uploaded_files.expired_files(place)} if place.is_dir() else {}
    if old:
        for name in old.keys() - set(needed(old.keys())):
            uploaded_files.remove_path(old[name])


def _needed_files(database: Database, settings: Settings, old: Set[str]) -> Iterator[str]:
    """Yield those of the names that open checks of submissions or unfinished jobs still need."""
    for source in database.read(lambda session: list(session.scalars(queries.needed_sources()))):
        yield from submission_sources.file_names(source)
    submissions = database.read(lambda session: session.execute(queries.read_submissions()).all())
    files = {job: {Path(payload.get("file", "")).name, f".hub-{job}"} for job, payload in submissions}
    reading = {job: names & old for job, names in files.items() if names & old}
    for job in reading.keys() - set(jobs.given_up(database, settings, list(reading))):
        yield from reading[job]


def _tokens(session: Session) -> list[str]:
    return [str(source.get("token", "")) for source in session.scalars(queries.endpoints_in_use())]
