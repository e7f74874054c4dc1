"""Files of contexts: sent over the API, imported by a worker that may die at any moment."""

import json
import signal
import sqlite3
from contextlib import closing, contextmanager, nullcontext, suppress
from pathlib import Path

import pytest
from sqlalchemy import func, make_url, select, update

from dynabench.collection import projections
from dynabench.collection.tables import ExampleChange
from dynabench.kit.jobs import Job
from dynabench.people.accounts.tables import Act
from dynabench.rounds.tables import Context
from dynabench.site import app as application
from tests.conftest import KINDS
from tests.jobs.conftest import FILES, ended, until, upload

sqlite_only = pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
MANY = 16_000
JSONL = "\n".join(
    [
        json.dumps({"values": {"premise": "It rains."}, "tag": "weather"}),
        json.dumps({"premise": "It snows."}),
        "",
        json.dumps({"premise": ""}),
        json.dumps({"premise": "It rains."}),
        "{broken",
        json.dumps({"premise": 7}),
        json.dumps({"context": {"premise": "\u05d9\u05d5\u05e8\u05d3 \u05d2\u05e9\u05dd 🌧"}}),
        json.dumps({"premise": "It hails.", "colour": "grey"}),
        json.dumps({"premise": "bell \x07"}),
    ]
).encode()
JSONL += b'\n{"premise": "caf\xe9"}\n'
CSV = (
    b"premise,tag\r\n"
    b"A dog barks.,animals\r\n"
    b'"Two\nlines, one comma.",\r\n'
    b"A dog barks.,again\r\n"
    b"too,many,columns\r\n"
    b",empty\r\n"
    b"A cat sleeps.,animals\r\n"
)


def premises(database):
    return database.read(lambda session: sorted(row["premise"] for row in session.scalars(select(Context.values))))


def count(database, table):
    return database.read(lambda session: session.scalar(select(func.count()).select_from(table)))


def acts_of_uploads():
    return select(Act).where(Act.kind == "contexts.uploaded").order_by(Act.id)


def uploads(settings):
    return list((settings.folder / "uploads").iterdir())


@pytest.mark.slow
def test_files_are_imported_with_errors_by_row(owner, worker, database, settings):
    """A job that is sent again, as after a crash between sending and noting it, and a file that cannot be read change
    nothing for the file after them."""
    worker.start()
    answer = ended(owner, job := upload(owner, "contexts.JSONL", JSONL))
    assert answer["state"] == "done", (answer, worker.log_text())
    assert answer["error"] is None
    result = answer["result"]
    assert {name: result[name] for name in ("created", "duplicates", "failed")} == {
        "created": 3,
        "duplicates": 1,
        "failed": 6,
    }
    assert [error["row"] for error in result["errors"]] == [4, 6, 7, 9, 10, 11]
    assert "premise" in result["errors"][0]["message"]
    assert result["errors"][1]["message"] == "The line is not valid JSON (column 2)."
    assert result["errors"][-1]["message"] == "The line is not valid UTF-8."
    assert premises(database) == sorted(["It rains.", "It snows.", "\u05d9\u05d5\u05e8\u05d3 \u05d2\u05e9\u05dd 🌧"])

    database.write(lambda session: session.execute(update(Job).values(sent_at=None)))
    until(lambda: database.read(lambda session: session.get_one(Job, job).sent_at))
    unreadable = ended(owner, upload(owner, "twice.csv", b"premise,premise\r\na,b\r\n"))
    assert unreadable["state"] == "failed"
    assert "a unique name" in unreadable["error"]
    assert ended(owner, upload(owner, "none.csv", b""))["state"] in ("done", "failed")

    result = ended(owner, upload(owner, "contexts.csv", CSV))["result"]
    assert [result[name] for name in ("created", "duplicates", "failed")] == [3, 1, 2]
    assert [item["row"] for item in result["errors"]] == [6, 7]
    assert uploads(settings) == []
    tags = database.read(lambda s: set(s.scalars(select(Context.tag).where(Context.tag != ""))))
    assert tags == {"weather", "animals"}
    assert ended(owner, job) == answer
    created = [act.subject["created"] for act in database.read(lambda s: list(s.scalars(acts_of_uploads())))]
    assert created[0] == 3
    assert sorted(created[1:]) in ([3], [0, 3])  # an empty file may be noted as well


@contextmanager
def unwritten(database):
    """Let nobody write. SQLite itself would wait for its turn behind a worker that writes most of the time."""
    with closing(sqlite3.connect(make_url(database.url).database, timeout=0, isolation_level=None)) as connection:
        until(lambda: begun(connection), pause=0)
        yield


def begun(connection):
    with suppress(sqlite3.OperationalError):
        connection.execute("BEGIN IMMEDIATE")
    return connection.in_transaction


