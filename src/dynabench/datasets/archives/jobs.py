"""Archives as durable jobs: written whole or not at all; brought in batch by batch, so that a crash goes on there."""

import os
from pathlib import Path
from typing import Any

from dbos import DBOS
from sqlalchemy.orm import Session

from dynabench.datasets.archives import contents, layout, storing, writing
from dynabench.datasets.archives.service import archive_path
from dynabench.datasets.archives.storing import ArchiveBatch
from dynabench.datasets.imports.places import ImportState
from dynabench.intake.rows import BadRow
from dynabench.kit import errors, jobs
from dynabench.kit.language import _
from dynabench.kit.settings import Settings, get_settings
from dynabench.people.accounts.tables import Person
from dynabench.people.notices import service as notices
from dynabench.people.notices import webhooks
from dynabench.rounds import service as rounds
from dynabench.rounds.uploaded_files import store_bad_rows


@DBOS.step(name="export_task.write", retries_allowed=True)
def write_step(job_id: str, task: str, examples: bool) -> dict[str, Any]:
    """Write the whole file beside its place, then put it there; what the manifest says, and the size."""
    db, place = jobs.database(), archive_path(get_settings(), job_id)
    plan = db.read(writing.plan_archive, task, examples=examples)
    part = place.with_suffix(".part")

    def report(rows: int, total: int) -> None:
        DBOS.set_event("progress", {"done": rows, "of": max(rows, total, 1)})

    with part.open("wb") as file:
        manifest = writing.write_archive(db, get_settings(), plan, file, report)
        file.flush()
        os.fsync(file.fileno())
    part.replace(place)
    return {"task": task, "bytes": place.stat().st_size, "rows": manifest.rows}


def _announce_archive(session: Session, job_id: str, written: dict[str, Any]) -> None:
    job = session.get_one(jobs.Job, job_id, with_for_update=True)
    if job.done:
        return
    job.done = {"finished": True}
    task, page = written["task"], f"/tasks/{written['task']}/manage/archives/{job_id}"
    if job.person_id is not None:
        notices.notify_person(
            session,
            job.person_id,
            "archive",
            _("The archive of %(task)s is ready and kept for a week.", task=task),
            link=page,
        )
    webhooks.emit_event(session, task, "archive.ready", {"task": task, "bytes": written["bytes"], "page": page})


@DBOS.step(name="export_task.finish", retries_allowed=True)
def announce_step(job_id: str, written: dict[str, Any]) -> None:
    """Tell who asked for it, and the task's webhooks."""
    jobs.database().write(_announce_archive, job_id, written)


def export_task(payload: dict[str, Any]) -> dict[str, Any]:
    """The workflow: `payload` names the `task`, and whether its rounds and `examples` come along."""
    job_id = str(DBOS.workflow_id)
    written = write_step(job_id, payload["task"], payload["examples"])
    announce_step(job_id, written)
    return written


@DBOS.step(name="import_task.pack", retries_allowed=True)
def pack_step(job_id: str, task: str) -> str:
    """For a clone: the archive that it is made of."""
    db, place = jobs.database(), archive_path(get_settings(), job_id)
    with place.open("wb") as file:
        writing.write_archive(db, get_settings(), db.read(writing.plan_archive, task, examples=False), file)
    return str(place)


def _begin_import(session: Session, job_id: str, checked: storing.CheckedArchive, source: str) -> None:
    job = session.get_one(jobs.Job, job_id, with_for_update=True)
    if not job.done:  # else the step was committed before a crash
        person = session.get(Person, job.person_id) if job.person_id else None
        round_ids = storing.create_task(session, person, job.payload["task"], checked, source)
        job.done = {"batches": 0, "taken": checked.names_taken, "state": vars(ImportState(rounds=round_ids))}


@DBOS.step(name="import_task.begin", retries_allowed=False)
def begin_step(job_id: str, file: str, id: str) -> int:
    """Read all of the archive, then make the task with its rounds; how many bytes it has unpacked."""
    db, read = jobs.database(), 0
    with layout.open_archive(Path(file)) as archive:
        total = sum(file.bytes for file in archive.manifest.files)
        if db.read(lambda session: session.get_one(jobs.Job, job_id).done):
            return total

        def report(size: int) -> None:
            nonlocal read
            if (read + size) // 2**22 > read // 2**22:
                DBOS.set_event("progress", {"done": read, "of": 2 * max(total, 1)})
            read += size

        checked = storing.check_archive(db, get_settings(), archive, id, report)
        db.write(_begin_import, job_id, checked, archive.manifest.task)
    return total


