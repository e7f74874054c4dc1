"""Repositories of the hub, made as their owners make them."""

import base64
import json

from dynabench.hubs import commits, service
from dynabench.hubs.commits import CommitReader
from dynabench.hubs.git_store import GitStore
from dynabench.hubs.tables import RepositoryKind
from tests.open_evaluations.conftest import Desk


def add_dataset(desk: Desk, name: str, files: dict[str, bytes], private: bool = False) -> str:
    """A dataset of the desk's person on the hub; what names it as a source."""

    entry = desk.database.write(
        lambda s: service.create_repository(
            s, desk.settings, desk.someone(s), RepositoryKind.DATASET, name, private=private
        )
    )
    add_commit(desk, entry, files)
    return f"hub:{entry.full_name}"


def add_commit(desk: Desk, entry: service.HubEntry, files: dict[str, bytes]) -> str:
    """Commit files to the branch main; the hash of the commit."""
    reader = CommitReader(GitStore.of(desk.settings, entry.row.folder))
    reader.feed(json.dumps({"key": "header", "value": {"summary": "Add files"}}).encode() + b"\n")
    for path, content in files.items():
        value = {"path": path, "content": base64.b64encode(content).decode(), "encoding": "base64"}
        reader.feed(json.dumps({"key": "file", "value": value}).encode() + b"\n")
    person = desk.database.read(desk.someone)
    return commits.commit_changes(desk.database, desk.settings, person, entry, "main", reader.end()).revision


def dataset_entry(desk: Desk, source: str) -> service.HubEntry:
    """The repository that a source names."""
    namespace, _slash, name = source.removeprefix("hub:").partition("/")
    return desk.database.read(lambda s: service.find_entry(s, desk.someone(s), RepositoryKind.DATASET, namespace, name))
