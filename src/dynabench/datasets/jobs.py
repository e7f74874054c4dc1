"""Durable jobs: imports of files, versions of datasets that are read, perturbed copies that are made."""

import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from dbos import DBOS
from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from dynabench.datasets import library
from dynabench.datasets.archives.service import archive_path
from dynabench.datasets.imports import batches
from dynabench.datasets.imports.batches import ImportBatch, ImportPlan
from dynabench.datasets.imports.places import MISSING, ImportState
from dynabench.datasets.intake import service
from dynabench.datasets.intake.layout import FileLayout
from dynabench.datasets.intake.service import ReadingProgress
from dynabench.datasets.stored import WrittenRows
from dynabench.datasets.tables import DatasetState, DatasetVersion, Twin
from dynabench.intake import sources
from dynabench.intake.rows import BadRow
from dynabench.kit import errors, jobs
from dynabench.kit.db import Database
from dynabench.kit.language import _, join_messages
from dynabench.kit.settings import Settings, get_settings
from dynabench.people.accounts.tables import Person
from dynabench.rounds import queries
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import RefusedRow, Round
from dynabench.rounds.uploaded_files import store_bad_rows
from dynabench.tasks import TaskConfig

MOST_NAMED_ROWS = 1_000  # refused rows that the result names; all of them are in `refused_rows`
MOST_NOTES = 20  # kinds of notes in progress and result


def import_counts(state: ImportState, finished: bool = False) -> dict[str, Any]:
    """Return the counts and notes that an import shows as its progress and result."""
    missing = {MISSING: len(state.waiting)} if finished and state.waiting else {}
    notes = [{"note": note, "times": times} for note, times in [*state.notes.items(), *missing.items()][:MOST_NOTES]]
    counts = {"created": state.created, "duplicates": state.duplicates, "failed": state.failed, "notes": notes}
    return counts | ({"rounds": len(state.rounds)} if state.rounds else {})


def _store_batch(
    session: Session, job_id: str, settings: Settings, number: int, plan: ImportPlan, batch: ImportBatch
) -> dict[str, Any]:
    job = session.get_one(jobs.Job, job_id, with_for_update=True)
    done = dict(job.done or {})
    state = ImportState(**done.get("state", {}))
    if done.get("batches", 0) < number:  # else this batch was committed before a crash, and counted
        refused = batches.store_batch(session, settings, job.payload["task"], plan, batch, state)
        store_bad_rows(session, job_id, refused)
        job.done = done | {"batches": number, "state": vars(state)}
    return import_counts(state)


@DBOS.step(name="import_data.batch", retries_allowed=True)
def import_batch_step(job_id: str, number: int, plan: ImportPlan, batch: ImportBatch) -> dict[str, Any]:
    """Store batch `number` (from 1) and count it, in one transaction; the counts so far."""
    return jobs.database().write(_store_batch, job_id, get_settings(), number, plan, batch)


def _finish_import(session: Session, job_id: str) -> dict[str, Any]:
    job = session.get_one(jobs.Job, job_id, with_for_update=True)
    done, task = dict(job.done or {}), job.payload["task"]
    state = ImportState(**done.get("state", {}))
    if not done.get("finished"):
        actor = session.get(Person, job.person_id) if job.person_id else None
        subject = {"created": state.created, "into": job.payload["into"], "file": job.payload["name"][:200]}
        rounds.record_act(session, actor, "data.imported", task=task, **subject)
        job.done = done | {"finished": True}
    named = session.scalars(queries.refused_rows(job_id, 0, MOST_NAMED_ROWS))
    numbers = sorted(session.get_one(Round, key).number for key in state.rounds.values())
    bad = [{"row": row.row, "message": row.message} for row in named]
    return import_counts(state, finished=True) | {"rounds": numbers, "errors": bad}


