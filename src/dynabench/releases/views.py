"""Releases as pages and the API show them."""

from typing import Any

from sqlalchemy.orm import Session

from dynabench import errors
from dynabench.accounts.tables import Person
from dynabench.collection.released_tables import WITHHELD
from dynabench.datasets.tables import Dataset, DatasetVersion
from dynabench.language import _
from dynabench.releases import gaps, service
from dynabench.releases.checks import ReleaseReport
from dynabench.releases.describing import cited
from dynabench.releases.manifest import NAME, File, Manifest
from dynabench.releases.schemas import ReleaseOut, ReleasePage
from dynabench.releases.tables import Release, ReleaseState
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Round
from dynabench.settings import Settings


def one(
    session: Session, settings: Settings, address: str, viewer: Person | None, task: str, number: int
) -> ReleaseOut:
    """A round's release with the gaps of models; `NotFound` where the viewer may see none.

    `address` is that of the platform, for citations.
    """
    found = service.visible(session, viewer, task, number)
    made = out(session, address, found, session.get_one(Round, found.round_id))
    return made.model_copy(update={"gaps": gaps.gaps(session, settings, viewer, found)})


def page(session: Session, address: str, task: str) -> ReleasePage:
    """All releases of a task that are ready, without gaps."""
    return ReleasePage(items=[out(session, address, *each) for each in service.listed(session, task)])


def out(session: Session, address: str, release: Release, of: Round) -> ReleaseOut:
    """What everybody may know of a release; of the hidden part its size alone."""
    config = rounds.config_of(session, of.version_id)
    known: dict[str, Any] = {
        "task": release.task_id, "round": of.number, "state": release.state, "reason": release.reason,
        "licence": config.data.licence, "rules": release.rules, "report": told(service.report_of(release)),
        "created_at": release.created_at, "released_at": release.released_at,
        "test": _name(session, release.test_id), "hidden": _name(session, release.hidden_id),
    }  # fmt: skip
    if release.state != ReleaseState.READY:
        return ReleaseOut(**known)
    manifest = Manifest.model_validate(release.manifest)
    place = f"{address.rstrip('/')}/tasks/{release.task_id}/rounds/{of.number}/release"
    title = f"{config.name}, round {of.number}"
    own = File(path=NAME, bytes=len(manifest.text()), sha256=release.digest)
    return ReleaseOut(
        **known,
        id=identifier(release.task_id, of.number, release.digest),
        digest=release.digest,
        canary=manifest.canary,
        files=[*manifest.files, own],
        citation=cited(release.task_id, of.number, title, manifest.closed_at, place, release.digest),
    )


def told(report: ReleaseReport | None) -> ReleaseReport | None:
    """A report without what it says of the answers and writers of hidden parts."""
    if report is None:
        return None
    kept = {name: {part: each for part, each in getattr(report, name).items() if part not in WITHHELD}
            for name in ("labels", "writers")}  # fmt: skip
    return report.model_copy(update=kept)


def identifier(task: str, number: int, digest: str) -> str:
    """A short name that fits no other bytes."""
    return f"dynabench:{task}.r{number}.{digest[:16]}"


def _name(session: Session, version: int | None) -> str | None:
    found = session.get(DatasetVersion, version) if version else None
    return session.get_one(Dataset, found.dataset_id).name if found else None


def readable(session: Session, viewer: Person | None, task: str, number: int) -> Release:
    """The release whose files the viewer may have: a ready one, after the task's warning."""
    found = service.visible(session, viewer, task, number)
    if found.state != ReleaseState.READY:
        raise errors.Conflict(_("This release is not written yet."))
    if viewer is None and rounds.task_config(session, task).content_warning:
        raise errors.Unauthenticated(_("This task's contents come with a warning. Log in to get the files."))
    return found
