"""Reading a version as a durable job: one step that writes one file, so that after a crash it starts anew."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from dbos import DBOS
from sqlalchemy import delete
from sqlalchemy.orm import Session

from dynabench.datasets import library
from dynabench.datasets.imports import hub
from dynabench.datasets.intake import building
from dynabench.datasets.intake.building import Told
from dynabench.datasets.intake.layout import Layout
from dynabench.datasets.stored import Written
from dynabench.intake import sources
from dynabench.intake.bad_rows import BadRow
from dynabench.kit import errors, jobs
from dynabench.kit.language import _
from dynabench.kit.settings import get_settings
from dynabench.rounds import service as rounds
from dynabench.rounds.refused_rows import store_bad_rows
from dynabench.rounds.tables import RefusedRow
from dynabench.tasks import TaskConfig

REPORT = 20_000  # rows between two reports of progress


def _begin(session: Session, job_id: str, task: str) -> TaskConfig:
    """Forget the refused rows of an attempt that a crash ended."""
    session.execute(delete(RefusedRow).where(RefusedRow.job_id == job_id))
    return rounds.newest_config(session, task)


def _report(session: Session, job_id: str, told: dict[str, Any]) -> None:
    session.get_one(jobs.Job, job_id, with_for_update=True).done = told


@DBOS.step(name="read_dataset.read")
def read(job_id: str, payload: dict[str, Any]) -> dict[str, Any]:
    """Read, check and store all rows; what was written, or the `reason` why the version fails."""
    settings, db = get_settings(), jobs.database()
    config = db.write(_begin, job_id, payload["task"])
    layout = Layout.parse(payload["layout"]) if payload.get("layout") else None
    last = 0

    def progress(told: Told) -> None:
        nonlocal last
        if told.rows + told.refused - last >= REPORT:
            last = told.rows + told.refused
            db.write(_report, job_id, asdict(told))

    def refuse(bad: list[BadRow]) -> None:
        db.write(store_bad_rows, job_id, bad)

    place = settings.folder / "uploads" / f".hub-{job_id}"
    try:
        if payload.get("hub"):
            found = hub.download(settings, hub.Wanted(**payload["hub"]), place)
            files = [(path, path.name) for path in found]
            written, told = building.build(settings, config, files, layout, payload["tolerance"], refuse, progress)
        else:
            with sources.open_source(Path(payload["file"]), payload["name"]) as files:
                written, told = building.build(settings, config, files, layout, payload["tolerance"], refuse, progress)
    except errors.Problem as problem:
        reason = "; ".join(problem.fields.values()) if isinstance(problem, errors.Invalid) else problem.detail
        return {"reason": reason}
    db.write(_report, job_id, asdict(told))
    return asdict(written)


def _end(session: Session, version: int, found: dict[str, Any]) -> dict[str, Any]:
    if "reason" in found:
        made = library.fail(session, version, found["reason"])
    else:
        made = library.ready(session, version, Written(**found))
    return {"state": made.state, "rows": made.rows, "digest": made.digest, "reason": made.reason}


@DBOS.step(name="read_dataset.end", retries_allowed=True)
def end(version: int, found: dict[str, Any]) -> dict[str, Any]:
    """Let the version stand or fail, in one transaction."""
    return jobs.database().write(_end, version, found)


def read_dataset(payload: dict[str, Any]) -> dict[str, Any]:
    """The workflow: `payload` names the `task`, the `version`, the stored `file` with its `name` (or a `hub` dataset),
    the `layout` (or none, to be guessed) and the `tolerance`.
    """
    job_id, settings = str(DBOS.workflow_id), get_settings()
    try:
        found = read(job_id, payload)
    except Exception as problem:
        end(
            payload["version"],
            {"reason": _("The file could not be read to its end (%(name)s).", name=type(problem).__name__)},
        )
        raise
    result = end(payload["version"], found)
    if payload.get("file"):
        Path(payload["file"]).unlink(missing_ok=True)
    hub.sweep(settings, [settings.folder / "uploads" / f".hub-{job_id}"])
    return result
