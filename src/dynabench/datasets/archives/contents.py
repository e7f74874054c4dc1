"""The datasets and files of a task in its archive: written with their rows, checked and stored when read."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from dynabench.datasets import downloads, library, stored
from dynabench.datasets.archives import layout
from dynabench.datasets.archives.layout import Archive, ArchivedDataset, ReadProgress, refusal
from dynabench.datasets.formats import REFERENCE
from dynabench.datasets.imports import files
from dynabench.datasets.intake import cases, service
from dynabench.datasets.intake.rows import ReadItem, RowCleaner
from dynabench.datasets.schemas import DatasetSettings
from dynabench.datasets.stored import StoredRow, WrittenRows
from dynabench.datasets.tables import Dataset, DatasetVersion
from dynabench.intake.rows import BadRow
from dynabench.kit import errors
from dynabench.kit.db import Database, now
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.media import service as media
from dynabench.media.file_formats import UploadRefused
from dynabench.media.store import MediaStore, is_reference
from dynabench.people import disclosure
from dynabench.people.accounts.tables import Person
from dynabench.rounds import service as rounds


def collect_references(parts: Iterable[bytes], digests: set[str]) -> Iterator[bytes]:
    """The parts of a list, of which the files that they show are added to `shown`; `Conflict` for too many."""
    for part in parts:
        digests.update(match.decode() for match in REFERENCE.findall(part))
        if len(digests) > layout.MOST_MEDIA:
            raise errors.Conflict(
                _(
                    "This task shows more than %(most_media)s files, the limit of an archive.",
                    most_media=f"{layout.MOST_MEDIA:,}",
                )
            )
        yield part


def media_contents(settings: Settings, digests: set[str]) -> Iterator[tuple[str, bytes]]:
    """Each file that is still here, by its name in the archive."""
    store = MediaStore.of(settings)
    for digest in sorted(digests):
        try:
            yield layout.media_file(digest), store.read(digest)
        except errors.NotFound:
            continue


def check_files(settings: Settings, archive: Archive, progress: ReadProgress) -> None:
    """Refuse an archive with a file that is not what its name says, or that no upload could be."""
    for name, content in _read_media(settings, archive):
        try:
            media.check_file(settings, content)
        except UploadRefused as problem:
            raise refusal(f"{name}: {problem.detail}") from None
        progress(len(content))


def store_files(
    db: Database, settings: Settings, archive: Archive, task: str, person_id: int | None, progress: ReadProgress
) -> dict[str, str]:
    """Store the files for the task; the digests of those that are kept under another one, by what they were called.

    What is here already stays as it is; others are written anew as uploads are. Twice is as once.
    """
    stored_names = {}
    for name, content in _read_media(settings, archive):
        called = name.rpartition("/")[2]
        digest = files.store_file(db, settings, task, person_id, called, content)
        progress(len(content))
        if digest != called:
            stored_names[called] = digest
    return stored_names


def rename_references(values: Any, stored_names: dict[str, str]) -> Any:
    """Values, however nested, with references to the files as they are kept."""
    if isinstance(values, dict):
        renamed = {name: rename_references(value, stored_names) for name, value in values.items()}
        return (
            renamed | {"media": stored_names.get(renamed["media"], renamed["media"])}
            if is_reference(renamed)
            else renamed
        )
    return [rename_references(value, stored_names) for value in values] if isinstance(values, list) else values


def _read_media(settings: Settings, archive: Archive) -> Iterator[tuple[str, bytes]]:
    most = int(2**20 * max(settings.media_mb, settings.media_audio_mb))
    for name in archive.files:
        if layout.MEDIA.fullmatch(name):
            yield name, archive.content(name, most)


ARCHIVED_KINDS = ("rows", "suite", "pool")
"""Those that come along: what is made of a round can be made of it again, and rows of a hidden part never leave."""
LeftOutRow = tuple[str, int, str]
"""A row that was left out: file, line, reason."""


def public_datasets(session: Session, task: str) -> dict[str, tuple[dict[str, Any], str]]:
    """Return the archive entry of each public dataset and the digest of its rows, by name.

    Raise `Conflict` if the task has more public datasets than an archive can hold.
    """
    conditions = (Dataset.task_id == task, disclosure.datasets_with_rows(Dataset), Dataset.kind.in_(ARCHIVED_KINDS))
    statement = select(Dataset, DatasetVersion).join(DatasetVersion, DatasetVersion.id == Dataset.version_id)
    public = {}
    for dataset, version in session.execute(statement.where(*conditions).order_by(Dataset.id)):
        values = {name: getattr(dataset, name) for name in DatasetSettings.model_fields}
        entry = ArchivedDataset(name=dataset.name, retired=dataset.retired_at is not None, **values)
        public[dataset.name] = (entry.model_dump(mode="json"), version.digest)
    if len(public) > layout.MOST_DATASETS:
        raise errors.Conflict(
            _("An archive holds at most %(most)s datasets; this task has more.", most=layout.MOST_DATASETS)
        )
    return public


def dataset_contents(
    settings: Settings, datasets: Mapping[str, tuple[Any, str]]
) -> Iterator[tuple[str, Iterator[bytes]]]:
    """The rows of each dataset as JSON lines, by their name in the archive."""
    for name, (_entry, digest) in datasets.items():
        yield layout.data_file(name), downloads.dataset_file_parts(settings, digest, "jsonl")


def check_datasets(archive: Archive, progress: ReadProgress) -> None:
    """Read all of them once. Raises `Invalid` for what is none, or has no rows in the archive."""
    expected = set()
    for number, dataset in archive.parts(layout.DATASETS, ArchivedDataset, progress):
        file = layout.data_file(dataset.name)
        valid = file in archive.files and file not in expected and dataset.name not in library.RESERVED_NAMES
        if number > layout.MOST_DATASETS or not valid:
            raise refusal(
                _(
                    "%(name)s, line %(number)s: each dataset needs a unique name and a file of rows.",
                    name=layout.DATASETS,
                    number=number,
                )
            )
        expected.add(file)
        for _row in archive.parts(file, layout.ArchivedRow, progress):
            pass
    if extra := {name for name in archive.files if layout.DATA.fullmatch(name)} - expected:
        raise refusal(_("The manifest and the files do not match: %(value)s.", value=repr(min(extra))))


def store_datasets(
    db: Database,
    settings: Settings,
    archive: Archive,
    task: str,
    person_id: int | None,
    stored_names: dict[str, str],
    progress: ReadProgress = lambda _: None,
) -> list[LeftOutRow]:
    """Add the datasets that the task lacks; the rows that its newest config refuses, and reasons. Twice is as once.

    `kept` is what `files.store` made of the files that rows show. Every dataset has its perturbed copies made anew.
    """
    config = db.read(rounds.newest_config, task)
    left_out = list[LeftOutRow]()
    for _number, dataset in archive.parts(layout.DATASETS, ArchivedDataset):
        if db.read(_has_dataset, task, dataset.name):
            continue
        file = layout.data_file(dataset.name)
        items = _read_rows(archive, file, RowCleaner(config), stored_names, progress)
        bad = list[BadRow]()
        try:
            written = stored.write_rows(
                settings,
                service.accept_rows(
                    service.split_batches(items), service.ReadingProgress(), "any", bad.extend, lambda _: None
                ),
            )
        except errors.Invalid as problem:
            left_out.append((file, 0, problem.detail))
            continue
        left_out += [(file, row.number, row.message) for row in bad]
        db.write(_add_dataset, task, person_id, dataset, written)
    return left_out


def _has_dataset(session: Session, task: str, name: str) -> bool:
    return session.scalar(library.dataset_named(task, name)) is not None


def _read_rows(
    archive: Archive, file: str, cleaner: RowCleaner, stored_names: dict[str, str], progress: ReadProgress
) -> Iterator[ReadItem]:
    for number, row in archive.parts(file, layout.ArchivedRow, progress):
        try:
            inputs, answers = cleaner.row(rename_references(row.inputs, stored_names), row.answers)
            yield StoredRow(cases.read_uid(row.uid), inputs, answers, cases.read_tags(row.tags))
        except errors.Invalid as problem:
            yield BadRow(number, problem.detail, {"uid": row.uid[:200]})


def _add_dataset(
    session: Session, task: str, person_id: int | None, archived: ArchivedDataset, written: WrittenRows
) -> None:
    person = session.get(Person, person_id) if person_id is not None else None
    settled = DatasetSettings.model_validate(archived.model_dump(include=set(DatasetSettings.model_fields)))
    dataset = library.add_dataset(session, person, task, archived.name, settled)
    library.publish_version(session, library.draft_version(session, person, dataset).id, written)
    if archived.retired:
        dataset.retired_at = now()
