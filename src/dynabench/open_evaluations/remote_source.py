"""Datasets of a hub elsewhere as sources of rows: a job downloads the files of one split, and then they are read here.

No page and no request waits for that hub: they read what is downloaded, and say how far it is.
"""

from sqlalchemy.orm import Session

from dynabench.intake.sources import HubRequest
from dynabench.kit import errors, jobs
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.open_evaluations.choices import OpenChoices
from dynabench.open_evaluations.dataset_cards import read_hints
from dynabench.open_evaluations.hub_source import HubSource, RepositoryFile, count_rows
from dynabench.open_evaluations.remote_downloads import (
    DownloadState,
    RemoteDownload,
    ReportProgress,
    content_path,
    downloaded_bytes,
    find_download,
    run_download,
    touch_download,
    write_download,
)
from dynabench.open_evaluations.row_source import RowSource
from dynabench.people import may
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.rounds.service import record_act

REMOTE = "remote"
REMOTE_PREFIX = f"{REMOTE}:"
JOB = "fetch_remote_rows"


def remote_request(choices: OpenChoices) -> HubRequest:
    """Return what the choices name on a hub elsewhere. Raises `Invalid` under `dataset` or `revision`."""
    name, _at, revision = choices.dataset.removeprefix(REMOTE_PREFIX).partition("@")
    return HubRequest(name, choices.config, choices.split, revision or choices.revision)


def start_download(session: Session, settings: Settings, person: Person, choices: OpenChoices) -> RemoteDownload:
    """Start the download of the chosen dataset, unless it is there or on its way (who may evaluate).

    Raises `Forbidden`, `Unavailable` without a hub, `Invalid` for what is no name of a dataset.
    """
    may.refuse_unless(may.may(person, Action.EVALUATE_OPENLY))
    if not settings.hub_url:
        raise errors.Unavailable(_("This platform calls no hub. Download the dataset and upload its files."))
    request = remote_request(choices)
    download = find_download(settings, request)
    if download is not None and download.state == DownloadState.DONE:
        return download
    if download is not None and download.open and not download.is_stuck():
        job = session.get(jobs.Job, download.job)
        if job is not None and job.cancelled_at is None:
            return download
    job = jobs.enqueue(session, JOB, {"hub": vars(request)}, person.id)
    record_act(session, person, "open_evaluation.fetched", dataset=f"{REMOTE_PREFIX}{request.dataset}")
    return write_download(settings, request, RemoteDownload(request.dataset, job=job.id))


def fetch_chosen(settings: Settings, choices: OpenChoices, report: ReportProgress = lambda done, size: None) -> None:
    """Download the chosen dataset here and now, if it is one of a hub elsewhere. Raises `Problem` with the reason."""
    if choices.dataset.startswith(REMOTE_PREFIX):
        run_download(settings, remote_request(choices), report=report)


def open_remote_dataset(
    session: Session | None, settings: Settings, viewer: Person | None, name: str, choices: OpenChoices
) -> RowSource:
    """Open `OWNER/NAME[@REVISION]` of a hub elsewhere, once it is downloaded. Raises `Invalid` by field."""
    request = remote_request(choices.model_copy(update={"dataset": f"{REMOTE_PREFIX}{name}"}))
    download = find_download(settings, request)
    if download is None or download.state != DownloadState.DONE:
        raise errors.Invalid({"dataset": describe_missing(settings, request, download)})
    touch_download(settings, download)
    hints = read_hints(download.card, download.config)
    files = [
        RepositoryFile(file.path, "", file.digest, file.size, content_path(settings, file)) for file in download.files
    ]
    return HubSource(
        title=download.dataset,
        edition=download.commit,
        rows=count_rows(settings, "", files),
        task=hints.task,
        columns=hints.columns,
        config=download.config,
        split=download.split,
        revision=download.commit,
        configs=download.configs,
        splits=download.splits,
        reference=f"{REMOTE_PREFIX}{download.dataset}",
        link=f"{settings.hub_url.rstrip('/')}/datasets/{download.dataset}/tree/{download.commit}",
        public=True,
        folder="",
        files=files,
        classes=hints.classes,
    )


def describe_missing(settings: Settings, request: HubRequest, download: RemoteDownload | None) -> str:
    """Return why a dataset of a hub elsewhere cannot be read now, and what to do."""
    if download is None:
        return _("%(name)s is not on this platform yet. Fetch it first.", name=request.dataset)
    if download.state == DownloadState.FAILED:
        return download.reason
    return _(
        "%(name)s is being fetched: %(done)s of %(size)s MiB are here.",
        name=request.dataset,
        done=f"{downloaded_bytes(settings, download) / 2**20:.1f}",
        size=f"{download.size / 2**20:.1f}",
    )
