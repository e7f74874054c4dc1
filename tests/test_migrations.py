"""The schema over time."""

import re
import warnings

import pytest
from sqlalchemy import text

from dynabench.kit.db import Database
from dynabench.kit.errors import Conflict
from dynabench.kit.settings import Settings
from dynabench.operations import migrations


@pytest.fixture
def empty(tmp_path, empty_url):
    return Settings(home=tmp_path / "home", database_url=empty_url)


@pytest.mark.slow
def test_an_upgraded_database_has_just_what_the_code_wants(empty):
    assert migrations.upgrade(empty) == migrations.newest()
    db = Database(empty.url)
    assert migrations.version(db) == migrations.newest()
    assert migrations.differences(db) == []
    db.close()


@pytest.mark.slow
def test_upgrading_twice_changes_nothing(empty):
    assert migrations.upgrade(empty) == migrations.upgrade(empty)


@pytest.mark.slow
def test_a_difference_is_found(empty):
    migrations.upgrade(empty)
    db = Database(empty.url)
    with db.engine.begin() as connection:
        connection.execute(text("ALTER TABLE people DROP COLUMN terms"))
    assert len(migrations.differences(db)) == 1
    db.close()


def schema(db: Database) -> set[str]:
    """All of SQLite's own statements, without the names' quotes and the order of spaces."""
    with db.engine.connect() as connection:
        rows = connection.exec_driver_sql("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL").scalars()
        return {re.sub(r'[\s"]+', "", row) for row in rows if "alembic_version" not in row}


@pytest.mark.slow
@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
def test_tests_and_migrations_make_the_same_sqlite_tables_with_their_expression_indexes(empty, database):
    migrations.upgrade(empty)
    upgraded = Database(empty.url)
    indexes = {statement for statement in schema(upgraded) if "INDEX" in statement}
    assert indexes == {statement for statement in schema(database) if "INDEX" in statement}
    assert sum("lower(" in statement for statement in indexes) == 6
    upgraded.close()


def test_a_migration_that_fails_leaves_nothing(empty, monkeypatch):
    from alembic import op

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("no more")

    monkeypatch.setattr(op, "create_index", fail)
    with pytest.raises(RuntimeError), warnings.catch_warnings():
        migrations.upgrade(empty)
    db = Database(empty.url)
    assert migrations.version(db) == ""
    with pytest.raises(Exception, match="people"), db.engine.connect() as connection:
        connection.execute(text("SELECT 1 FROM people"))
    db.close()


@pytest.mark.slow
@pytest.mark.parametrize(("older", "reason"), [("0012", "with the code of commit"), ("9999", "a newer Dynabench")])
def test_a_database_at_an_unknown_version_is_refused_and_stays_as_it_is(empty, older, reason):
    migrations.upgrade(empty)
    db = Database(empty.url)
    with db.engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = :older"), {"older": older})
    with pytest.raises(Conflict, match=f"at version {older}.*{reason}"):
        migrations.upgrade(empty)
    assert migrations.version(db) == older
    db.close()