@DBOS.step(name="import_data.finish", retries_allowed=True)
def finish_import_step(job_id: str) -> dict[str, Any]:
    """Note the import in the audit log; what became of its rows."""
    return jobs.database().write(_finish_import, job_id)


@DBOS.step(name="import_data.fetch")
def fetch_step(job_id: str, payload: dict[str, Any]) -> list[str]:
    """Download the data set that is named; the files of its rows."""
    settings = get_settings()
    folder = settings.folder / "uploads" / f".hub-{job_id}"
    try:
        return [str(path) for path in sources.download_dataset(settings, sources.HubRequest(**payload["hub"]), folder)]
    except errors.Problem:
        sources.remove_downloads(settings, [folder])
        raise


def _import_start(session: Session, job_id: str, task: str) -> tuple[dict[str, Any], TaskConfig]:
    return dict(session.get_one(jobs.Job, job_id).done or {}), rounds.newest_config(session, task)


def import_data(payload: dict[str, Any]) -> dict[str, Any]:
    """The workflow: `payload` names the `task`, the `person`, the stored `file` with its `name` (or a `hub` data set),
    what rows become (`into`), their `format` and, if need be, the `mapping`.

    What makes a batch follows from the file and the config, so batches that are done are passed over after a crash.
    """
    job_id, settings = str(DBOS.workflow_id), get_settings()
    done, config = jobs.database().read(_import_start, job_id, payload["task"])
    if done.get("finished"):  # the crash came after the last step, and the file is gone
        return finish_import_step(job_id)
    if payload.get("hub"):
        files = [(Path(path), Path(path).name) for path in fetch_step(job_id, payload)]
    else:
        files = [(Path(payload["file"]), payload["name"])]
    try:
        _import_batches(job_id, payload, files, config)
    except (errors.Problem, OSError):
        _remove_files(files, settings)
        raise
    result = finish_import_step(job_id)
    _remove_files(files, settings)
    return result


def _import_batches(job_id: str, payload: dict[str, Any], files: list[tuple[Path, str]], config: TaskConfig) -> None:
    number, size, before = 0, sum(path.stat().st_size for path, _name in files), 0
    for path, name in files:
        plan = batches.plan_file(path, name, payload["into"], payload["format"], payload.get("mapping"))
        position_report = {"bytes": before, "of": size}

        def at(position: int, report: dict[str, int] = position_report, before: int = before) -> None:
            report["bytes"] = before + position

        for batch in batches.cut_batches(path, plan, config, at):
            number += 1
            counts = import_batch_step(job_id, number, plan, batch)
            DBOS.set_event("progress", {**position_report, **counts})
        before += path.stat().st_size


def _remove_files(files: list[tuple[Path, str]], settings: Settings) -> None:
    """Throw the files away: all of them are under `uploads`."""
    for path, _name in files:
        path.unlink(missing_ok=True)
    sources.remove_downloads(settings, {path.parent for path, _name in files})


REPORT_ROWS = 20_000  # rows between two reports of progress


def _begin_reading(session: Session, job_id: str, task: str) -> TaskConfig:
    """Forget the refused rows of an attempt that a crash ended."""
    session.execute(delete(RefusedRow).where(RefusedRow.job_id == job_id))
    return rounds.newest_config(session, task)


def _report_reading(session: Session, job_id: str, progress: dict[str, Any]) -> None:
    session.get_one(jobs.Job, job_id, with_for_update=True).done = progress


