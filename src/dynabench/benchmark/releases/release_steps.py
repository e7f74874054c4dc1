"""The steps of a release, each of which can be repeated, and the durable job that runs them."""

import shutil
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from dbos import DBOS
from sqlalchemy.orm import Session

from dynabench.benchmark.releases import manifest, planning, release_files, service
from dynabench.benchmark.releases.division import ReleaseReport
from dynabench.benchmark.releases.manifest import ReleaseManifest
from dynabench.benchmark.releases.planning import ReleaseSubject
from dynabench.benchmark.releases.tables import Release
from dynabench.datasets import conversions, stored
from dynabench.datasets.stored import StoredRow, WrittenRows
from dynabench.kit import errors, jobs
from dynabench.kit.db import Database
from dynabench.kit.settings import Settings, get_settings
from dynabench.rounds.tables import Round
from dynabench.tasks.sections import ReleaseSettings as Rules

MAX_ATTEMPTS = 5


def load_release(session: Session, release_id: int) -> tuple[str, int, Release]:
    """Return the task, the round's number and the release."""
    release = session.get_one(Release, release_id)
    return release.task_id, session.get_one(Round, release.round_id).number, release


def freeze_round(db: Database, settings: Settings, release_id: int) -> None:
    """Divide the round and freeze it. Raises `Conflict` for findings that forbid a release."""
    for _ in range(MAX_ATTEMPTS):
        task, number, release = db.read(load_release, release_id)
        if release.state in service.DECIDED:
            return
        plan = planning.plan_release(db, settings, task, number, Rules.model_validate(release.rules))
        if db.write(service.freeze_round, release_id, plan) == "frozen":
            return
    raise errors.Conflict("People went on voting while the round was divided. Try again when they have finished.")


def write_files(db: Database, settings: Settings, release_id: int) -> ReleaseManifest:
    """Write the files to a temporary folder, then move it to its place; return the manifest."""
    task, number, release = db.read(load_release, release_id)
    target = service.release_folder(settings, release_id)
    if (target / manifest.MANIFEST_NAME).is_file():
        return manifest.read_manifest(target)
    part = target.with_name(f".{release_id}")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True, mode=0o700)
    release_manifest = write_folder(db, settings, task, number, release, part)
    part.rename(target)
    return release_manifest


def write_folder(
    db: Database, settings: Settings, task: str, number: int, release: Release, folder: Path
) -> ReleaseManifest:
    """Write a frozen round's files to an empty folder.

    The bytes are the same at any time, as long as no example is hidden and no round that its examples came from
    is released.
    """
    subject = db.read(planning.load_subject, settings, task, number)
    parts, rules = db.read(service.part_by_uid, release.round_id), Rules.model_validate(release.rules)
    return release_files.write_files(
        db, settings, subject, parts, rules, ReleaseReport.model_validate(release.report), folder
    )


def store_datasets(db: Database, settings: Settings, release_id: int) -> tuple[WrittenRows, WrittenRows]:
    """Store the rows that models are scored on: those of the public and of the hidden test part."""
    task, number, release = db.read(load_release, release_id)
    subject = db.read(planning.load_subject, settings, task, number)
    parts = db.read(service.part_by_uid, release.round_id)
    return tuple(  # type: ignore[return-value]
        stored.write_rows(settings, _stored(db, settings, subject, parts, part)) for part in ("test", "hidden")
    )


def _stored(
    db: Database, settings: Settings, subject: ReleaseSubject, parts: dict[str, str], part: str
) -> Iterator[StoredRow]:
    for row in release_files.part_rows(db, settings, subject, parts, part):
        yield conversions.example_row(row, subject.config)


def make_release(db: Database, settings: Settings, release_id: int) -> Release:
    """Run all steps in this process, for the command line."""
    try:
        freeze_round(db, settings, release_id)
        release_manifest = write_files(db, settings, release_id)
        return db.write(service.finish_release, release_id, release_manifest, *store_datasets(db, settings, release_id))
    except errors.Problem as problem:
        db.write(service.fail_release, release_id, problem.detail)
        raise


@DBOS.step(name="release_round.freeze", retries_allowed=True)
def freeze_step(release: int) -> str:
    """Divide and freeze the round; return the problem, or an empty text."""
    try:
        freeze_round(jobs.database(), get_settings(), release)
    except errors.Problem as problem:
        jobs.database().write(service.fail_release, release, problem.detail)
        return problem.detail
    return ""


@DBOS.step(name="release_round.write", retries_allowed=True)
def write_step(release: int) -> dict[str, Any]:
    """Write the files and return the manifest."""
    return write_files(jobs.database(), get_settings(), release).model_dump(mode="json")


@DBOS.step(name="release_round.rows", retries_allowed=True)
def store_step(release: int) -> list[dict[str, Any]]:
    """Store the rows that models are scored on."""
    return [asdict(written) for written in store_datasets(jobs.database(), get_settings(), release)]


@DBOS.step(name="release_round.finish", retries_allowed=True)
def finish_step(release: int, manifest_document: dict[str, Any], written: list[dict[str, Any]]) -> str:
    """Finish the release and return its digest."""
    test, hidden = (WrittenRows(**row) for row in written)
    return (
        jobs.database()
        .write(service.finish_release, release, ReleaseManifest.model_validate(manifest_document), test, hidden)
        .digest
    )


def release_round(payload: dict[str, Any]) -> dict[str, Any]:
    """Run the workflow of a release. `payload` names the `release`; the result has its digest, or the problem."""
    release, steps = int(payload["release"]), 4

    def report_progress(done: int, activity: str) -> None:
        DBOS.set_event("progress", {"done": done, "of": steps, "what": activity})

    report_progress(0, "Dividing the examples")
    if problem := freeze_step(release):
        return {"problem": problem}
    report_progress(1, "Writing the files")
    manifest_document = write_step(release)
    report_progress(2, "Storing the rows that models are tested on")
    written = store_step(release)
    report_progress(3, "Asking for evaluations")
    return {"digest": finish_step(release, manifest_document, written)}