def ended_by(worker, database, how):
    """End the worker. One that is asked to has a second more, in which a quick machine would import all the rest."""
    with unwritten(database) if how == signal.SIGTERM else nullcontext():
        return worker.end(how, seconds=150)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("database_kind", "how"),
    [(kind, signal.SIGKILL) for kind in KINDS] + [("sqlite", signal.SIGTERM)],
    indirect=["database_kind"],
)
def test_an_import_goes_on_after_its_worker_died(owner, worker, database, settings, how):
    rows = [json.dumps({"premise": f"Number {n} of many."}) for n in range(MANY)]
    rows[100] = rows[99]
    rows[15_000] = "nonsense"
    job = upload(owner, "many.jsonl", "\n".join(rows).encode())
    worker.start()
    seen = 0
    for share in (0.02, 0.2):
        least = max(int(MANY * share), seen + 1)
        seen = until(lambda least=least: (result := count(database, Context)) >= least and result, pause=0.02)
        assert ended_by(worker, database, how) in (-how, 0), worker.log_text()
        seen = count(database, Context)
        assert seen < MANY - 2, "the import was over before the worker died"
        state = owner.get(f"{FILES}/{job}").json()
        assert state["state"] == "running"
        if share == 0.2:  # the first death may come before the first word on progress
            assert state["progress"]["of"] > state["progress"]["bytes"] > 0
        worker.start()
    answer = ended(owner, job)
    assert answer["state"] == "done", (answer, worker.log_text())
    assert answer["result"] == {
        "created": MANY - 2,
        "duplicates": 1,
        "failed": 1,
        "errors": [{"row": 15_001, "message": "The line is not valid JSON (column 1)."}],
    }
    assert count(database, Context) == len(set(premises(database))) == MANY - 2
    assert uploads(settings) == []
    acts = database.read(lambda s: list(s.scalars(acts_of_uploads())))
    assert [act.subject for act in acts] == [{"task": "nli", "created": MANY - 2}]


@pytest.mark.slow
def test_what_was_committed_before_a_crash_is_not_done_again(owner, worker, database, settings):
    """A batch that the engine knows nothing of; and the last one, after which the file is deleted."""
    batch, last = (upload(owner, "some.jsonl", JSONL) for _ in range(2))
    done = {"batches": 1, "finished": False, "created": 3, "duplicates": 1, "failed": 0}
    database.write(lambda session: setattr(session.get_one(Job, batch), "done", done))
    database.write(lambda session: setattr(session.get_one(Job, last), "done", done | {"finished": True}))
    Path(database.read(lambda session: session.get_one(Job, last).payload["file"])).unlink()
    worker.start()
    for job in (batch, last):
        answer = ended(owner, job)
        assert answer["state"] == "done", (answer, worker.log_text())
        assert answer["result"]["created"] == 3
    assert count(database, Context) == 0


@sqlite_only
def test_uploads_are_for_owners_and_jobs_for_their_task(owner, client, person, database, settings):
    mia = person("mia")
    job = upload(owner, "some.jsonl", JSONL)
    assert client.post(FILES, params={"name": "a.jsonl"}, content=b"{}").status_code == 401
    assert client.get(f"{FILES}/{job}").status_code == 401
    assert mia.post(FILES, params={"name": "a.jsonl"}, content=b"{}").status_code == 403
    assert mia.get(f"{FILES}/{job}").status_code == 403
    assert owner.post("/api/v1/tasks/none/contexts/files", params={"name": "a.jsonl"}, content=b"{}").status_code == 404
    assert owner.get(f"{FILES}/{'0' * 8}").status_code == 404
    assert len(uploads(settings)) == count(database, Job) == 1


@sqlite_only
@pytest.mark.parametrize("name", ["contexts.txt", "contexts", ".jsonl", "../../../etc/passwd", "a.jsonl/..", ""])
def test_other_kinds_of_file_are_refused(owner, name, settings, database):
    answer = owner.post(FILES, params={"name": name}, content=b"{}")
    assert answer.status_code == 422
    assert answer.json()["fields"] == {
        "name": "Upload a file that ends in .jsonl, .ndjson, .csv, .tsv, .json, .parquet, or one of these with .gz."
    }
    assert count(database, Job) == 0


@sqlite_only
def test_paths_in_a_name_lead_nowhere(owner, settings):
    upload(owner, "../../outside.csv", b"premise\r\n")
    [stored] = uploads(settings)
    assert stored.suffix == ".csv"
    assert "outside" not in stored.name


@sqlite_only
class TestTooLarge:
    @pytest.fixture
    def app(self, settings, host, monkeypatch):
        monkeypatch.setitem(application.UPLOADS, r"/api/v1/tasks/[^/]+/contexts/files", 300 * 1024)
        return application.create_app(settings, host=host)

    @pytest.mark.parametrize("announced", [True, False])
    def test_a_file_over_the_limit_is_refused_and_not_kept(self, owner, settings, database, announced):
        body = b'{"premise": "x"}\n' * 20_000
        answer = owner.post(FILES, params={"name": "a.jsonl"}, content=body if announced else iter([body[:900], body]))
        assert answer.status_code == 413
        assert answer.headers["content-type"] == "application/problem+json"
        assert not (settings.folder / "uploads").exists() or uploads(settings) == []
        assert count(database, Job) == 0


@sqlite_only
def test_a_gigabyte_is_the_limit(owner):
    answer = owner.post(FILES, params={"name": "a.jsonl"}, content=b"{}", headers={"content-length": str(1024**3 + 1)})
    assert answer.status_code == 413
    assert "1048576 KiB" in answer.json()["detail"]


@pytest.mark.slow
def test_a_worker_folds_what_was_recorded_while_none_ran(worker, database):
    worker.start()
    database.write(projections.note_change, None)
    until(lambda: count(database, ExampleChange) == 0)
    worker.end()
    database.write(projections.note_change, None)
    assert count(database, ExampleChange) == 1
    worker.start()
    until(lambda: count(database, ExampleChange) == 0)
