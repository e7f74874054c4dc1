"""Large files of contexts, imported by the worker as a durable job: a crash goes on at the next batch."""

from pathlib import Path
from typing import Any

from dbos import DBOS
from sqlalchemy.orm import Session

from dynabench import jobs
from dynabench.accounts.tables import Person
from dynabench.rounds import contexts, files, service
from dynabench.rounds.contexts import Row

NAMED = 1_000  # bad rows that the result names; the rest are counted


@DBOS.step(name="import_contexts.batch")
def store(task: str, rows: list[Row]) -> dict[str, Any]:
    """Store one batch. Run twice, the second run finds duplicates, so `created` is told by the first."""
    config = jobs.database().read(service.newest_config, task)
    result = jobs.database().write(contexts.add, task, config, rows)
    return {"created": result.created, "duplicates": result.duplicates, "errors": result.errors}


def _note(session: Session, task: str, person: int | None, created: int) -> None:
    actor = session.get(Person, person) if person else None
    service.act(session, actor, "contexts.uploaded", task=task, created=created)


@DBOS.step(name="import_contexts.finish")
def finish(task: str, person: int | None, file: str, created: int) -> None:
    """Note the import in the audit log and delete the uploaded file."""
    jobs.database().write(_note, task, person, created)
    Path(file).unlink(missing_ok=True)


def import_contexts(payload: dict[str, Any]) -> dict[str, Any]:
    """The workflow: `payload` names the `task`, the `person` and the stored `file`; batches are its steps."""
    path = Path(payload["file"])
    total: dict[str, Any] = {"created": 0, "duplicates": 0, "failed": 0, "errors": []}
    with path.open("rb") as stream:
        # Which rows make a batch follows from the file alone: after a crash, batches that are done are passed over.
        for batch in contexts.batches(files.reader(path)(stream)):
            done = store(payload["task"], batch)
            total["created"] += done["created"]
            total["duplicates"] += done["duplicates"]
            total["failed"] += len(done["errors"])
            room = NAMED - len(total["errors"])
            total["errors"] += [{"row": row, "message": message} for row, message in done["errors"][:room]]
            DBOS.set_event("progress", {"bytes": stream.tell(), "of": path.stat().st_size, "created": total["created"]})
    finish(payload["task"], payload["person"], payload["file"], total["created"])
    return total
