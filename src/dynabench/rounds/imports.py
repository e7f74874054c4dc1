"""Large files of contexts, imported by the worker as a durable job: a crash goes on at the next batch."""

from pathlib import Path
from typing import Any

from dbos import DBOS
from sqlalchemy.orm import Session

from dynabench.intake.bad_rows import BadRow
from dynabench.intake.text_rows import FileRow
from dynabench.kit import errors, jobs
from dynabench.people.accounts.tables import Person
from dynabench.rounds import contexts, files, queries, service
from dynabench.rounds.refused_rows import store_bad_rows

NAMED = 1_000  # bad rows that the result names; all of them are in `refused_rows`
NOTHING: dict[str, Any] = {"batches": 0, "finished": False, "created": 0, "duplicates": 0, "failed": 0}
COUNTED = ("created", "duplicates", "failed")


def _store(session: Session, job_id: str, number: int, task: str, rows: list[FileRow]) -> dict[str, Any]:
    job = session.get_one(jobs.Job, job_id, with_for_update=True)
    total = NOTHING | (job.done or {})
    if total["batches"] < number:  # else this batch was committed before a crash, and counted
        mapping = files.mapping_of(job.payload)
        converted = [files.context_row(row, mapping) for row in rows]
        result = contexts.add(session, task, service.newest_config(session, task), converted)
        given = {row.number: row.values or {} for row in rows}
        store_bad_rows(session, job_id, [BadRow(number, message, given[number]) for number, message in result.errors])
        total["batches"] = number
        total["created"] += result.created
        total["duplicates"] += result.duplicates
        total["failed"] += len(result.errors)
        job.done = total
    return {name: total[name] for name in COUNTED}


@DBOS.step(name="import_contexts.batch", retries_allowed=True)
def store(job_id: str, number: int, task: str, rows: list[FileRow]) -> dict[str, Any]:
    """Store batch `number` (from 1) and count it, in one transaction; the counts so far."""
    return jobs.database().write(_store, job_id, number, task, rows)


def _finish(session: Session, job_id: str, task: str, person_id: int | None) -> dict[str, Any]:
    job = session.get_one(jobs.Job, job_id, with_for_update=True)
    total = NOTHING | (job.done or {})
    if not total["finished"]:
        actor = session.get(Person, person_id) if person_id else None
        service.act(session, actor, "contexts.uploaded", task=task, created=total["created"])
        job.done = total = total | {"finished": True}
    named = [{"row": each.row, "message": each.message} for each in session.scalars(queries.refused(job_id, 0, NAMED))]
    return {**{name: total[name] for name in COUNTED}, "errors": named}


@DBOS.step(name="import_contexts.finish", retries_allowed=True)
def finish(job_id: str, payload: dict[str, Any]) -> dict[str, Any]:
    """Note the import in the audit log and delete the uploaded file; what became of its rows."""
    result = jobs.database().write(_finish, job_id, payload["task"], payload["person"])
    Path(payload["file"]).unlink(missing_ok=True)
    return result


def _finished(session: Session, job_id: str) -> bool:
    return bool((session.get_one(jobs.Job, job_id).done or {}).get("finished"))


def import_contexts(payload: dict[str, Any]) -> dict[str, Any]:
    """The workflow: `payload` names the `task`, the `person`, the stored `file` and, if need be, its `mapping`;
    batches are its steps.

    Which rows make a batch follows from the file alone, so that after a crash batches that are done are passed over.
    Rows of a file that cannot be read to its end are kept up to there; the file is deleted in any case.
    """
    job_id, path = str(DBOS.workflow_id), Path(payload["file"])
    if jobs.database().read(_finished, job_id):  # the crash came after the last step, and the file is gone
        return jobs.database().write(_finish, job_id, payload["task"], payload["person"])
    try:
        position = 0

        def progress(at: int) -> None:
            nonlocal position
            position = at

        size = path.stat().st_size
        for number, batch in enumerate(contexts.batches(files.read_fields(path, progress)), start=1):
            counts = store(job_id, number, payload["task"], batch)
            DBOS.set_event("progress", {"bytes": position, "of": size, **counts})
    except (errors.Problem, OSError):
        path.unlink(missing_ok=True)
        raise
    return finish(job_id, payload)
