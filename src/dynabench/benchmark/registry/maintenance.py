"""The worker's periodic tasks: checks whose job was given up, and uploaded files that are not needed any more.

Below `uploads/` lie waiting files, in folders of a task or a person, and at its top those that jobs and
submissions took. A process that dies between taking a file and writing the row that names it, or a job that
ends unexpectedly, leaves a file there that would never be deleted.
"""

import shutil
from collections.abc import Callable, Iterable, Iterator, Set
from pathlib import Path

from sqlalchemy.orm import Session

from dynabench.benchmark.registry import submission_files, submission_queries
from dynabench.benchmark.registry.tables import Submission, SubmissionState
from dynabench.kit import jobs
from dynabench.kit.db import Database
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.people.notices import service as notices
from dynabench.rounds import waiting

LOST = _("The check was begun many times and never ended. Try it again; the operator's log has more.")


def tidy(database: Database, settings: Settings) -> None:
    """End checks that no job works on any more; throw away what waited for more than a day."""
    going = dict(database.read(_open_checks))
    for job in jobs.given_up(database, settings, list(going)):
        database.write(_lost, going[job], job)
        for leftover in (settings.folder / "checks").glob(f"{going[job]}-*"):
            shutil.rmtree(leftover, ignore_errors=True)
    uploads = settings.folder / "uploads"
    for place in (*uploads.glob("*/"), *uploads.glob("*/*/")):
        if place.is_dir() and not place.name.startswith(waiting.UNPACKED):
            waiting.sweep(place)
    _clear(uploads, lambda old: _needed(database, settings, old))
    _clear(settings.folder / "tokens", lambda _: database.read(_tokens))


def _clear(place: Path, needed: Callable[[Set[str]], Iterable[str]]) -> None:
    """Throw away what has lain in a folder for more than a day, but for what of these names is `needed`."""
    old = {path.name: path for path in waiting.old(place)} if place.is_dir() else {}
    if old:
        for name in old.keys() - set(needed(old.keys())):
            waiting.remove(old[name])


def _open_checks(session: Session) -> list[tuple[str, int]]:
    return [(job, id) for job, id in session.execute(submission_queries.open_checks()) if job]


def _lost(session: Session, id: int, job: str) -> None:
    submission = session.get_one(Submission, id, with_for_update=True)
    if submission.job_id != job or submission.state not in submission_queries.GOING:
        return
    submission.state, submission.code, submission.reason = SubmissionState.FAILED, "crashed", LOST
    if submission.person_id:
        text = f"{submission.name} did not pass its check: {LOST}"
        notices.notify_person(session, submission.person_id, "submission", text, link=f"/submissions/{submission.id}")


def _needed(database: Database, settings: Settings, old: Set[str]) -> Iterator[str]:
    """Those of the names that open checks of submissions or unfinished jobs still need."""
    for source in database.read(_sources):
        yield from submission_files.file_names(source)
    reading = {job: names & old for job, names in database.read(_reading).items() if names & old}
    lost = set(jobs.given_up(database, settings, list(reading)))
    for job in reading.keys() - lost:
        yield from reading[job]


def _sources(session: Session) -> list[dict[str, object]]:
    return list(session.scalars(submission_queries.needed_sources()))


def _tokens(session: Session) -> list[str]:
    return [str(source.get("token", "")) for source in session.scalars(submission_queries.endpoints_in_use())]


def _reading(session: Session) -> dict[str, set[str]]:
    read_rows = session.execute(submission_queries.read_submissions())
    return {job: {Path(payload.get("file", "")).name, f".hub-{job}"} for job, payload in read_rows}
