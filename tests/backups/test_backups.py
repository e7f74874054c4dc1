"""Backups that are damaged, made under load or on a full disk, and places that are not empty."""

import json
import os
import sqlite3
import subprocess
import sys
import threading
import zipfile
from pathlib import Path

import pytest
from sqlalchemy import delete, func, select, update
from sqlalchemy.exc import DBAPIError

from dynabench.benchmark.evaluations import records
from dynabench.collection.tables import Breakdown, Example, SearchPosting, Standing, Tally
from dynabench.kit import jobs
from dynabench.kit.db import Database, now
from dynabench.kit.errors import Conflict
from dynabench.kit.jobs import Job
from dynabench.kit.settings import Settings
from dynabench.media import file_formats
from dynabench.media import service as media
from dynabench.media.file_formats import UploadLimits
from dynabench.media.store import MediaStore
from dynabench.media.tables import Media, MediaUpload, MediaUse
from dynabench.operations import migrations
from dynabench.operations.backups import database_copy, manifest
from dynabench.operations.backups.backup import cause_of, make_backup
from dynabench.operations.backups.database_copy import is_empty
from dynabench.operations.backups.file_check import check_files
from dynabench.operations.backups.restore import restore_backup
from dynabench.operations.key_check import RESTORING, check_keys
from tests.backups.filled import filled
from tests.media import files


