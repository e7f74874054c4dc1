"""Releases as pages and the API show them."""

from typing import Any

from sqlalchemy.orm import Session

from dynabench.benchmark.releases import gaps, service
from dynabench.benchmark.releases.checks import ReleaseReport
from dynabench.benchmark.releases.description import bibtex_entry
from dynabench.benchmark.releases.manifest import MANIFEST_NAME, ReleaseFile, ReleaseManifest
from dynabench.benchmark.releases.schemas import ReleaseOut, ReleasePage
from dynabench.benchmark.releases.tables import Release, ReleaseState
from dynabench.collection.tables import WITHHELD
from dynabench.datasets.tables import Dataset, DatasetVersion
from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.people.accounts.tables import Person
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Round


def release_with_gaps(
    session: Session, settings: Settings, address: str, viewer: Person | None, task: str, number: int
) -> ReleaseOut:
    """Return a round's release with the gaps of models; `NotFound` where the viewer may see none.

    `address` is that of the platform, for citations.
    """
    release = service.visible_release(session, viewer, task, number)
    view = release_out(session, address, release, session.get_one(Round, release.round_id))
    return view.model_copy(update={"gaps": gaps.score_gaps(session, settings, viewer, release)})


def release_page(session: Session, address: str, task: str) -> ReleasePage:
    """Return all ready releases of a task, without gaps."""
    return ReleasePage(items=[release_out(session, address, *entry) for entry in service.ready_releases(session, task)])


def release_out(session: Session, address: str, release: Release, round_: Round) -> ReleaseOut:
    """Return the public view of a release; of the hidden part it has the size alone."""
    config = rounds.config_of(session, round_.version_id)
    fields: dict[str, Any] = {
        "task": release.task_id,
        "round": round_.number,
        "state": release.state,
        "reason": release.reason,
        "licence": config.data.licence,
        "rules": release.rules,
        "report": public_report(service.release_report(release)),
        "created_at": release.created_at,
        "released_at": release.released_at,
        "test": _name(session, release.test_id),
        "hidden": _name(session, release.hidden_id),
    }
    if release.state != ReleaseState.READY:
        return ReleaseOut(**fields)
    manifest = ReleaseManifest.model_validate(release.manifest)
    location = f"{address.rstrip('/')}/tasks/{release.task_id}/rounds/{round_.number}/release"
    title = f"{config.name}, round {round_.number}"
    own = ReleaseFile(path=MANIFEST_NAME, bytes=len(manifest.text()), sha256=release.digest)
    return ReleaseOut(
        **fields,
        id=identifier(release.task_id, round_.number, release.digest),
        digest=release.digest,
        canary=manifest.canary,
        files=[*manifest.files, own],
        citation=bibtex_entry(release.task_id, round_.number, title, manifest.closed_at, location, release.digest),
    )


def public_report(report: ReleaseReport | None) -> ReleaseReport | None:
    """Return a report without the answers and writers of the hidden parts."""
    if report is None:
        return None
    public = {
        name: {part: value for part, value in getattr(report, name).items() if part not in WITHHELD}
        for name in ("labels", "writers")
    }
    return report.model_copy(update=public)


def identifier(task: str, number: int, digest: str) -> str:
    """Return a short name that contains the start of the digest."""
    return f"dynabench:{task}.r{number}.{digest[:16]}"


def _name(session: Session, version: int | None) -> str | None:
    dataset_version = session.get(DatasetVersion, version) if version else None
    return session.get_one(Dataset, dataset_version.dataset_id).name if dataset_version else None


def downloadable_release(session: Session, viewer: Person | None, task: str, number: int) -> Release:
    """Return the release whose files the viewer may download: a ready one, to logged-in viewers only if the task has
    a content warning."""
    release = service.visible_release(session, viewer, task, number)
    if release.state != ReleaseState.READY:
        raise errors.Conflict(_("This release is not written yet."))
    if viewer is None and rounds.task_config(session, task).content_warning:
        raise errors.Unauthenticated(_("This task's contents come with a warning. Log in to get the files."))
    return release
