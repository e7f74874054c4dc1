"""A database that the 24 migrations before 0.1.0 made is taken over by the first migration, without loss.

`old_database/` holds one of each kind, at version 0033: its schema, and rows of made-up content in every table.
"""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import inspect, make_url, text
from starlette.testclient import TestClient
from typer.testing import CliRunner

from dynabench.cli import app
from dynabench.kit.db import Database
from dynabench.kit.settings import Settings, get_settings
from dynabench.operations import migrations
from dynabench.site.app import create_app
from tests.conftest import Browser
from tests.furnished import settings_for

pytestmark = pytest.mark.slow

FOLDER = Path(__file__).parent / "old_database"
REPLACED = {"search_news", "tally_news"}
"""Tables that later versions have no more; their rows stand in `example_changes`."""
NEW_TABLES = {
    *("example_changes", "demo_marks", "identities", "pending_logins", "second_factors", "worker_beats"),
    *("badge_awards", "contributions", "vote_exclusions"),
    *("control_items", "control_places", "control_answers", "control_decisions"),
    *("quality_estimates", "verdict_rules", "adjudications", "appeals"),
    *("classes", "class_students", "teams", "team_members", "competitions", "competition_entries"),
    *("competition_people", "competition_examples", "inspirations", "inspiration_rules", "credits"),
    *("studies", "participations", "crowd_credentials", "crowd_events", "consent_texts", "bonus_orders"),
    *("pay_schemes", "payments", "payouts"),
    *("onboarding_progress", "quiz_attempts", "quiz_answers", "qualifications"),
    *("writing_facts", "signals", "signal_jobs"),
    *("hub_namespaces", "hub_repositories", "hub_tags", "hub_references", "hub_files", "hub_file_uses"),
    *("hub_uploads", "hub_discussions", "hub_discussion_events", "hub_flags"),
    *("dataset_files", "open_evaluations", "open_evaluation_models", "open_evaluation_shards"),
    *("open_evaluation_scores", "open_evaluation_records", "open_evaluation_cards"),
}
POSTGRES_SCHEMA = (
    "SELECT tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'",
    # PostgreSQL names the NOT NULL constraints itself
    "SELECT conrelid::regclass::text, CASE contype WHEN 'n' THEN '' ELSE conname END, pg_get_constraintdef(oid) "
    "FROM pg_constraint WHERE connamespace = 'public'::regnamespace",
    "SELECT extname FROM pg_extension",
    "SELECT tgname FROM pg_trigger WHERE NOT tgisinternal",
    "SELECT sequencename, data_type::text FROM pg_sequences",
)
SQLITE_SCHEMA = ("SELECT type, name, tbl_name, sql FROM sqlite_master WHERE type <> 'table'",)


@pytest.fixture
def old(tmp_path, empty_url, database_kind) -> Settings:
    """Settings over the old database."""
    statements = (FOLDER / f"{database_kind}.sql").read_text()
    if database_kind == "sqlite":
        with closing(sqlite3.connect(make_url(empty_url).database)) as connection:
            connection.executescript(statements)
    else:
        with psycopg.connect(empty_url) as connection:
            connection.execute(statements)
    return settings_for(tmp_path / "home", empty_url)


@pytest.fixture
def new_url(request, tmp_path, database_kind):
    """The URL of a second empty database."""
    if database_kind == "sqlite":
        yield f"sqlite:///{tmp_path / 'new.sqlite'}"
    else:
        with request.getfixturevalue("server").database("template0") as url:
            yield url


def schema(db: Database) -> dict[str, list[str]]:
    """Tables with their columns in order, types, defaults and constraints; indexes, triggers and sequences."""
    with db.engine.connect() as connection:
        inspector = inspect(connection)
        parts = {}
        for table in inspector.get_table_names():
            columns = [str(sorted(map(str, column.items()))) for column in inspector.get_columns(table)]
            constraints = [
                *inspector.get_foreign_keys(table),
                *inspector.get_unique_constraints(table),
                *inspector.get_check_constraints(table),
            ]
            parts[table] = [*columns, str(inspector.get_pk_constraint(table)), *sorted(map(str, constraints))]
        for query in SQLITE_SCHEMA if db.is_sqlite else POSTGRES_SCHEMA:
            parts[query] = sorted(str(tuple(row)) for row in connection.exec_driver_sql(query))
        return parts