@pytest.fixture
def furnish():
    return filled


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.slow
def test_the_commands_bring_a_platform_elsewhere_and_tell_what_they_did(
    settings, furnished, database_kind, elsewhere, command, tmp_path
):
    folder = tmp_path / "backups"
    folder.mkdir()
    created = command(settings, "backup", folder, "--json")
    assert created.exit_code == 0, created.output
    document = json.loads(created.stdout)
    path = Path(document["file"])
    assert path.parent == folder
    assert path.stat().st_mode & 0o777 == 0o600, "it holds the keys"
    assert list(folder.iterdir()) == [path]
    assert not [item for item in settings.folder.iterdir() if item.name.startswith(".backup")]
    present = elsewhere(database_kind)
    done = command(present, "restore", path, "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["files"] == document["files"]
    assert command(present, "db", "check", "--files").exit_code == 0 or not migrations.version(Database(present.url))
    again = command(settings, "backup", path)
    assert (again.exit_code, "exists" in again.output) == (1, True)
    twice = command(present, "restore", path)
    assert (twice.exit_code, "not empty" in twice.output) == (1, True)


@pytest.mark.slow
def test_it_holds_what_people_made_and_no_cache(settings, furnished, tmp_path):
    backup = make_backup(settings, tmp_path / "one.zip")
    names = {item.name for item in backup.manifest.files}
    tops = {name.split("/")[1] for name in names if name.startswith("home/")}
    expected = {"media", "datasets", "releases", "evaluations", "models", "uploads", "secret", "signing-key"}
    assert expected <= tops
    assert not {"cache", "run", "hub", "dynabench.sqlite"} & tops
    with zipfile.ZipFile(backup.path) as archive:
        assert archive.read(manifest.SECRET) == settings.key
        assert archive.testzip() is None


@pytest.mark.slow
def test_a_database_whose_name_begins_like_a_folder_leaves_nothing_else_out(tmp_path):
    home = tmp_path / "home"
    settings = Settings(home=home, database_url=f"sqlite:///{home / 'data'}")
    settings.folder.mkdir(exist_ok=True)
    migrations.upgrade(settings)
    stored = {"datasets/ab/rows.parquet", "data.txt", "data-wall", "models/data/model.yaml"}
    for name in stored:
        (settings.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (settings.folder / name).write_text("content")
    names = {item.name for item in make_backup(settings, tmp_path / "one.zip").manifest.files}
    assert {f"home/{name}" for name in stored} <= names
    assert not {"home/data", "home/data-wal", "home/data-shm"} & names, "the database is copied by its own means"


@pytest.mark.parametrize(
    "how", ["one byte", *(pytest.param(how, marks=pytest.mark.slow) for how in ("cut short", "another file", "no zip"))]
)
def test_a_damaged_backup_is_refused_and_nothing_of_it_stays(
    settings, furnished, database_kind, elsewhere, tmp_path, how
):
    created = make_backup(settings, tmp_path / "one.zip").path
    content = bytearray(created.read_bytes())
    if how == "cut short":
        created.write_bytes(content[: len(content) // 2])
    elif how == "one byte":
        with zipfile.ZipFile(created) as archive:
            member = max(archive.infolist(), key=lambda element: element.compress_size)
        content[member.header_offset + 60 + len(member.filename) + member.compress_size // 2] ^= 1
        created.write_bytes(content)
    elif how == "another file":
        other = tmp_path / "other.zip"
        with zipfile.ZipFile(created) as old, zipfile.ZipFile(other, "w") as new:
            for item in old.infolist():
                new.writestr(item, b"{}" if "manifest" not in item.filename and item.filename.startswith("home/models")
                             else old.read(item))  # fmt: skip
        created = other
    else:
        created.write_text("not a backup")
    present = elsewhere(database_kind)
    with pytest.raises(Conflict, match=r"damaged|no whole backup"):
        restore_backup(present, created)
    assert list(present.folder.iterdir()) == []
    if database_kind == "postgres":
        database = Database(present.url)
        with database.engine.connect() as connection:
            assert is_empty(connection, migrations.metadata().sorted_tables)
        database.close()


OLD = 150
"""Pictures that are thrown away one by one while backups are made."""
LIMITED = """
import resource, sys
from pathlib import Path
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]), resource.RLIM_INFINITY))
from dynabench.operations.backups.backup import cause_of, make_backup
from dynabench.operations.backups.restore import restore_backup
from dynabench.kit.errors import Problem
from dynabench.kit.settings import get_settings
try:
    {"backup": make_backup, "restore": restore_backup}[sys.argv[1]](get_settings(), Path(sys.argv[2]))
except Problem as problem:
    print(problem.detail)
    sys.exit(3)
"""


def limited(settings, resource, path, size):
    """Make or restore a backup in a process that may write no file beyond `size` bytes, as if the disk were full."""
    env = os.environ | {"DYNABENCH_HOME": str(settings.home), "DYNABENCH_DATABASE_URL": settings.database_url}
    env |= {"DYNABENCH_SECRET": settings.secret}
    words = [sys.executable, "-c", LIMITED, resource, str(path), str(size)]
    return subprocess.run(words, env=env, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_on_a_full_disk_nothing_half_done_stays(settings, furnished, database_kind, elsewhere, tmp_path):
    folder = tmp_path / "backups"
    folder.mkdir()
    before = {name: content for name, content in contents(settings.folder).items() if not name.startswith("run/")}
    done = limited(settings, "backup", folder / "one.zip", 100_000)
    assert done.returncode == 3, done.stderr
    assert "nothing of it stays" in done.stdout
    assert list(folder.iterdir()) == []
    after = {name: content for name, content in contents(settings.folder).items() if not name.startswith("run/")}
    assert after == before
    created = make_backup(settings, folder / "whole.zip").path
    present = elsewhere(database_kind)
    done = limited(present, "restore", created, 100_000)
    assert done.returncode == 3, done.stderr
    assert "nothing of it stays" in done.stdout
    assert [item.name for item in present.folder.iterdir()] == []
    restore_backup(present, created)


@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
def test_a_disk_that_a_database_fills_is_called_full(database):
    fill = "CREATE TABLE large AS SELECT zeroblob(1000000) AS content"
    with sqlite3.connect(":memory:") as small:
        small.execute("PRAGMA max_page_count = 2")
        with pytest.raises(sqlite3.Error) as plain:
            small.execute(fill)
    with database.engine.connect() as connection:
        connection.exec_driver_sql(
            f"PRAGMA max_page_count = {connection.exec_driver_sql('PRAGMA page_count').scalar()}"
        )
        with pytest.raises(DBAPIError) as wrapped:
            connection.exec_driver_sql(fill)
    for item in (plain, wrapped):
        assert "the disk is full. Free some space" in cause_of(item.value)


def forget(session, digest):
    """Delete a file's rows; the file stays."""
    for table in (MediaUse, MediaUpload, Media):
        session.execute(delete(table).where(table.digest == digest))


@pytest.mark.release
def test_a_backup_made_while_people_send_pictures_and_write_refers_to_no_file_that_is_missing(
    settings, furnished, database, database_kind, elsewhere, tmp_path
):
    store, stop, failures = MediaStore.of(settings), threading.Event(), []

    def send(number, blue):
        picture = files.picture(colour=(number % 250, number // 250 % 250, blue))
        content, facts = file_formats.check_upload(picture, "image", UploadLimits(2**20))
        digest = store.put(content)
        database.write(media.record_upload, "nli", None, digest, facts)
        database.write(media.bind_media, "nli", [{"media": digest}], context_id=1)
        return digest

    old = [send(number, 7) for number in range(OLD)]

    def work(blue):
        number = 0
        try:
            while not stop.is_set():
                send(number, blue)
                if old:  # what was sent long ago is thrown away: rows first, files afterwards
                    digest = old.pop()
                    database.write(forget, digest)
                    store.remove(digest, now().timestamp() + 1)
                number += 1
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(blue,)) for blue in range(2)]
    for thread in threads:
        thread.start()
    try:
        backups = [make_backup(settings, tmp_path / f"{number}.zip") for number in range(3)]
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert not failures
    assert len(old) < OLD, "some were thrown away"
    for number, backup in enumerate(backups):
        assert backup.manifest.flaws == []
        present = elsewhere(database_kind, f"there-{number}")
        restore_backup(present, backup.path)
        other = Database(present.url)
        assert other.read(check_files, present) == []
        other.close()


@pytest.mark.slow
def test_a_file_that_was_missing_before_is_told_and_backed_up_around(settings, furnished, database, command, tmp_path):
    digest = database.read(lambda session: session.scalars(select(Media.digest)).first())
    MediaStore.of(settings).path(digest).unlink()
    done = command(settings, "backup", tmp_path / "one.zip", "--json")
    assert done.exit_code == 0, done.output
    assert digest[:12] in done.stderr
    checked = command(settings, "db", "check", "--files", "--json")
    assert checked.exit_code == 1
    assert any("is missing" in problem for problem in json.loads(checked.stdout)["problems"])


def test_files_and_signatures_are_compared_with_their_rows(settings, furnished, database):
    assert database.read(check_files, settings) == []
    digest = database.read(lambda session: session.scalars(select(Media.digest)).first())
    MediaStore.of(settings).path(digest).write_bytes(b"another picture")
    rows = next((settings.folder / "datasets").rglob("*.parquet"))
    rows.write_bytes(rows.read_bytes()[:-20])
    (settings.folder / records.KEY_FILE).unlink()
    text = "\n".join(database.read(check_files, settings))
    assert f"{digest} is damaged" in text
    assert f"{rows} is damaged" in text
    assert "signing-key is missing" in text
    records.public_keys(settings)
    assert "does not hold under any key" in "\n".join(database.read(check_files, settings))


def test_another_secret_or_a_place_in_use_is_refused(settings, furnished, database_kind, elsewhere, tmp_path):
    created = make_backup(settings, tmp_path / "one.zip").path
    present = elsewhere(database_kind)
    with pytest.raises(Conflict, match="another secret"):
        restore_backup(present.model_copy(update={"secret": "another secret " * 3}), created)
    (present.folder / "media").mkdir()
    with pytest.raises(Conflict, match="not empty"):
        restore_backup(present, created)
    (present.folder / "media").rmdir()
    (present.folder / RESTORING).mkdir()  # of a restore that was killed
    with pytest.raises(Conflict, match="restore"):
        check_keys(present)
    restore_backup(present, created)
    check_keys(present)
    with pytest.raises(Conflict, match="home folder"):
        make_backup(settings, settings.folder / "one.zip")


@pytest.mark.slow
def test_a_full_database_is_not_restored_into(settings, furnished, database_kind, elsewhere, tmp_path):
    created = make_backup(settings, tmp_path / "one.zip").path
    claimed = settings.model_copy(update={"home": tmp_path / "empty"})
    claimed.__dict__.pop("folder", None)
    with pytest.raises(Conflict, match=r"not empty|exists"):
        restore_backup(claimed, created)
    assert list(claimed.folder.iterdir()) == []


@pytest.mark.slow
def test_jobs_that_wait_find_their_files_below_the_new_home(settings, furnished, database, database_kind, elsewhere,
                                                            tmp_path):  # fmt: skip
    waiting = settings.folder / "uploads" / "waiting.jsonl"
    waiting.write_text("{}\n")

    def ask(session):
        return jobs.enqueue(session, "import_contexts", {"task": "nli", "file": str(waiting), "person": None}).id

    id = database.write(ask)
    present = elsewhere(database_kind)
    restore_backup(present, make_backup(settings, tmp_path / "one.zip").path)
    other = Database(present.url)
    result = other.read(lambda session: session.get_one(Job, id))
    other.close()
    assert Path(result.payload["file"]) == present.folder / "uploads" / "waiting.jsonl"
    assert Path(result.payload["file"]).read_text() == "{}\n"


@pytest.mark.release
@pytest.mark.parametrize("into", ["same", "other"])
def test_jobs_are_where_they_were_and_those_the_engine_does_not_know_are_sent_again(
    settings, furnished, database, database_kind, elsewhere, tmp_path, into
):
    database_copy.migrate_jobs(jobs.engine_url(settings))

    def ask(session):
        session.execute(update(Job).values(sent_at=now()))
        return [jobs.enqueue(session, "tell_announcement", {"announcement": number}).id for number in (1, 2)]

    known_values, unknown = database.write(ask)

    def start(job):
        if job.id == known_values:
            jobs._client(jobs.engine_url(settings)).enqueue(
                {"workflow_name": job.kind, "queue_name": jobs.QUEUE, "workflow_id": job.id}, job.payload
            )

    assert jobs.send(database, start) == 2
    kind = database_kind if into == "same" else {"sqlite": "postgres", "postgres": "sqlite"}[database_kind]
    present = elsewhere(kind)
    restore_backup(present, make_backup(settings, tmp_path / "one.zip").path)
    other = Database(present.url)
    try:
        sent = other.read(
            lambda session: {id: session.get_one(Job, id).sent_at is not None for id in (known_values, unknown)}
        )
        assert sent == {known_values: True, unknown: False}
        job = other.read(lambda session: session.get_one(Job, known_values))
        assert jobs.progress(present, job)["state"] == "queued"
        assert jobs.given_up(other, present, [known_values]) == []
    finally:
        for item in (settings, present):
            jobs.release(item)
        other.close()


@pytest.mark.slow
def test_counts_and_the_index_are_made_anew_from_the_ledger(settings, furnished, database, command):
    def counted(session):
        tallies = session.execute(select(Tally.__table__).order_by(*Tally.__table__.primary_key)).all()
        standings = session.execute(select(Standing.__table__).order_by(Standing.example_id)).all()
        breakdowns = session.execute(select(Breakdown.__table__).order_by(Breakdown.round_id, Breakdown.name,
                                                                          Breakdown.value)).all()  # fmt: skip
        postings = session.execute(
            select(SearchPosting.__table__).order_by(SearchPosting.term, SearchPosting.block)
        ).all()
        return tallies, standings, breakdowns, postings

    first = command(settings, "db", "rebuild")
    assert first.exit_code == 0, first.output
    examples = database.read(lambda session: session.scalar(select(func.count()).select_from(Example)))
    for step in ("Counting votes", "Adding up", "Indexing"):
        assert f"{step}: {examples} of {examples}" in first.stderr
    before = database.read(counted)
    assert all(before)

    def spoil(session):
        session.execute(update(Standing).values(votes=Standing.votes + 7, fooled=False))
        session.execute(update(Tally).values(examples=999))
        session.execute(delete(Breakdown))
        session.execute(delete(SearchPosting))

    database.write(spoil)
    assert database.read(counted) != before
    done = command(settings, "db", "rebuild", "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["examples"] == examples > 0
    assert database.read(counted) == before
