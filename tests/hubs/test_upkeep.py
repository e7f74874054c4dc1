"""Upkeep of repositories: pruning, notices, one's own data, backups, a full disk."""

import hashlib
import os
import shutil
import time
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from dynabench.hubs import commits, discussions, merging, pruning, service, uploads
from dynabench.hubs.commits import CommitReader
from dynabench.hubs.file_store import HubFileStore, LargeFile
from dynabench.hubs.git_store import GitStore
from dynabench.hubs.service import HubEntry
from dynabench.hubs.tables import HubFileUse, HubRepository, ReferenceKind, RepositoryKind
from dynabench.hubs.uploads import UploadTicket
from dynabench.kit.db import Database
from dynabench.kit.errors import NoRoom
from dynabench.kit.settings import Settings
from dynabench.operations.backups import file_check
from dynabench.people.accounts import service as accounts
from dynabench.people.accounts.rules import Newcomer
from dynabench.people.accounts.tables import Notice, Person
from tests.hubs.test_trouble import file_line, lines


def person(database: Database, name: str) -> Person:
    newcomer = Newcomer(name, f"{name}@example.org", "")
    return database.write(lambda session: accounts.register_account(session, newcomer, ""))


@pytest.fixture
def ada(database: Database) -> Person:
    return person(database, "ada")


@pytest.fixture
def entry(database: Database, settings: Settings, ada: Person) -> HubEntry:
    return database.write(service.create_repository, settings, ada, RepositoryKind.MODEL, "kept")


def commit(database: Database, settings: Settings, sender: Person, entry: HubEntry, body: bytes, branch: str) -> Any:
    reader = CommitReader(GitStore.of(settings, entry.row.folder))
    reader.feed(body)
    return commits.commit_changes(database, settings, sender, entry, branch, reader.end())


def upload(database: Database, settings: Settings, sender: Person, entry: HubEntry, content: bytes) -> str:
    digest = hashlib.sha256(content).hexdigest()
    ticket = UploadTicket("upload", entry.row.id, sender.id, digest, len(content), uploads.new_end())
    incoming = uploads.receive(settings, ticket)
    incoming.add(content)
    uploads.keep_file(database, settings, ticket, incoming)
    return digest


def age(store: GitStore, hours: float) -> None:
    moment = time.time() - hours * 3600
    for path in [*store.objects.glob("??/*"), store.folder / "packed-refs"]:
        os.utime(path, (moment, moment))


def test_what_no_revision_reaches_is_deleted_and_nothing_else(database, settings, ada, entry):
    store = GitStore.of(settings, entry.row.folder)
    digest = upload(database, settings, ada, entry, b"large" * 1000)
    reference = ("lfsFile", {"path": "w.bin", "algo": "sha256", "oid": digest, "size": 5000})
    main = commit(database, settings, ada, entry, lines(file_line("a.txt")), "main").revision
    database.write(service.create_reference, settings, ada, entry, ReferenceKind.BRANCH, "draft", "main")
    lost = commit(database, settings, ada, entry, lines(file_line("b.txt", b"b" * 5000), reference), "draft").revision
    before = database.read(lambda session: session.get_one(HubRepository, entry.row.id).git_bytes)
    database.write(service.delete_reference, ada, entry, ReferenceKind.BRANCH, "draft")
    store.mirror_references(database.read(service.full_references, entry.row.id))
    pruning.prune_repositories(database, settings)
    assert store.has_commit(lost), "what is younger than a day stays"
    age(store, 30)
    (store.folder / "pruned").unlink()
    pruning.prune_repositories(database, settings)
    assert not store.has_commit(lost)
    assert set(store.files(main)) == {".gitattributes", "a.txt"}
    row = database.read(lambda session: session.get_one(HubRepository, entry.row.id))
    assert row.git_bytes < before
    assert not database.read(lambda session: session.scalars(select(HubFileUse)).all()), "the quota is free again"
    assert commit(database, settings, ada, entry, lines(file_line("b.txt", b"b" * 5000)), "main").revision
    assert set(store.reachable([main])) <= {path.parent.name + path.name for path in store.objects.glob("??/*")}


def test_an_object_that_is_written_again_is_not_deleted(database, settings, ada, entry):
    store = GitStore.of(settings, entry.row.folder)
    reader = CommitReader(store)
    reader.feed(lines(file_line("b.txt", b"again")))
    age(store, 30)
    reader = CommitReader(store)
    reader.feed(lines(file_line("b.txt", b"again")))
    store.prune(set(store.reachable([entry.row.head])), time.time() - 24 * 3600)
    outcome = commits.commit_changes(database, settings, ada, entry, "main", reader.end())
    assert store.find(outcome.revision, "b.txt") is not None