@DBOS.step(name="import_task.files", retries_allowed=True)
def files_step(file: str, id: str) -> dict[str, str]:
    """Store the files that rows show; those that are kept under another name."""
    with layout.open_archive(Path(file)) as archive:
        return contents.store_files(jobs.database(), get_settings(), archive, id, None, lambda _: None)


def _count_left_out(session: Session, job_id: str, left_out: list[contents.LeftOutRow]) -> None:
    job = session.get_one(jobs.Job, job_id, with_for_update=True)
    done = dict(job.done or {})
    state = ImportState(**done["state"])
    for file, _number, why in left_out:
        state.note(f"{file}: {why}")
    job.done = done | {"failed": done.get("failed", 0) + len(left_out), "state": vars(state)}


@DBOS.step(name="import_task.datasets", retries_allowed=True)
def datasets_step(job_id: str, file: str, id: str, stored_names: dict[str, str]) -> None:
    """Store the datasets; rows that the config refuses are counted, by reason."""
    db = jobs.database()
    by = db.read(lambda session: session.get_one(jobs.Job, job_id).person_id)
    with layout.open_archive(Path(file)) as archive:
        if left_out := contents.store_datasets(db, get_settings(), archive, id, by, stored_names):
            db.write(_count_left_out, job_id, left_out)


def _store_batch(session: Session, settings: Settings, job_id: str, number: int, batch: ArchiveBatch) -> None:
    job = session.get_one(jobs.Job, job_id, with_for_update=True)
    done = dict(job.done or {})
    if done["batches"] >= number:  # committed before a crash, and counted
        return
    state = ImportState(**done["state"])
    bad = storing.store_batch(session, settings, job.payload["task"], batch, state, done["taken"])
    values_by_number = dict(batch.rows)
    if batch.part == layout.EXAMPLES:
        store_bad_rows(session, job_id, [BadRow(number, message, values_by_number[number]) for number, message in bad])
    job.done = done | {"batches": number, "state": vars(state), "failed": done.get("failed", 0) + len(bad)}


@DBOS.step(name="import_task.batch", retries_allowed=True)
def batch_step(job_id: str, number: int, batch: ArchiveBatch) -> None:
    """Store batch `number` (from 1) and count it, in one transaction."""
    jobs.database().write(_store_batch, get_settings(), job_id, number, batch)


def _finish_import(session: Session, job_id: str, rows: dict[str, int]) -> dict[str, Any]:
    job = session.get_one(jobs.Job, job_id, with_for_update=True)
    done, task = dict(job.done or {}), job.payload["task"]
    if not done.get("finished"):
        job.done = done | {"finished": True}
        if job.person_id is not None:
            text = _("The task %(task)s was created from its archive.", task=task)
            notices.notify_person(session, job.person_id, "archive", text, link=f"/tasks/{task}/manage")
        actor = session.get(Person, job.person_id) if job.person_id else None
        rounds.record_act(
            session, actor, "data.imported", task=task, file=job.payload["name"], failed=done.get("failed", 0)
        )
    notes = ImportState(**done["state"]).notes
    return {"task": task, "rows": rows, "failed": done.get("failed", 0), "notes": notes}


@DBOS.step(name="import_task.finish", retries_allowed=True)
def finish_step(job_id: str, rows: dict[str, int]) -> dict[str, Any]:
    """Tell who asked for it; what became of the archive."""
    return jobs.database().write(_finish_import, job_id, rows)


def import_task(payload: dict[str, Any]) -> dict[str, Any]:
    """The workflow: `payload` names the `task` to make, and the stored `file`, or the task that it is a clone `of`."""
    job_id, settings = str(DBOS.workflow_id), get_settings()
    file = pack_step(job_id, payload["of"]) if payload.get("of") else payload["file"]
    try:
        result = _import_archive(job_id, Path(file), payload["task"])
    except (errors.Problem, OSError):
        Path(file).unlink(missing_ok=True)
        raise
    Path(file).unlink(missing_ok=True)
    archive_path(settings, job_id).unlink(missing_ok=True)
    return result


def _import_archive(job_id: str, path: Path, id: str) -> dict[str, Any]:
    if jobs.database().read(jobs.has_finished, job_id):  # the crash came after the last step, and the file is gone
        return finish_step(job_id, {})
    total = begin_step(job_id, str(path), id)
    stored_names = files_step(str(path), id)
    datasets_step(job_id, str(path), id, stored_names)
    read = total
    with layout.open_archive(path) as archive:

        def report(size: int) -> None:
            nonlocal read
            read += size

        for number, batch in enumerate(storing.cut_batches(archive, stored_names, report), start=1):
            batch_step(job_id, number, batch)
            DBOS.set_event("progress", {"done": read, "of": 2 * max(total, 1)})
        rows = archive.manifest.rows
    return finish_step(job_id, rows)
