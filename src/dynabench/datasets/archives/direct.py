"""Archives in the process that asks, as the command line does: one transaction for each batch."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from sqlalchemy.orm import Session

from dynabench.datasets.archives import checking, datasets, files, reading, storing, writing
from dynabench.datasets.archives.layout import Manifest
from dynabench.datasets.archives.reading import Told
from dynabench.datasets.imports.state import State
from dynabench.kit.db import Database
from dynabench.kit.settings import Settings
from dynabench.people.accounts.tables import Person
from dynabench.rounds import people


@dataclass
class Imported:
    """The result of importing an archive: its rows by list, and the refused ones as (list, line, reason)."""

    manifest: Manifest
    refused: list[tuple[str, int, str]] = field(default_factory=list)
    notes: dict[str, int] = field(default_factory=dict)


def export(
    db: Database, settings: Settings, task: str, file: IO[bytes], told: writing.Told, *, examples: bool = True
) -> Manifest:
    """Write a task's archive to a file."""
    return writing.write(db, settings, db.read(writing.plan, task, examples=examples), file, told)


def bring(
    db: Database, settings: Settings, path: Path, id: str, owner: str = "", told: Told = lambda _: None
) -> Imported:
    """Make the task `id` from an archive; `told` is called with the bytes that were read, of twice as many."""
    with reading.opened(path) as archive:
        checked = checking.check(db, settings, archive, id, told)

        def begin(session: Session) -> tuple[dict[str, int], int | None]:
            person: Person | None = people.named(session, owner) if owner else None
            return storing.begin(session, person, id, checked, archive.manifest.task), person.id if person else None

        known, person_id = db.write(begin)
        state = State(rounds=known)
        made = Imported(archive.manifest)
        kept = files.store(db, settings, archive, id, None, told)
        made.refused += datasets.store(db, settings, archive, id, person_id, kept, told)
        for batch in storing.cut(archive, kept, told):
            bad = db.write(storing.store, settings, id, batch, state, checked.taken)
            made.refused += [(batch.part, number, message) for number, message in bad]
    made.notes = state.notes
    return made
