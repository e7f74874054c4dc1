"""What a worker sees to from time to time: checks whose job was given up, and files that nobody came back to."""

import shutil
import time
from pathlib import Path

from sqlalchemy.orm import Session

from dynabench import jobs
from dynabench.db import Database
from dynabench.notices import service as notices
from dynabench.registry import submission_files, submission_queries
from dynabench.registry.tables import Submission
from dynabench.rounds import waiting
from dynabench.settings import Settings

LOST = "The check was begun many times and never ended. Try it again; the operator's log has more."


def tidy(database: Database, settings: Settings) -> None:
    """End checks that no job works on any more; throw away what waited for more than a day."""
    going = dict(database.read(_going))
    for job in jobs.given_up(database, settings, list(going)):
        database.write(_lost, going[job], job)
        for left in (settings.folder / "checks").glob(f"{going[job]}-*"):
            shutil.rmtree(left, ignore_errors=True)
    for place in (settings.folder / "uploads" / submission_files.FOLDER).glob("*"):
        waiting.sweep(place)
    if old := _old(settings.folder / "uploads"):
        for source in database.read(_failed):
            if old & submission_files.names(source):
                submission_files.drop(settings, source)


def _going(session: Session) -> list[tuple[str, int]]:
    return [(job, id) for job, id in session.execute(submission_queries.going()) if job]


def _lost(session: Session, id: int, job: str) -> None:
    made = session.get_one(Submission, id, with_for_update=True)
    if made.job_id != job or made.state not in submission_queries.GOING:
        return
    made.state, made.code, made.reason = "failed", "crashed", LOST
    if made.person_id:
        text = f"{made.name} did not pass its check: {LOST}"
        notices.tell(session, made.person_id, "submission", text, link=f"/submissions/{made.id}")


def _old(place: Path) -> set[str]:
    """Names of files that were sent more than a day ago and still lie where jobs have theirs."""
    since = time.time() - waiting.KEPT
    found = place.iterdir() if place.is_dir() else ()
    return {path.name for path in found if path.is_file() and path.stat().st_mtime < since}


def _failed(session: Session) -> list[dict[str, object]]:
    return list(session.scalars(submission_queries.sources("failed")))
