"""The files that an archive's rows show: written after the rows, checked and stored before them."""

from collections.abc import Iterable, Iterator
from typing import Any

from dynabench.datasets.archives import layout
from dynabench.datasets.archives.reading import Archive, Told, refuse
from dynabench.datasets.imports import files
from dynabench.datasets.with_files import REFERENCE
from dynabench.kit import errors
from dynabench.kit.db import Database
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.media.file_formats import UploadRefused
from dynabench.media.store import MediaStore, is_reference


def noted(parts: Iterable[bytes], shown: set[str]) -> Iterator[bytes]:
    """The parts of a list, of which the files that they show are added to `shown`; `Conflict` for too many."""
    for part in parts:
        shown.update(found.decode() for found in REFERENCE.findall(part))
        if len(shown) > layout.MOST_MEDIA:
            raise errors.Conflict(
                _(
                    "This task shows more than %(most_media)s files; an archive holds no more.",
                    most_media=f"{layout.MOST_MEDIA:,}",
                )
            )
        yield part


def contents(settings: Settings, shown: set[str]) -> Iterator[tuple[str, bytes]]:
    """Each file that is still here, by its name in the archive."""
    store = MediaStore.of(settings)
    for digest in sorted(shown):
        try:
            yield layout.media_file(digest), store.read(digest)
        except errors.NotFound:
            continue


def check(settings: Settings, archive: Archive, told: Told) -> None:
    """Refuse an archive with a file that is not what its name says, or that no upload could be."""
    for name, content in _read(settings, archive):
        try:
            files.checked(settings, content)
        except UploadRefused as problem:
            raise refuse(f"{name}: {problem.told}") from None
        told(len(content))


def store(
    db: Database, settings: Settings, archive: Archive, task: str, person_id: int | None, told: Told
) -> dict[str, str]:
    """Store the files for the task; the digests of those that are kept under another one, by what they were called.

    What is here already stays as it is; others are written anew as uploads are. Twice is as once.
    """
    kept = {}
    for name, content in _read(settings, archive):
        called = name.rpartition("/")[2]
        digest = files.kept(db, settings, task, person_id, called, content)
        told(len(content))
        if digest != called:
            kept[called] = digest
    return kept


def renamed(values: Any, kept: dict[str, str]) -> Any:
    """Values, however nested, with references to the files as they are kept."""
    if isinstance(values, dict):
        made = {name: renamed(value, kept) for name, value in values.items()}
        return made | {"media": kept.get(made["media"], made["media"])} if is_reference(made) else made
    return [renamed(value, kept) for value in values] if isinstance(values, list) else values


def _read(settings: Settings, archive: Archive) -> Iterator[tuple[str, bytes]]:
    most = int(2**20 * max(settings.media_mb, settings.media_audio_mb))
    for name in archive.files:
        if layout.MEDIA.fullmatch(name):
            yield name, archive.content(name, most)
