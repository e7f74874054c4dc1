"""Downloads of datasets of a hub elsewhere: a document for each wish, and contents by their hash, for a month.

The folder is a cache: everything in it can be downloaded again. A document says which files of which commit are meant,
and how far the download is; the job that downloads writes it.
"""

import hashlib
import json
import os
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from dynabench.intake import sources
from dynabench.intake.sources import HubRequest
from dynabench.kit import errors
from dynabench.kit.disk import require_disk_room
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.open_evaluations.dataset_cards import read_hints
from dynabench.open_evaluations.hub_source import RepositoryFile, check_size, choose_split, find_splits
from dynabench.open_evaluations.remote_hub import RemoteFile, RemoteHub

KEPT_DAYS = 30
"""Days that contents stay after their last use."""
USED_DAYS = 1
"""Days in which contents are not erased to make room."""
MOST_BYTES = 16 * 1024**3
"""Bytes of all downloads."""
FRESH_SECONDS = 3600.0
"""Seconds for which a branch names the commit that it named at the download."""
STUCK_SECONDS = 6 * 3600.0
ReportProgress = Callable[[int, int], object]
"""Called with the bytes that are there and those of all files."""


class DownloadState(StrEnum):
    """States of a download; the last two are final."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True)
class RemoteDownload:
    """The download of one split of a dataset at one commit; `reason` says why it failed.

    `changed_at` are seconds since 1970, `job` is what downloads.
    """

    dataset: str
    config: str = ""
    split: str = ""
    commit: str = ""
    state: DownloadState = DownloadState.QUEUED
    reason: str = ""
    job: str = ""
    changed_at: float = 0.0
    card: str = ""
    configs: list[str] = field(default_factory=list)
    splits: list[str] = field(default_factory=list)
    files: list[RemoteFile] = field(default_factory=list)

    @property
    def size(self) -> int:
        """The bytes of all files."""
        return sum(file.size for file in self.files)

    @property
    def open(self) -> bool:
        """True while it goes on."""
        return self.state in (DownloadState.QUEUED, DownloadState.RUNNING)

    def is_stuck(self) -> bool:
        """Return whether it has said that it goes on for longer than a download takes."""
        return self.open and time.time() - self.changed_at > STUCK_SECONDS


def downloads_folder(settings: Settings) -> Path:
    """Return the folder of downloads."""
    folder = settings.folder / "open-evaluations" / "remote"
    for name in ("wishes", "contents"):
        (folder / name).mkdir(parents=True, exist_ok=True, mode=0o700)
    return folder


def content_path(settings: Settings, file: RemoteFile) -> Path:
    """Return where the content of a file is stored."""
    return downloads_folder(settings) / "contents" / file.stored_name


def _wish_path(settings: Settings, request: HubRequest) -> Path:
    named = json.dumps([settings.hub_url.rstrip("/"), request.dataset, request.config, request.split, request.revision])
    return downloads_folder(settings) / "wishes" / f"{hashlib.sha256(named.encode()).hexdigest()}.json"


def write_download(settings: Settings, request: HubRequest, download: RemoteDownload) -> RemoteDownload:
    """Store how a download goes, at once or not at all."""
    stamped = replace(download, changed_at=time.time())
    path = _wish_path(settings, request)
    draft = path.with_name(f".{path.stem}-{os.getpid()}-{time.monotonic_ns()}")
    draft.write_text(json.dumps(asdict(stamped)), encoding="utf-8")
    draft.replace(path)
    return stamped


def find_download(settings: Settings, request: HubRequest) -> RemoteDownload | None:
    """Return the download of a wish; None where there is none, or a part of it was erased."""
    try:
        values = json.loads(_wish_path(settings, request).read_text(encoding="utf-8"))
        files = [RemoteFile(**file) for file in values.pop("files")]
        download = RemoteDownload(**values | {"files": files, "state": DownloadState(values["state"])})
    except (OSError, ValueError, TypeError, KeyError):
        return None
    if download.state == DownloadState.DONE:
        pinned = request.revision == download.commit
        if not pinned and time.time() - download.changed_at > FRESH_SECONDS:
            return None
        if any(stored_bytes(settings, file) != file.size for file in download.files):
            return None
    return download


def stored_bytes(settings: Settings, file: RemoteFile) -> int:
    """Return how many bytes of a file are there."""
    path = content_path(settings, file)
    for place in (path, path.with_name(f"{path.name}.part")):
        try:
            return place.stat().st_size
        except OSError:
            continue
    return 0


def downloaded_bytes(settings: Settings, download: RemoteDownload) -> int:
    """Return how many bytes of a download are there."""
    return sum(stored_bytes(settings, file) for file in download.files)


def run_download(
    settings: Settings, request: HubRequest, job: str = "", report: ReportProgress = lambda done, size: None
) -> RemoteDownload:
    """Download what a request names, unless it is there; return it.

    Raises `Problem` where that cannot be, after the reason is stored. A download that was cut off goes on.
    """
    stored = find_download(settings, request)
    if stored is not None and stored.state == DownloadState.DONE:
        return stored
    download = write_download(settings, request, RemoteDownload(request.dataset, job=job, state=DownloadState.RUNNING))
    hub = None
    try:
        hub = RemoteHub(settings)
        download = replace(_choose(hub, request), job=job, state=DownloadState.RUNNING)
        write_download(settings, request, download)
        make_room(settings, download)
        _fetch_files(settings, hub, download, report)
    except Exception as problem:
        write_download(settings, request, replace(download, state=DownloadState.FAILED, reason=_reason(problem)))
        raise
    finally:
        if hub is not None:
            hub.close()
    download = replace(download, state=DownloadState.DONE)
    pinned = HubRequest(request.dataset, download.config, download.split, download.commit)
    write_download(settings, pinned, download)
    return write_download(settings, request, download)


def _reason(problem: Exception) -> str:
    if not isinstance(problem, errors.Problem):
        return f"{type(problem).__name__}: {problem}"[:500]
    fields: dict[str, str] = problem.extra.get("fields") or {}
    return "; ".join(fields.values()) or problem.detail


def _choose(hub: RemoteHub, request: HubRequest) -> RemoteDownload:
    """Choose the files of the split, by the card. Raises `Invalid` for what cannot be chosen or is too large."""
    commit = hub.find_commit(request.dataset, request.revision)
    files = hub.list_files(request.dataset, commit)
    described = files.get(sources.CARD)
    small = described is not None and described.size <= sources.CARD_BYTES
    text = hub.read_small(request.dataset, commit, described).decode("utf-8", "replace") if described and small else ""
    configs = list(sources.card_configs(text))
    config = request.config or (configs[0] if configs else "")
    if configs and config not in configs:
        raise errors.Invalid({"config": _("Choose one of %(value)s.", value=", ".join(sorted(configs)[:30]))})
    try:
        by_split = find_splits(list(files), text, config)
    except errors.Invalid as problem:
        why = "; ".join(problem.fields.values())
        hint = _("The hub may have its rows as Parquet: try the revision refs/convert/parquet.")
        scripted = any(path.endswith(".py") for path in files)
        raise errors.Invalid({"dataset": f"{why} {hint}" if scripted else why}) from None
    split, refusal = choose_split(by_split, request.split, read_hints(text, config))
    if refusal:
        raise errors.Invalid({"split": refusal})
    chosen = [files[path] for path in by_split[split]]
    check_size([RepositoryFile(file.path, "", "", file.size) for file in chosen])
    return RemoteDownload(
        request.dataset, config if configs or request.config else "", split, commit, card=text, configs=configs,
        splits=[name for name in by_split if name], files=chosen,
    )  # fmt: skip


def _fetch_files(settings: Settings, hub: RemoteHub, download: RemoteDownload, report: ReportProgress) -> None:
    before = 0
    for file in download.files:
        target = content_path(settings, file)

        def report_bytes(done: int, before: int = before) -> None:
            report(before + done, download.size)

        if not target.is_file():
            hub.download(download.dataset, download.commit, file, target, report_bytes)
        target.touch()
        before += file.size
        report(before, download.size)


def make_room(settings: Settings, download: RemoteDownload) -> None:
    """Erase contents that were not used of late until a download fits. Raises `NoRoom` where it does not."""
    needed = download.size - downloaded_bytes(settings, download)
    require_disk_room(settings, max(needed, 0))
    own_names = {content_path(settings, file).name for file in download.files}
    stored = sorted(_contents(settings), key=lambda entry: entry[1])
    free = MOST_BYTES - sum(size for _path, _used_at, size in stored)
    for path, used_at, size in stored:
        if free >= needed or time.time() - used_at < USED_DAYS * 24 * 3600:
            break
        if path.name.removesuffix(".part") not in own_names:
            path.unlink(missing_ok=True)
            free += size
    if free < needed:
        raise errors.NoRoom(_("Many datasets of other hubs were used today, and their place is full. Try it tomorrow."))


def _contents(settings: Settings) -> list[tuple[Path, float, int]]:
    """The stored contents with the moments of their last use and their sizes."""
    entries = []
    for path in (downloads_folder(settings) / "contents").iterdir():
        try:
            facts = path.stat()
        except OSError:  # another process erased it
            continue
        entries.append((path, facts.st_mtime, facts.st_size))
    return entries


def touch_download(settings: Settings, download: RemoteDownload) -> None:
    """Note that a download is used, so that its contents stay."""
    for file in download.files:
        path = content_path(settings, file)
        if path.is_file():
            path.touch()


def erase_old_downloads(settings: Settings) -> None:
    """Erase contents and wishes that nobody used for a month."""
    oldest = time.time() - KEPT_DAYS * 24 * 3600
    paths = [path for path, used_at, _size in _contents(settings) if used_at < oldest]
    wishes = (downloads_folder(settings) / "wishes").iterdir()
    paths += [path for path in wishes if path.is_file() and path.stat().st_mtime < oldest]
    for path in paths:
        path.unlink(missing_ok=True)


def download_document(settings: Settings, download: RemoteDownload) -> dict[str, Any]:
    """Return the facts of a download for its readers."""
    return {
        "dataset": f"remote:{download.dataset}",
        "state": download.state,
        "open": download.open,
        "reason": download.reason,
        "bytes": download.size,
        "downloaded": min(downloaded_bytes(settings, download), download.size),
        "config": download.config,
        "split": download.split,
        "revision": download.commit,
        "configs": download.configs,
        "splits": download.splits,
    }
