"""Published modules of the platform's own hub: their files at a commit, and a computation in the sandbox."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sqlalchemy.orm import Session

from dynabench.hubs import reading
from dynabench.hubs import service as hubs
from dynabench.hubs.file_store import HubFileStore
from dynabench.hubs.git_store import GitStore
from dynabench.hubs.service import HubEntry
from dynabench.hubs.tables import RepositoryKind
from dynabench.kit.errors import Invalid, Unavailable
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.models.sandbox.box import HandlerOptions
from dynabench.people.accounts.tables import Person
from dynabench.published_modules.manifest import ModuleManifest
from dynabench.published_modules.repositories import (
    MOST_BYTES,
    MOST_FILES,
    README,
    is_module_file,
    is_safe_path,
    manifest_of,
)
from dynabench.published_modules.sandboxed import sandbox_module

LIMITS = HandlerOptions(
    memory_mb=1024, disk_mb=16, processors=1, processes=8, open_files=128, predict_seconds=8.0, load_seconds=20.0
)
"""What a computation for a visitor may take; see `HandlerOptions`."""
PARALLEL, MOST_WAITING, WAIT_SECONDS = 2, 8, 15.0
"""Computations at the same time, those that may wait, and how long."""
COMPUTE_LIMIT = ("compute published modules", 20, 60.0)
"""Requests of a person or an address in so many seconds."""
_running = threading.BoundedSemaphore(PARALLEL)
_waiting = threading.BoundedSemaphore(MOST_WAITING)


@dataclass(frozen=True)
class PublishedModule:
    """A repository of a module at a commit. `fault` says why it declares no module; then there is no `manifest`."""

    entry: HubEntry
    revision: str
    files: dict[str, bytes]
    manifest: ModuleManifest | None
    fault: str = ""


def find_module(
    session: Session, settings: Settings, viewer: Person | None, namespace: str, name: str, revision: str
) -> PublishedModule:
    """Return the module of a repository that a viewer sees. Raises `RepositoryMissing` and `RevisionMissing`."""
    entry = hubs.find_entry(session, viewer, RepositoryKind.EVALUATION, namespace, name)
    commit = hubs.resolve_revision(session, settings, entry, revision)
    try:
        files = _read_files(session, settings, entry, commit)
        manifest = manifest_of(files.get(README, b""), entry.full_name)
        if manifest.file not in files:
            raise ValueError(f"{entry.full_name} has no file {manifest.file}, which its README.md names")
    except ValueError as error:
        return PublishedModule(entry, commit, {}, None, str(error))
    return PublishedModule(entry, commit, files, manifest)


def _read_files(session: Session, settings: Settings, entry: HubEntry, commit: str) -> dict[str, bytes]:
    """Return the files of a module, within its limits. Raises ValueError for one that is too large."""
    store = GitStore.of(settings, entry.row.folder)
    root = store.find(commit, "")
    assert root is not None
    facts = reading.file_facts(session, store, entry, list(_entries(store, root)))
    chosen = [fact for fact in facts if is_module_file(fact.path, fact.size) and is_safe_path(fact.path)]
    if len(chosen) > MOST_FILES or sum(fact.size for fact in chosen) > MOST_BYTES:
        raise ValueError(f"a module has at most {MOST_FILES} files and {MOST_BYTES >> 20} MiB")
    large = HubFileStore.of(settings)
    return {
        fact.path: large.path(fact.large.digest).read_bytes() if fact.large else store.blob(fact.entry.revision)
        for fact in chosen
    }


def _entries(store: GitStore, root: Any) -> Iterator[Any]:
    for number, item in enumerate(store.entries(root, recursive=True)):
        if number > MOST_FILES * 5:
            raise ValueError(f"a module has at most {MOST_FILES} files")
        if not item.folder:
            yield item


def compute_module(
    module: PublishedModule, config: str | None, columns: Mapping[str, Any], options: Mapping[str, Any]
) -> dict[str, Any]:
    """Return what a module computes, in a process of this request alone, so that no rows reach another visitor.

    Raises `Invalid` under the field "" for what the module refuses and for what goes wrong in it, and `Unavailable`
    where many computations run.
    """
    if module.manifest is None:
        raise Invalid({"": module.fault})
    with _turn():
        try:
            with sandbox_module(module.manifest, module.files, config, limits=LIMITS) as sandboxed:
                result: dict[str, Any] = sandboxed.compute(**columns, **options)
                return result
        except (ValueError, TypeError) as error:
            raise Invalid({"": str(error)[:2000]}) from None


@contextmanager
def _turn() -> Iterator[None]:
    """Wait for one of the places of computations. Raises `Unavailable`."""
    message = _("Many computations are running. Try again in a few seconds.")
    if not _waiting.acquire(blocking=False):
        raise Unavailable(message, 5)
    try:
        if not _running.acquire(timeout=WAIT_SECONDS):
            raise Unavailable(message, 5)
    finally:
        _waiting.release()
    try:
        yield
    finally:
        _running.release()
