"""Imports as durable jobs: batches are steps, counted in the transaction that stores them, so a crash goes on there."""

from pathlib import Path
from typing import Any

from dbos import DBOS
from sqlalchemy.orm import Session

from dynabench.datasets.imports import batches, hub
from dynabench.datasets.imports.batches import Batch
from dynabench.datasets.imports.origins import MISSING
from dynabench.datasets.imports.plan import Plan
from dynabench.datasets.imports.state import State
from dynabench.kit import errors, jobs
from dynabench.kit.settings import Settings, get_settings
from dynabench.people.accounts.tables import Person
from dynabench.rounds import queries
from dynabench.rounds import service as rounds
from dynabench.rounds.refused_rows import store_bad_rows
from dynabench.rounds.tables import Round
from dynabench.tasks import TaskConfig

NAMED = 1_000  # refused rows that the result names; all of them are in `refused_rows`
NOTES = 20  # kinds of notes in progress and result


def shown(state: State, finished: bool = False) -> dict[str, Any]:
    """Return the counts and notes that an import shows as its progress and result."""
    missing = {MISSING: len(state.waiting)} if finished and state.waiting else {}
    notes = [{"note": note, "times": times} for note, times in [*state.notes.items(), *missing.items()][:NOTES]]
    counts = {"created": state.created, "duplicates": state.duplicates, "failed": state.failed, "notes": notes}
    return counts | ({"rounds": len(state.rounds)} if state.rounds else {})


def _store(session: Session, job_id: str, settings: Settings, number: int, plan: Plan, batch: Batch) -> dict[str, Any]:
    job = session.get_one(jobs.Job, job_id, with_for_update=True)
    done = dict(job.done or {})
    state = State(**done.get("state", {}))
    if done.get("batches", 0) < number:  # else this batch was committed before a crash, and counted
        refused = batches.store(session, settings, job.payload["task"], plan, batch, state)
        store_bad_rows(session, job_id, refused)
        job.done = done | {"batches": number, "state": vars(state)}
    return shown(state)


@DBOS.step(name="import_data.batch", retries_allowed=True)
def store(job_id: str, number: int, plan: Plan, batch: Batch) -> dict[str, Any]:
    """Store batch `number` (from 1) and count it, in one transaction; the counts so far."""
    return jobs.database().write(_store, job_id, get_settings(), number, plan, batch)


def _finish(session: Session, job_id: str) -> dict[str, Any]:
    job = session.get_one(jobs.Job, job_id, with_for_update=True)
    done, task = dict(job.done or {}), job.payload["task"]
    state = State(**done.get("state", {}))
    if not done.get("finished"):
        actor = session.get(Person, job.person_id) if job.person_id else None
        made = {"created": state.created, "into": job.payload["into"], "file": job.payload["name"][:200]}
        rounds.act(session, actor, "data.imported", task=task, **made)
        job.done = done | {"finished": True}
    named = session.scalars(queries.refused(job_id, 0, NAMED))
    numbers = sorted(session.get_one(Round, key).number for key in state.rounds.values())
    bad = [{"row": each.row, "message": each.message} for each in named]
    return shown(state, finished=True) | {"rounds": numbers, "errors": bad}


@DBOS.step(name="import_data.finish", retries_allowed=True)
def finish(job_id: str) -> dict[str, Any]:
    """Note the import in the audit log; what became of its rows."""
    return jobs.database().write(_finish, job_id)


@DBOS.step(name="import_data.fetch")
def fetch(job_id: str, payload: dict[str, Any]) -> list[str]:
    """Download the data set that is named; the files of its rows."""
    settings = get_settings()
    folder = settings.folder / "uploads" / f".hub-{job_id}"
    try:
        return [str(path) for path in hub.download(settings, hub.Wanted(**payload["hub"]), folder)]
    except errors.Problem:
        hub.sweep(settings, [folder])
        raise


def _start(session: Session, job_id: str, task: str) -> tuple[dict[str, Any], TaskConfig]:
    return dict(session.get_one(jobs.Job, job_id).done or {}), rounds.newest_config(session, task)


def import_data(payload: dict[str, Any]) -> dict[str, Any]:
    """The workflow: `payload` names the `task`, the `person`, the stored `file` with its `name` (or a `hub` data set),
    what rows become (`into`), their `format` and, if need be, the `mapping`.

    What makes a batch follows from the file and the config, so batches that are done are passed over after a crash.
    """
    job_id, settings = str(DBOS.workflow_id), get_settings()
    done, config = jobs.database().read(_start, job_id, payload["task"])
    if done.get("finished"):  # the crash came after the last step, and the file is gone
        return finish(job_id)
    if payload.get("hub"):
        files = [(Path(path), Path(path).name) for path in fetch(job_id, payload)]
    else:
        files = [(Path(payload["file"]), payload["name"])]
    try:
        _batches(job_id, payload, files, config)
    except (errors.Problem, OSError):
        _remove(files, settings)
        raise
    result = finish(job_id)
    _remove(files, settings)
    return result


def _batches(job_id: str, payload: dict[str, Any], files: list[tuple[Path, str]], config: TaskConfig) -> None:
    number, size, before = 0, sum(path.stat().st_size for path, _ in files), 0
    for path, name in files:
        plan = batches.plan_for(path, name, payload["into"], payload["format"], payload.get("mapping"))
        told = {"bytes": before, "of": size}

        def at(position: int, told: dict[str, int] = told, before: int = before) -> None:
            told["bytes"] = before + position

        for batch in batches.cut(path, plan, config, at):
            number += 1
            counts = store(job_id, number, plan, batch)
            DBOS.set_event("progress", {**told, **counts})
        before += path.stat().st_size


def _remove(files: list[tuple[Path, str]], settings: Settings) -> None:
    """Throw the files away: all of them are under `uploads`."""
    for path, _ in files:
        path.unlink(missing_ok=True)
    hub.sweep(settings, {path.parent for path, _ in files})
