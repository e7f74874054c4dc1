"""A release as a durable job."""

from dataclasses import asdict
from typing import Any

from dbos import DBOS

from dynabench import errors, jobs
from dynabench.datasets.stored import Written
from dynabench.releases import making, service
from dynabench.releases.manifest import Manifest
from dynabench.settings import get_settings


@DBOS.step(name="release_round.freeze", retries_allowed=True)
def freeze(release: int) -> str:
    """Divide and freeze the round; why not, or nothing."""
    try:
        making.freeze(jobs.database(), get_settings(), release)
    except errors.Problem as problem:
        jobs.database().write(service.fail, release, problem.detail)
        return problem.detail
    return ""


@DBOS.step(name="release_round.write", retries_allowed=True)
def write(release: int) -> dict[str, Any]:
    """Write the files; what the manifest says."""
    return making.write(jobs.database(), get_settings(), release).model_dump(mode="json")


@DBOS.step(name="release_round.rows", retries_allowed=True)
def rows(release: int) -> list[dict[str, Any]]:
    """Store the rows that models are scored on."""
    return [asdict(each) for each in making.datasets(jobs.database(), get_settings(), release)]


@DBOS.step(name="release_round.finish", retries_allowed=True)
def finish(release: int, made: dict[str, Any], written: list[dict[str, Any]]) -> str:
    """Let it stand; its digest."""
    test, hidden = (Written(**each) for each in written)
    return jobs.database().write(service.finish, release, Manifest.model_validate(made), test, hidden).digest


def release_round(payload: dict[str, Any]) -> dict[str, Any]:
    """The workflow: `payload` names the `release`. The result has its digest, or the problem."""
    release, steps = int(payload["release"]), 4

    def told(done: int, what: str) -> None:
        DBOS.set_event("progress", {"done": done, "of": steps, "what": what})

    told(0, "Dividing the examples")
    if problem := freeze(release):
        return {"problem": problem}
    told(1, "Writing the files")
    made = write(release)
    told(2, "Storing the rows that models are tested on")
    written = rows(release)
    told(3, "Asking for evaluations")
    return {"digest": finish(release, made, written)}
