"""Datasets of the platform's own hub as sources of rows: the files of one split at one commit."""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from sqlalchemy.orm import Session

from dynabench.hubs import reading, service
from dynabench.hubs.file_store import HubFileStore
from dynabench.hubs.git_store import GitStore, TreeEntry
from dynabench.hubs.problems import RepositoryMissing, RevisionMissing
from dynabench.hubs.service import HubEntry
from dynabench.hubs.tables import RepositoryKind
from dynabench.intake import reader, sources
from dynabench.intake.rows import FileRow
from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.open_evaluations import picture_folders, picture_metadata
from dynabench.open_evaluations.choices import OpenChoices
from dynabench.open_evaluations.dataset_cards import DatasetHints, read_hints
from dynabench.open_evaluations.multiple_choice import UnfitValue
from dynabench.open_evaluations.row_source import ClassNames, RowSource
from dynabench.people.accounts.tables import Person
from dynabench.people.disclosure import shows_repository

EVALUATED_SPLITS = ("test", "validation", "", "train")
"""Splits from the one that models are usually evaluated on to the one that they are trained on."""
COUNTED_BYTES = 4 * 1024**2
"""Bytes of files whose rows are counted before the evaluation."""


@dataclass(frozen=True)
class RepositoryFile:
    """A file at a commit: its path, its hash in git, and the SHA-256 of its content where it is a large file.

    `place` is where the content lies, of a file that is not of the platform's hub.
    """

    path: str
    blob: str
    digest: str
    size: int
    place: Path | None = None


@dataclass(frozen=True, kw_only=True)
class HubSource(RowSource):
    """The files of one split of a repository of the hub; `folder` is its git repository, `classes` the card's."""

    folder: str
    files: Sequence[RepositoryFile]
    classes: ClassNames = field(default_factory=dict)

    def read_rows(self, settings: Settings) -> Iterator[FileRow]:
        """Yield the rows of all files, numbered through."""
        yield from read_files(settings, self.folder, self.files)

    def class_names(self, settings: Settings) -> ClassNames:
        """Return the names of classes: of folders of pictures, of the card, of a Parquet file."""
        pictures = [file.path for file in self.files if picture_metadata.is_picture(file.path)]
        if pictures and len(pictures) < len(self.files):
            return self.classes
        if pictures:
            return {"label": sorted({PurePosixPath(path).parent.name for path in pictures})}
        parquet = next((file for file in self.files if file.path.lower().endswith(".parquet")), None)
        if parquet is None:
            return self.classes
        with _on_disk(settings, self.folder, parquet) as path:
            return dict(self.classes) | reader.read_class_names(path)


@dataclass(frozen=True)
class RepositoryPicture(picture_folders.StoredPicture):
    """A picture in a repository."""

    settings: Settings
    folder: str
    file: RepositoryFile

    def read(self) -> bytes:
        """Return its bytes; raises `UnfitValue` for a large file that is gone, or one that is too large."""
        if self.file.size > picture_folders.MOST_BYTES:
            raise UnfitValue(_("%(name)s is larger than 20 MiB.", name=self.file.path[-100:]))
        try:
            with _on_disk(self.settings, self.folder, self.file) as path:
                return path.read_bytes()
        except errors.Invalid as problem:
            raise UnfitValue("; ".join(problem.fields.values())) from None


def read_files(settings: Settings, folder: str, files: Sequence[RepositoryFile]) -> Iterator[FileRow]:
    """Yield the rows of files of a repository, numbered through.

    A picture is a row with its folder as the label, unless tables beside the pictures describe them.
    """
    pictures = {
        file.path: RepositoryPicture(settings, folder, file) for file in files if picture_metadata.is_picture(file.path)
    }
    tables = [file for file in files if file.path not in pictures]
    if pictures and tables:
        rows = ((file.path, _table_rows(settings, folder, file)) for file in tables)
        yield from picture_metadata.describe_pictures(rows, pictures, [file.path for file in files])
        return
    for number, (path, picture) in enumerate(pictures.items(), start=1):
        yield FileRow(number, {"image": picture, "label": PurePosixPath(path).parent.name, "file": path})
    number = 0
    for file in tables:
        for row in _table_rows(settings, folder, file):
            number += 1
            yield row._replace(number=number)


def _table_rows(settings: Settings, folder: str, file: RepositoryFile) -> Iterator[FileRow]:
    with _on_disk(settings, folder, file) as path:
        yield from reader.read_rows(path, PurePosixPath(file.path).name)


@contextmanager
def _on_disk(settings: Settings, folder: str, file: RepositoryFile) -> Iterator[Path]:
    """Give the path of a file's content: a large file's own, or a copy of what git keeps."""
    if file.place is not None:
        if not file.place.is_file():
            raise errors.Invalid({"dataset": _("The download of %(name)s was erased. Fetch it again.", name=file.path)})
        yield file.place
        return
    if file.digest:
        path = HubFileStore.of(settings).path(file.digest)
        if not path.is_file():
            raise errors.Invalid({"dataset": _("The file %(name)s is gone from the hub.", name=file.path)})
        yield path
        return
    with tempfile.NamedTemporaryFile(prefix="hub-file-") as copy:
        copy.write(GitStore.of(settings, folder).blob(file.blob))
        copy.flush()
        yield Path(copy.name)


