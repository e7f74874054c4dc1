"""Datasets of the platform's hub as data to measure: the files of all splits of a config at one commit."""

from collections.abc import Iterator, Mapping
from typing import Any

from sqlalchemy.orm import Session

from dynabench.hubs import reading, service
from dynabench.hubs.git_store import GitStore, TreeEntry
from dynabench.hubs.problems import RepositoryMissing, RevisionMissing
from dynabench.hubs.tables import HubRepository, RepositoryKind
from dynabench.insight.data_reports.sources import DataSource, Progress
from dynabench.insight.data_reports.subjects import Subject
from dynabench.intake import reader, sources
from dynabench.intake.rows import FileRow
from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.open_evaluations.hub_source import RepositoryFile, check_size, read_card_text, read_files
from dynabench.people.accounts.tables import Person
from dynabench.people.disclosure import shows_repository


class HubDatasets:
    """Datasets of the hub, named `OWNER/NAME[@REVISION][#CONFIG]`, for people who may read the repository."""

    def find(self, session: Session, settings: Settings, viewer: Person | None, name: str) -> Subject:
        """Return the dataset, pinned to a commit. Raises `Invalid`."""
        address, _hash, config = name.strip().partition("#")
        full_name, _at, revision = address.partition("@")
        namespace, _slash, own_name = full_name.partition("/")
        try:
            entry = service.find_entry(session, viewer, RepositoryKind.DATASET, namespace, own_name)
            commit = service.resolve_revision(session, settings, entry, revision or service.MAIN)
        except RepositoryMissing:
            message = _(
                "The hub has no dataset %(name)s that you may read. Check its name.", name=repr(full_name[:140])
            )
            raise errors.Invalid({"data": message}) from None
        except RevisionMissing:
            named = repr(revision[:100])
            message = _("%(name)s has no branch, tag or commit %(revision)s.", name=entry.full_name, revision=named)
            raise errors.Invalid({"data": message}) from None
        store = GitStore.of(settings, entry.row.folder)
        blobs = store.files(commit)
        by_split = sources.find_splits(list(blobs), read_card_text(store, blobs), config)
        split_of = {path: split for split, paths in by_split.items() for path in paths}
        entries = [TreeEntry(path, blobs[path], False) for path in split_of]
        files = [
            (facts.path, facts.entry.revision, facts.large.digest if facts.large else "", facts.size)
            for facts in reading.file_facts(session, store, entry, entries)
        ]
        check_size([RepositoryFile(*file) for file in files])
        return {
            "kind": "hub",
            "name": entry.full_name,
            "repository": entry.row.id,
            "folder": entry.row.folder,
            "digest": f"{commit}{f'#{config}' if config else ''}",
            "files": [[*file, split_of[file[0]]] for file in files],
        }

    def check(self, session: Session, viewer: Person, subject: Mapping[str, Any]) -> None:
        """Raise `NotFound` where the viewer may no longer read the repository."""
        row = session.get(HubRepository, subject["repository"])
        if row is None or not shows_repository(viewer, row):
            raise RepositoryMissing

    def open(self, settings: Settings, subject: Mapping[str, Any]) -> DataSource:
        """Return the rows of all files, each with its split."""
        files = [(RepositoryFile(*file[:4]), file[4]) for file in subject["files"]]
        total = sum(file.size for file, _split in files)

        def rows(tell: Progress) -> Iterator[tuple[FileRow, str]]:
            before = 0
            for file, split in files:
                for number, row in enumerate(read_files(settings, subject["folder"], [file])):
                    yield row, split
                    if number % reader.PROGRESS_ROWS == 0:
                        tell(before, total)
                before += file.size
            tell(total, total)

        return DataSource(subject["name"], subject["digest"], rows)
