"""A release as a durable job."""

from dataclasses import asdict
from typing import Any

from dbos import DBOS

from dynabench.benchmark.releases import release_steps, service
from dynabench.benchmark.releases.manifest import ReleaseManifest
from dynabench.datasets.stored import Written
from dynabench.kit import errors, jobs
from dynabench.kit.settings import get_settings


@DBOS.step(name="release_round.freeze", retries_allowed=True)
def freeze_step(release: int) -> str:
    """Divide and freeze the round; return the problem, or an empty text."""
    try:
        release_steps.freeze_round(jobs.database(), get_settings(), release)
    except errors.Problem as problem:
        jobs.database().write(service.fail_release, release, problem.detail)
        return problem.detail
    return ""


@DBOS.step(name="release_round.write", retries_allowed=True)
def write_step(release: int) -> dict[str, Any]:
    """Write the files and return the manifest."""
    return release_steps.write_files(jobs.database(), get_settings(), release).model_dump(mode="json")


@DBOS.step(name="release_round.rows", retries_allowed=True)
def store_step(release: int) -> list[dict[str, Any]]:
    """Store the rows that models are scored on."""
    return [asdict(written) for written in release_steps.store_datasets(jobs.database(), get_settings(), release)]


@DBOS.step(name="release_round.finish", retries_allowed=True)
def finish_step(release: int, manifest_document: dict[str, Any], written: list[dict[str, Any]]) -> str:
    """Finish the release and return its digest."""
    test, hidden = (Written(**row) for row in written)
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
