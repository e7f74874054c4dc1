"""What a worker sees to from time to time: checks whose job was given up, and files that nothing needs any more.

Below `uploads/` lie files that wait, in folders of a task or a person, and at its top those that jobs and submissions
took. A process that dies between taking a file and writing the row that names it, or a job that ends outside of what it
guards against, leaves one there that nobody would delete.
"""

import shutil
from collections.abc import Callable, Iterable, Iterator, Set
from pathlib import Path

from sqlalchemy.orm import Session

from dynabench import jobs
from dynabench.db import Database
from dynabench.language import _
from dynabench.notices import service as notices
from dynabench.registry import submission_files, submission_queries
from dynabench.registry.tables import Submission, SubmissionState
from dynabench.rounds import waiting
from dynabench.settings import Settings

LOST = _("The check was begun many times and never ended. Try it again; the operator's log has more.")


def tidy(database: Database, settings: Settings) -> None:
    """End checks that no job works on any more; throw away what waited for more than a day."""
    going = dict(database.read(_going))
    for job in jobs.given_up(database, settings, list(going)):
        database.write(_lost, going[job], job)
        for left in (settings.folder / "checks").glob(f"{going[job]}-*"):
            shutil.rmtree(left, ignore_errors=True)
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


def _going(session: Session) -> list[tuple[str, int]]:
    return [(job, id) for job, id in session.execute(submission_queries.going()) if job]


def _lost(session: Session, id: int, job: str) -> None:
    made = session.get_one(Submission, id, with_for_update=True)
    if made.job_id != job or made.state not in submission_queries.GOING:
        return
    made.state, made.code, made.reason = SubmissionState.FAILED, "crashed", LOST
    if made.person_id:
        text = f"{made.name} did not pass its check: {LOST}"
        notices.tell(session, made.person_id, "submission", text, link=f"/submissions/{made.id}")


def _needed(database: Database, settings: Settings, old: Set[str]) -> Iterator[str]:
    """Which of these names are of what submissions are checked by, or of what jobs read that will still end."""
    for source in database.read(_sources):
        yield from submission_files.names(source)
    reading = {job: names & old for job, names in database.read(_reading).items() if names & old}
    lost = set(jobs.given_up(database, settings, list(reading)))
    for job in reading.keys() - lost:
        yield from reading[job]


def _sources(session: Session) -> list[dict[str, object]]:
    return list(session.scalars(submission_queries.sources()))


def _tokens(session: Session) -> list[str]:
    return [str(source.get("token", "")) for source in session.scalars(submission_queries.endpoints())]


def _reading(session: Session) -> dict[str, set[str]]:
    found = session.execute(submission_queries.reading())
    return {job: {Path(payload.get("file", "")).name, f".hub-{job}"} for job, payload in found}