def columns_of(db: Database) -> dict[str, list[str]]:
    """The columns of all tables."""
    with db.engine.connect() as connection:
        tables = inspect(connection)
        return {table: [column["name"] for column in tables.get_columns(table)] for table in tables.get_table_names()}


def contents(db: Database, columns: dict[str, list[str]]) -> dict[str, list[str]]:
    """All rows of all tables, as the database itself gives them; of tables in `columns` those columns alone."""
    with db.engine.connect() as connection:
        chosen = {
            table: ", ".join(f'"{name}"' for name in columns.get(table, ())) or "*"
            for table in inspect(connection).get_table_names()
        }
        return {
            table: sorted(str(tuple(row)) for row in connection.execute(text(f'SELECT {names} FROM "{table}"')))
            for table, names in chosen.items()
        }


@pytest.mark.filterwarnings("ignore:.*expression-based index")  # their SQL is compared
def test_the_first_migration_creates_the_schema_of_the_old_database(old, new_url):
    old_database, new_database = Database(old.url), Database(new_url)
    migrations.run(new_database, "0033")
    old_schema, new_schema = schema(old_database), schema(new_database)
    assert old_schema.keys() == new_schema.keys()
    for part, description in old_schema.items():
        assert description == new_schema[part], part
    old_database.close()
    new_database.close()


def test_the_old_database_is_taken_over_with_every_row(old, monkeypatch):
    db = Database(old.url)
    columns = columns_of(db)
    before = contents(db, columns)
    assert before.keys() - REPLACED == {*migrations.metadata().tables, "alembic_version"} - NEW_TABLES
    assert [table for table, rows in before.items() if not rows] == []
    monkeypatch.setenv("DYNABENCH_HOME", str(old.home))
    monkeypatch.setenv("DYNABENCH_DATABASE_URL", old.database_url)
    monkeypatch.setenv("DYNABENCH_SECRET", old.secret)
    get_settings.cache_clear()
    upgrade = CliRunner().invoke(app, ["db", "upgrade", "--json"])
    check = CliRunner().invoke(app, ["db", "check", "--json"])
    get_settings.cache_clear()
    assert json.loads(upgrade.stdout) == {"version": migrations.newest()}
    assert json.loads(check.stdout)["problems"] == []
    after = contents(db, columns)
    assert len(after.pop("example_changes")) == sum(len(before[table]) for table in REPLACED)
    with db.engine.connect() as connection:
        people = connection.scalar(text("SELECT count(*) FROM people WHERE deleted_at IS NULL"))
    assert len(after.pop("contributions")) == people  # whose badges the worker is to look for
    assert [table for table in NEW_TABLES - {"example_changes", "contributions"} if after.pop(table)] == []
    assert after.pop("alembic_version") == [str((migrations.newest(),))]
    assert after == {table: rows for table, rows in before.items() if table not in {*REPLACED, "alembic_version"}}
    db.close()


def test_the_application_shows_the_rows_of_the_old_database(old, host):
    migrations.upgrade(old)
    with TestClient(create_app(old, host=host), follow_redirects=False) as client:
        browser = Browser(client)
        assert browser.log_in("olga").status_code == 303
        pages = {
            "/tasks/nli": "nli-a",
            "/tasks/done/rounds/1": "done",
            "/tasks/nli/manage/people": "ada",
            "/tasks/nli/manage/examples": "This is so.",
            "/tasks/nli/manage/examples/1": "This is so.",
            "/tasks/nli/manage/contexts": "travel",
            "/tasks/nli/manage/log": "olga",
        }
        answers = {path: browser.get(path) for path in pages}
        lacking = {path: page.status_code for path, page in answers.items() if pages[path] not in page.text}
        assert (lacking, {page.status_code for page in answers.values()}) == ({}, {200})
        assert client.get("/api/v1/tasks/nli").json()["id"] == "nli"
        assert browser.join("nina").status_code == 303, "new rows get numbers after the old ones"
