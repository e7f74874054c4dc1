"""The schema over time."""

import re
import warnings

import pytest
from sqlalchemy import text
from sqlalchemy.orm import Session

from dynabench import migrations
from dynabench.collection import breakdowns, search_index
from dynabench.collection.terms import facet
from dynabench.db import Database
from dynabench.settings import Settings


@pytest.fixture
def empty(tmp_path, empty_url):
    return Settings(home=tmp_path / "home", database_url=empty_url)


def test_an_upgraded_database_has_just_what_the_code_wants(empty):
    assert migrations.upgrade(empty) == migrations.newest()
    db = Database(empty.url)
    assert migrations.version(db) == migrations.newest()
    assert migrations.differences(db) == []
    db.close()


def test_upgrading_twice_changes_nothing(empty):
    assert migrations.upgrade(empty) == migrations.upgrade(empty)


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


@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
def test_tests_and_migrations_make_the_same_sqlite_tables_with_their_expression_indexes(empty, database):
    migrations.upgrade(empty)
    upgraded = Database(empty.url)
    indexes = {statement for statement in schema(upgraded) if "INDEX" in statement}
    assert indexes == {statement for statement in schema(database) if "INDEX" in statement}
    assert sum("lower(" in statement for statement in indexes) == 3
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


def test_examples_and_counts_of_the_first_versions_live_on(empty):
    db = Database(empty.url)
    migrations.run(db, "0002")
    day = "2026-01-01 00:00:00+00:00"
    person = f"1, 'ann', 'ann@example.org', 'x', '', false, 't', '{day}', '{day}'"
    rows = (
        f"INSERT INTO people (id, username, email, password_hash, pseudonym, admin, terms, agreed_at, created_at) "
        f"VALUES ({person})",
        f"INSERT INTO tokens (id, person_id, name, prefix, digest, created_at) VALUES (1, 1, 'a', 'b', 'c', '{day}')",
        f"INSERT INTO acts (id, at, kind, subject) VALUES (1, '{day}', 'round.opened', '{{\"task\": \"nli\"}}')",
        f"INSERT INTO tasks (id, created_at) VALUES ('nli', '{day}')",
        f"INSERT INTO task_versions (id, task_id, number, source, created_at) VALUES (1, 'nli', 1, '', '{day}')",
        "INSERT INTO rounds (id, task_id, number, version_id, state, fooled_when, created_at) "
        f"VALUES (1, 'nli', 1, 1, 'open', 'any', '{day}')",
        "INSERT INTO contexts (id, task_id, values_, tag, digest, draw, used, fooled, created_at) "
        f"VALUES (1, 'nli', '{{}}', 'rain', 'd', 1, 1, 1, '{day}')".replace("values_", '"values"'),
        "INSERT INTO handouts (id, round_id, context_id, person_id, start, initial, at) "
        f"VALUES (1, 1, 1, 1, 'blank', '{{}}', '{day}')",
        *(
            "INSERT INTO examples (id, round_id, context_id, handout_id, author_id, version_id, input, answer, fooled, "
            "source, start, attempt, seconds, latency_ms, key, request, at) VALUES "
            f"({n}, 1, 1, 1, 1, 1, '{{}}', '{{}}', true, 'person', 'blank', 1, 1, 1, 'k{n}', 'r', '{day}')"
            for n in (1, 2, 3)
        ),
        *(
            "INSERT INTO standings (example_id, round_id, author_id, fooled, verdict, votes, retracted, open, draw, "
            f"blind, blind_right, targets, targets_right) VALUES ({n}, 1, 1, true, '{verdict}', 0, false, false, 1, "
            f"0, 0, {targets}, 0)"
            for n, verdict, targets in ((1, "correct", 1), (2, "pending", 1), (3, "pending", 0))
        ),
        "UPDATE examples SET fooled = false WHERE id = 3",
        "UPDATE standings SET fooled = false WHERE example_id = 3",
        "INSERT INTO tallies (round_id, person_id, day, start, source, examples, fooled, validated, resolved, "
        "retracted) VALUES (1, 1, '2026-01-01', 'blank', 'person', 3, 2, 1, 1, 0)",
    )
    with db.engine.execution_options(writes=True).begin() as connection:
        for row in rows:
            connection.exec_driver_sql(row)
    migrations.run(db, "head")
    assert migrations.differences(db) == []
    with db.engine.connect() as connection:
        uids = connection.execute(text("SELECT uid FROM examples")).scalars().all()
        assert len({uid for uid in uids if len(uid) == 32}) == 3
        assert connection.execute(text("SELECT task_id FROM acts")).scalars().all() == ["nli"]
        tally = "examples, fooled, validated, resolved, retracted, hidden, unknown FROM"
        assert connection.execute(text(f"SELECT arm, {tally} tallies")).one() == ("", 3, 2, 1, 1, 0, 0, 1)
        fooled = connection.execute(text("SELECT fooled FROM examples ORDER BY id")).scalars().all()
        assert [known if known is None else bool(known) for known in fooled] == [True, True, None]
    with db.engine.connect() as connection:
        by_tag = breakdowns.read(Session(connection), 1, ["tag"])["tag", "rain"]
        assert [by_tag[name].tolist() for name in breakdowns.COUNTS] == [[3], [2], [1], [1], [0], [0], [1]]
        session = Session(connection)
        unknown = [*search_index.matching(session, [[facet("fooled", None)]], None)]
        assert (unknown, [*search_index.matching(session, [[facet("fooled", True)]], None)]) == ([3], [2, 1])
    db.close()