@DBOS.step(name="read_dataset.read")
def read_step(job_id: str, payload: dict[str, Any]) -> dict[str, Any]:
    """Read, check and store all rows; what was written, or the `reason` why the version fails."""
    settings, db = get_settings(), jobs.database()
    config = db.write(_begin_reading, job_id, payload["task"])
    layout = FileLayout.parse(payload["layout"]) if payload.get("layout") else None
    last = 0

    def progress(reading: ReadingProgress) -> None:
        nonlocal last
        if reading.rows + reading.refused - last >= REPORT_ROWS:
            last = reading.rows + reading.refused
            db.write(_report_reading, job_id, asdict(reading))

    def refuse(bad: list[BadRow]) -> None:
        db.write(store_bad_rows, job_id, bad)

    place = settings.folder / "uploads" / f".hub-{job_id}"
    try:
        if payload.get("hub"):
            paths = sources.download_dataset(settings, sources.HubRequest(**payload["hub"]), place)
            files = [(path, path.name) for path in paths]
            written, reading_end = service.build_version(
                settings, config, files, layout, payload["tolerance"], refuse, progress
            )
        else:
            with sources.open_source(Path(payload["file"]), payload["name"]) as files:
                written, reading_end = service.build_version(
                    settings, config, files, layout, payload["tolerance"], refuse, progress
                )
    except errors.Problem as problem:
        reason = join_messages(problem.fields.values()) if isinstance(problem, errors.Invalid) else problem.detail
        return {"reason": reason}
    db.write(_report_reading, job_id, asdict(reading_end))
    return asdict(written)


def _end_reading(session: Session, version: int, outcome: dict[str, Any]) -> dict[str, Any]:
    if "reason" in outcome:
        ended = library.fail_version(session, version, outcome["reason"])
    else:
        ended = library.publish_version(session, version, WrittenRows(**outcome))
    return {"state": ended.state, "rows": ended.rows, "digest": ended.digest, "reason": ended.reason}


@DBOS.step(name="read_dataset.end", retries_allowed=True)
def end_step(version: int, outcome: dict[str, Any]) -> dict[str, Any]:
    """Let the version stand or fail, in one transaction."""
    return jobs.database().write(_end_reading, version, outcome)


def read_dataset(payload: dict[str, Any]) -> dict[str, Any]:
    """The workflow: `payload` names the `task`, the `version`, the stored `file` with its `name` (or a `hub` dataset),
    the `layout` (or none, to be guessed) and the `tolerance`.
    """
    job_id, settings = str(DBOS.workflow_id), get_settings()
    try:
        outcome = read_step(job_id, payload)
    except Exception as problem:
        end_step(
            payload["version"],
            {"reason": _("The file could not be read completely (%(name)s).", name=type(problem).__name__)},
        )
        raise
    result = end_step(payload["version"], outcome)
    if payload.get("file"):
        Path(payload["file"]).unlink(missing_ok=True)
    sources.remove_downloads(settings, [settings.folder / "uploads" / f".hub-{job_id}"])
    return result


KEPT_SECONDS = 7 * 24 * 3600  # of archives
LOST = _("The file was read many times without success. Upload it again; the operator's log has details.")


def clean_up_datasets(database: Database, settings: Settings) -> None:
    """Let versions and twins fail that no job reads or makes any more, and delete old archives."""
    for table in (DatasetVersion, Twin):
        going = database.read(_reading_jobs, table)
        for job in jobs.given_up(database, settings, list(going)):
            database.write(_fail_lost, table, going[job], job)
    _delete_old_archives(settings)


def _delete_old_archives(settings: Settings) -> None:
    for path in archive_path(settings, "any").parent.iterdir():
        if time.time() - path.stat().st_mtime > KEPT_SECONDS:
            path.unlink(missing_ok=True)


def _reading_jobs(session: Session, table: type[DatasetVersion] | type[Twin]) -> dict[str, int]:
    rows = session.execute(select(table.job_id, table.id).where(table.state == DatasetState.READING))
    return {job: id for job, id in rows if job}


def _fail_lost(session: Session, table: type[DatasetVersion] | type[Twin], id: int, job: str) -> None:
    row: Any = session.get_one(table, id, with_for_update=True)
    if row.job_id != job:
        return
    if isinstance(row, DatasetVersion):
        library.fail_version(session, id, LOST)
    elif row.state == DatasetState.READING:
        row.state, row.reason = DatasetState.FAILED, LOST