def open_hub_dataset(
    session: Session, settings: Settings, viewer: Person, name: str, choices: OpenChoices
) -> RowSource:
    """Open `OWNER/NAME[@REVISION]` of the platform's hub at one commit, for a person who may read the repository.

    Raises `Invalid` by field.
    """
    full_name, _at, revision = name.partition("@")
    namespace, _slash, own_name = full_name.partition("/")
    try:
        entry = service.find_entry(session, viewer, RepositoryKind.DATASET, namespace, own_name)
        commit = service.resolve_revision(session, settings, entry, revision or choices.revision or service.MAIN)
    except RepositoryMissing:
        message = _("The hub has no dataset %(name)s that you may read. Check its name.", name=repr(full_name[:140]))
        raise errors.Invalid({"dataset": message}) from None
    except RevisionMissing:
        named = repr((revision or choices.revision)[:100])
        message = _("%(name)s has no branch, tag or commit %(revision)s.", name=entry.full_name, revision=named)
        raise errors.Invalid({"dataset": message}) from None
    return _open_commit(session, settings, entry, commit, choices)


def _open_commit(session: Session, settings: Settings, entry: HubEntry, commit: str, choices: OpenChoices) -> HubSource:
    store = GitStore.of(settings, entry.row.folder)
    blobs = store.files(commit)
    card = read_card_text(store, blobs)
    configs = list(sources.card_configs(card))
    problems: dict[str, str] = {}
    config = choices.config
    if config and configs and config not in configs:
        problems["config"] = _("Choose one of %(value)s.", value=", ".join(sorted(configs)[:30]))
        config = ""
    config = config or (configs[0] if configs else "")
    try:
        by_split = find_splits(list(blobs), card, config)
    except errors.Invalid as problem:
        raise errors.Invalid({"dataset": "; ".join(problem.fields.values())}) from None
    hints = read_hints(card, config)
    split, refusal = choose_split(by_split, choices.split, hints)
    if refusal:
        problems["split"] = refusal
    entries = [TreeEntry(path, blobs[path], False) for path in by_split[split]]
    files = [
        RepositoryFile(facts.path, facts.entry.revision, facts.large.digest if facts.large else "", facts.size)
        for facts in reading.file_facts(session, store, entry, entries)
    ]
    check_size(files)
    return HubSource(
        title=entry.full_name,
        edition=commit,
        rows=count_rows(settings, entry.row.folder, files),
        task=hints.task,
        columns=hints.columns,
        config=config if configs or choices.config else "",
        split=split,
        revision=commit,
        configs=configs,
        splits=[name for name in by_split if name],
        reference=f"hub:{entry.full_name}",
        link=f"/hub/datasets/{entry.full_name}",
        public=shows_repository(None, entry.row),
        problems=problems,
        folder=entry.row.folder,
        files=files,
        classes=hints.classes,
    )


def read_card_text(store: GitStore, blobs: Mapping[str, str]) -> str:
    """Return the README.md of a commit; empty where there is none, or one that is too long to be a card."""
    blob = blobs.get(sources.CARD, "")
    if not blob or store.blob_head(blob).size > sources.CARD_BYTES:
        return ""
    return store.blob(blob).decode("utf-8", "replace")


def find_splits(names: Sequence[str], card: str, config: str) -> dict[str, list[str]]:
    """Return the files by split: pictures with the tables that describe them, files of rows, or pictures in folders.

    Raises `Invalid`.
    """
    pictures = sorted(name for name in names if picture_metadata.is_picture(name))
    if pictures and any(picture_metadata.is_metadata(name) for name in names):
        return picture_metadata.find_splits(names, card, config)
    try:
        return sources.find_splits(names, card, config)
    except errors.Invalid:
        labelled = [name for name in pictures if "/" in name]
        if not labelled:
            raise
        return sources.group_files(labelled, card, config)


def choose_split(by_split: Mapping[str, Any], chosen: str, hints: DatasetHints) -> tuple[str, str]:
    """Return the split to evaluate on, and what is wrong with the chosen one; empty where nothing is."""
    if chosen in by_split and chosen:
        return chosen, ""
    usual = [hints.split, *EVALUATED_SPLITS]
    split = next((name for name in usual if name in by_split), next(iter(by_split)))
    if not chosen:
        return split, ""
    return split, _("Choose one of %(value)s.", value=", ".join(sorted(filter(None, by_split))[:30]) or _("all rows"))


def check_size(files: Sequence[RepositoryFile]) -> None:
    """Raise `Invalid` for more files or bytes than one evaluation reads."""
    pictures = any(picture_metadata.is_picture(file.path) for file in files)
    most_files = sources.MOST_ENTRIES if pictures else sources.MOST_FILES
    if len(files) > most_files or sum(file.size for file in files) > sources.MOST_BYTES:
        message = _(
            "The split has more than %(most_files)s files or 1 GiB. Choose a smaller one.", most_files=most_files
        )
        raise errors.Invalid({"dataset": message})


def count_rows(settings: Settings, folder: str, files: Sequence[RepositoryFile]) -> int | None:
    """Count the rows of files where that is quick; None elsewhere."""
    if all(picture_metadata.is_picture(file.path) for file in files):
        return len(files)
    if all(file.path.lower().endswith(".parquet") for file in files):
        return sum(_parquet_rows(settings, folder, file) for file in files)
    if sum(file.size for file in files if not picture_metadata.is_picture(file.path)) > COUNTED_BYTES:
        return None
    try:
        return sum(row.values is not None for row in read_files(settings, folder, files))
    except errors.Invalid:  # the preview of the rows says why
        return None


def _parquet_rows(settings: Settings, folder: str, file: RepositoryFile) -> int:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with _on_disk(settings, folder, file) as path:
        try:
            return int(pq.read_metadata(path).num_rows)
        except (pa.ArrowException, OSError, ValueError):
            return 0
