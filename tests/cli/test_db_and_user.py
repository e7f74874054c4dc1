"""`dynabench db` and `dynabench user`."""

import json
import os
import sqlite3
from pathlib import Path

import pytest
from sqlalchemy import select
from typer.testing import CliRunner

from dynabench.cli import app
from dynabench.kit.settings import get_settings
from dynabench.operations.migrations import newest
from dynabench.people.accounts.tables import Act
from tests.collection.conftest import seed


@pytest.fixture
def run(settings, monkeypatch):
    """The command line, against the test's database."""
    monkeypatch.setenv("DYNABENCH_HOME", str(settings.home))
    monkeypatch.setenv("DYNABENCH_DATABASE_URL", settings.database_url)
    monkeypatch.setenv("DYNABENCH_SECRET", settings.secret)
    get_settings.cache_clear()
    yield lambda *words: CliRunner().invoke(app, [*words])
    get_settings.cache_clear()


@pytest.fixture
def run_empty(empty_url, tmp_path, monkeypatch):
    monkeypatch.setenv("DYNABENCH_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("DYNABENCH_DATABASE_URL", empty_url)
    get_settings.cache_clear()
    yield lambda *words: CliRunner().invoke(app, [*words])
    get_settings.cache_clear()


@pytest.mark.slow
def test_an_empty_database_is_upgraded_and_then_sound(run_empty):
    assert run_empty("db", "check").exit_code == 1
    assert json.loads(run_empty("db", "upgrade", "--json").stdout) == {"version": newest()}
    checked = run_empty("db", "check", "--json")
    assert (checked.exit_code, json.loads(checked.stdout)["problems"]) == (0, [])


def test_a_database_without_tables_is_told_with_what_to_do(run_empty):
    done = run_empty("user", "promote", "ada", "--admin")
    assert done.exit_code == 1
    assert "has no tables yet" in done.output
    assert "set DYNABENCH_HOME" in done.output.replace("\n", " ")
    assert "dynabench db upgrade" in done.output


def test_a_backup_can_be_read_and_overwrites_nothing(run, person, tmp_path, database_kind, postgres_programs):
    person("ada")
    target = tmp_path / "copies" / "one"
    done = run("db", "backup", str(target), "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["bytes"] == target.stat().st_size > 0
    if database_kind == "sqlite":
        copy = sqlite3.connect(target)
        assert copy.execute("SELECT username FROM people").fetchall() == [("ada",)]
        copy.close()
    else:
        assert target.read_bytes().startswith(b"PGDMP")
    assert target.stat().st_mode & 0o077 == 0
    again = run("db", "backup", str(target))
    assert again.exit_code == 1
    assert "exists" in again.output


@pytest.fixture
def postgres_programs(database_kind, request, monkeypatch):
    """`pg_dump` of the server's own version."""
    if database_kind == "postgres":
        folder: Path = request.getfixturevalue("postgres").bin_path
        monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


def test_people_are_listed_and_given_rights(run, person, database):
    ada = person("ada")
    database.write(seed)
    assert (
        run("user", "promote", "ADA@example.org", "--admin", "--owner", "nli", "--expert", "sentiment").exit_code == 0
    )
    [row] = json.loads(run("user", "list", "--json").stdout)
    assert (row["username"], row["admin"], row["roles"]) == ("ada", True, "nli: owner, sentiment: expert")
    assert ada.get("/api/v1/me").json()["admin"] is True
    kinds = database.read(lambda session: session.scalars(select(Act.kind).order_by(Act.id)).all())
    assert "user.promote" in kinds
    assert "ada" in run("user", "list").stdout


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("nobody", "--admin"), "no account"),
        (("ada", "--owner", "nothing"), "nothing"),
        (("ada",), "--admin"),
    ],
)
def test_what_cannot_be_given_is_said_in_one_line(run, person, words, says):
    person("ada")
    done = run("user", "promote", *words)
    assert done.exit_code in (1, 2)
    assert says in done.output
    assert "Traceback" not in done.output
