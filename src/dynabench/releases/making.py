"""Making a release, step by step, each of which can be done again: freeze, write, finish."""

import shutil
from collections.abc import Iterator
from pathlib import Path

from sqlalchemy.orm import Session

from dynabench import errors
from dynabench.datasets import from_rounds, stored
from dynabench.datasets.stored import Stored, Written
from dynabench.db import Database
from dynabench.releases import manifest, planning, service, writing
from dynabench.releases.checks import ReleaseReport
from dynabench.releases.manifest import Manifest
from dynabench.releases.planning import Subject
from dynabench.releases.tables import Release
from dynabench.rounds.tables import Round
from dynabench.settings import Settings
from dynabench.tasks.sections import ReleaseSettings as Rules

TRIES = 5


def of(session: Session, release_id: int) -> tuple[str, int, Release]:
    """The task, the round's number and the release."""
    release = session.get_one(Release, release_id)
    return release.task_id, session.get_one(Round, release.round_id).number, release


def freeze(db: Database, settings: Settings, release_id: int) -> None:
    """Divide the round, and freeze it so. Raises `Conflict` for what stands in the way."""
    for _ in range(TRIES):
        task, number, release = db.read(of, release_id)
        if release.state in service.DECIDED:
            return
        plan = planning.plan(db, settings, task, number, Rules.model_validate(release.rules))
        if db.write(service.freeze, release_id, plan) == "frozen":
            return
    raise errors.Conflict("People went on voting while the round was divided. Try again when they have finished.")


def write(db: Database, settings: Settings, release_id: int) -> Manifest:
    """Write the files beside their place, then put them there; what the manifest says."""
    task, number, release = db.read(of, release_id)
    place = service.folder(settings, release_id)
    if (place / manifest.NAME).is_file():
        return manifest.read(place)
    part = place.with_name(f".{release_id}")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True, mode=0o700)
    made = to_folder(db, settings, task, number, release, part)
    part.rename(place)
    return made


def to_folder(db: Database, settings: Settings, task: str, number: int, release: Release, folder: Path) -> Manifest:
    """Write a frozen round's files to an empty folder: at any time the same bytes, as long as no example is
    hidden and no round that its examples came from is released."""
    found = db.read(planning.subject, settings, task, number)
    parts, rules = db.read(service.parts_of, release.round_id), Rules.model_validate(release.rules)
    return writing.write(db, settings, found, parts, rules, ReleaseReport.model_validate(release.report), folder)


def datasets(db: Database, settings: Settings, release_id: int) -> tuple[Written, Written]:
    """Store the rows that models are scored on: those of the public and those of the hidden part to test on."""
    task, number, release = db.read(of, release_id)
    found = db.read(planning.subject, settings, task, number)
    parts = db.read(service.parts_of, release.round_id)
    return tuple(  # type: ignore[return-value]
        stored.write(settings, _stored(db, settings, found, parts, part)) for part in ("test", "hidden")
    )


def _stored(db: Database, settings: Settings, found: Subject, parts: dict[str, str], part: str) -> Iterator[Stored]:
    for row in writing.rows_of(db, settings, found, parts, part):
        yield from_rounds.row_of(row, found.config)


def make(db: Database, settings: Settings, release_id: int) -> Release:
    """All of it in this process, as the command line does."""
    try:
        freeze(db, settings, release_id)
        made = write(db, settings, release_id)
        return db.write(service.finish, release_id, made, *datasets(db, settings, release_id))
    except errors.Problem as problem:
        db.write(service.fail, release_id, problem.detail)
        raise