def notices_of(database: Database, sender: Person) -> list[tuple[str, str]]:
    rows = database.read(lambda session: session.scalars(select(Notice).where(Notice.person_id == sender.id)).all())
    return [(row.text, row.link) for row in rows]


def test_owner_and_author_learn_of_pull_requests_and_comments_of_others(database, settings, ada, entry):
    bob, eve = person(database, "bob"), person(database, "eve")
    discussion = database.write(discussions.open_discussion, bob, entry, "Better words", "", pull=True)
    link = f"/hub/models/{entry.full_name}/discussions/{discussion.number}"
    assert notices_of(database, ada) == [(f"{entry.full_name} has a new pull request: Better words.", link)]
    assert not notices_of(database, bob)
    database.write(discussions.comment, bob, entry, 1, "Please look.")
    assert len(notices_of(database, ada)) == 2
    database.write(discussions.comment, eve, entry, 1, "Good.")
    assert len(notices_of(database, bob)) == 1
    assert len(notices_of(database, ada)) == 3
    commit(database, settings, bob, entry, lines(file_line("a.txt")), "refs/pr/1")
    merging.merge_pull(database, settings, ada, entry, 1, "Thanks.")
    assert notices_of(database, bob)[-1] == (f"{entry.full_name}: Better words was merged.", link)
    assert len(notices_of(database, ada)) == 3
    assert not notices_of(database, eve)


def test_visitors_are_led_to_the_login_and_not_to_a_form_that_is_not_there(client, browser, entry):
    path = f"/hub/models/{entry.full_name}/discussions"
    page = client.get(path).text
    assert "Log in to propose a change" in page
    assert "below" not in page
    ada = browser()
    ada.join("bob")
    assert "begin a discussion below" in ada.get(path).text


def test_a_full_disk_refuses_commits_and_uploads_with_advice(
    database, settings, ada, entry, monkeypatch: pytest.MonkeyPatch
):
    class Usage:
        free = 10

    monkeypatch.setattr(shutil, "disk_usage", lambda _path: Usage)
    with pytest.raises(NoRoom, match="operator"):
        commit(database, settings, ada, entry, lines(file_line("a.txt")), "main")
    with pytest.raises(NoRoom):
        upload(database, settings, ada, entry, b"large")
    monkeypatch.undo()
    assert commit(database, settings, ada, entry, lines(file_line("a.txt")), "main").revision


def test_a_restored_copy_lacks_no_object_and_no_large_file(database, settings, ada, entry):
    digest = upload(database, settings, ada, entry, b"large" * 1000)
    reference = ("lfsFile", {"path": "w.bin", "algo": "sha256", "oid": digest, "size": 5000})
    commit(database, settings, ada, entry, lines(file_line("folder/a.txt"), reference), "main")

    def lacking() -> list[str]:
        def check(session: Any) -> list[str]:
            files = file_check.expected_files(session, settings, "")
            return [file.row for file in files if not file.path.exists()]

        return database.read(check)

    assert lacking() == []
    store = GitStore.of(settings, entry.row.folder)
    head = database.read(lambda session: session.get_one(HubRepository, entry.row.id).head)
    item = store.find(head, "folder/a.txt")
    assert item is not None
    store.object_path(item.revision).unlink()
    assert len(lacking()) == 1
    HubFileStore.of(settings).path(LargeFile(digest, 5000).digest).unlink()
    assert len(lacking()) == 2
    store.object_path(head).unlink()
    assert len(lacking()) == 2, "below a commit that is missing nothing can be looked at"


def test_ones_own_data_say_where_the_files_of_repositories_are(client, database, settings):
    ada = person(database, "ada2")
    database.write(service.create_repository, settings, ada, RepositoryKind.DATASET, "rows")
    token = database.write(lambda session: accounts.create_token(session, ada.id, "t", ["read", "account"])[1])
    answer = client.get("/api/v1/me/data", headers={"Authorization": f"Bearer {token}"})
    assert answer.status_code == 200, answer.text
    [row] = answer.json()["repositories"]
    assert row["files"] == "/hub/datasets/ada2/rows/files"
    assert client.get(row["files"]).status_code == 200
    assert Path(row["files"]).name == "files"
