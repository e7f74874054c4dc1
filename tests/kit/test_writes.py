"""Writes to the database that wait for each other."""

import sqlite3
import threading
import time

import pytest
from sqlalchemy import event, func, select, table, text

from dynabench.kit.db import Database, PreparedStatement


@pytest.fixture
def numbers(tmp_path):
    database = Database(f"sqlite:///{tmp_path}/numbers.db")
    database.write(lambda session: session.execute(text("CREATE TABLE numbers (n INTEGER PRIMARY KEY)")))
    yield database
    database.close()


def insert(session, number):
    session.execute(text("INSERT INTO numbers VALUES (:n)"), {"n": number})
    return number


def stored(database):
    return database.read(lambda session: session.scalars(text("SELECT n FROM numbers ORDER BY n")).all())


def write_at_once(database, values):
    """Return what became of a write of each value, all of which wait for one that is under way; and the commits."""
    ends, commits, begun = {}, [], threading.Event()
    event.listen(database.engine, "commit", commits.append)

    def hold(session):
        begun.set()
        deadline = time.monotonic() + 10
        while len(database._waiting) < len(values) and time.monotonic() < deadline:
            time.sleep(0.001)

    def write(number, value):
        try:
            ends[number] = database.write(insert, value)
        except Exception as error:
            ends[number] = error

    threads = [threading.Thread(target=database.write, args=(hold,))]
    threads[0].start()
    begun.wait()
    threads += [threading.Thread(target=write, args=item) for item in enumerate(values)]
    for thread in threads[1:]:
        thread.start()
    for thread in threads:
        thread.join()
    return [ends[number] for number in range(len(values))], len(commits)


def test_writes_that_wait_for_each_other_are_committed_at_once(numbers):
    ends, commits = write_at_once(numbers, [3, 1, 2])
    assert (ends, stored(numbers), commits) == ([3, 1, 2], [1, 2, 3], 1)


def test_a_write_that_fails_takes_no_other_with_it(numbers):
    numbers.write(insert, 2)
    ends, _ = write_at_once(numbers, [1, 2, 3])
    assert (ends[0], ends[2], stored(numbers)) == (1, 3, [1, 2, 3])
    assert "UNIQUE" in str(ends[1])


def test_no_write_has_succeeded_whose_commit_fails(numbers):
    def refuse(connection):
        if connection.connection.driver_connection.execute("SELECT count(*) FROM numbers").fetchone()[0]:
            raise sqlite3.OperationalError("disk I/O error")

    event.listen(numbers.engine, "commit", refuse)
    ends, _ = write_at_once(numbers, [1, 2])
    assert [str(end) for end in ends] == ["disk I/O error"] * 2
    event.remove(numbers.engine, "commit", refuse)
    assert stored(numbers) == []


def test_a_prepared_statement_runs_in_the_transaction_that_its_session_has_now(numbers):
    count = PreparedStatement(select(func.count().label("many")).select_from(table("numbers")))

    def count_in_three_transactions(session):
        counts = []
        for end in (session.commit, session.rollback, session.commit):
            insert(session, len(counts))
            counts += [count.first(session, {}).many]
            with session.begin_nested():
                insert(session, 10 + len(counts))
                counts += [count.first(session, {}).many]
            end()
        return [*counts, count.first(session, {}).many]

    assert numbers.read(count_in_three_transactions) == [1, 2, 3, 4, 3, 4, 4]
