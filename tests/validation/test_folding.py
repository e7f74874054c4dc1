"""Changes go into the index and the breakdowns while others write and read, twice at once, and across a crash."""

import itertools
import os
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import func, select

from dynabench.collection import folding, search
from dynabench.collection.tables import Breakdown, ExampleChange, SearchPosting
from dynabench.collection.terms import facet
from dynabench.kit import errors
from dynabench.kit.db import Database
from dynabench.validation.rebuild import rebuild_all

from .world import World

EVERYTHING = [[facet("task", "checks")]]


@pytest.fixture
def world(database) -> World:
    return World(database)


@pytest.fixture
def folder(world, monkeypatch):
    """A worker's thread that folds a few changes at a time; calling it ends the thread."""
    monkeypatch.setattr(folding, "BATCH", 7)
    monkeypatch.setattr(folding, "PAUSE", 0.001)
    stop = threading.Event()
    thread = threading.Thread(target=folding.fold_until, args=(world.db, stop))

    def end() -> None:
        stop.set()
        thread.join()

    thread.start()
    yield end
    end()


def find_examples(world: World) -> list[int]:
    return world.db.read(lambda session: list(search.matching(session, EVERYTHING, None)))


def counted(world: World) -> int:
    groups = world.db.read(folding.read, world.round_id, ["all"])
    return sum(int(rows["examples"].sum()) for rows in groups.values())


def rows_of(world: World, table) -> int:
    return world.db.read(lambda session: session.scalar(select(func.count()).select_from(table)))


@pytest.mark.slow
def test_readers_see_all_that_was_written_before_while_a_worker_folds(world, folder):
    writers, written, done = 4, [], threading.Event()
    people = [world.person() for _ in range(writers)]

    def write(number: int) -> None:
        for turn in range(8):
            created = world.example(people[number], fooled=turn % 2 == 0, tag="rain" if turn % 3 else "")
            written.append(created)  # whoever reads from now on sees it

    def read() -> int:
        for turns in itertools.count(1):
            last = done.is_set()
            before = set(written)
            seen = find_examples(world)
            assert before <= set(seen)
            assert seen == sorted(set(seen), reverse=True)
            assert counted(world) >= len(before)
            if last:
                return turns
        raise AssertionError

    with ThreadPoolExecutor(writers + 2) as pool:
        readers = [pool.submit(read) for _ in range(2)]
        try:
            list(pool.map(write, range(writers)))
        finally:
            done.set()
        assert all(reader.result() for reader in readers)
    assert find_examples(world) == sorted(written, reverse=True)
    assert counted(world) == len(written)
    folder()  # while it folds, nobody else does
    folding.fold_all(world.db)
    assert rows_of(world, ExampleChange) == 0
    assert rows_of(world, SearchPosting)
    assert world.projections() == world.rebuilt()


@pytest.mark.slow
def test_counting_anew_while_others_write_and_vote_loses_nothing(world, folder):
    people = [world.person() for _ in range(4)]

    def work(number: int) -> None:
        me = people[number]
        for turn in range(6):
            world.example(me, fooled=turn % 4 != 0)
            if item := world.next(me):
                try:
                    world.vote(me, item.example_id, "correct" if turn % 3 else "flagged")
                except errors.Conflict:
                    continue

    with ThreadPoolExecutor(5) as pool:
        working = [pool.submit(work, number) for number in range(4)]
        while not all(first.done() for first in working):
            rebuild_all(world.db)
        for single in working:
            single.result()
    assert len(find_examples(world)) == counted(world) == 24
    assert world.projections() == world.rebuilt()


@pytest.mark.slow
def test_two_at_once_fold_everything_once(world):
    author = world.person()
    for _ in range(20):
        world.example(author)
    before, start = world.projections(), threading.Barrier(4)

    def fold() -> int:
        start.wait()
        return world.db.write(folding.fold)

    with ThreadPoolExecutor(4) as pool:
        folded = [first.result() for first in [pool.submit(fold) for _ in range(4)]]
    assert (sum(folded), rows_of(world, ExampleChange)) == (20, 0)
    assert world.projections() == before == world.rebuilt()


@pytest.mark.parametrize("database_kind", ["postgres"], indirect=True)
def test_who_comes_while_another_folds_does_not_wait_and_their_changes_are_seen(world):
    """On SQLite there is one writer at a time."""
    author = world.person()
    world.example(author)
    with world.db._writes() as session:
        assert folding.fold(session) == 1
        later = world.example(author)
        assert world.db.write(folding.fold) == 0
        assert (counted(world), later in find_examples(world)) == (2, True)
        session.commit()
    assert rows_of(world, ExampleChange) == 1
    assert (counted(world), len(find_examples(world))) == (2, 2)
    assert world.db.write(folding.fold) == 1
    assert world.projections() == world.rebuilt()


def die_while_folding(url: str) -> int:
    """Let a process die in the middle of a transaction that folded five rows; its exit status."""

    def work(session) -> None:
        assert folding.fold(session) == 5
        session.flush()
        os._exit(9)

    process = os.fork()
    if process == 0:
        try:
            Database(url).write(work)
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


@pytest.mark.slow
def test_a_process_that_dies_while_it_folds_changes_nothing(world):
    author = world.person()
    for _ in range(5):
        world.example(author)
    before = world.projections()
    assert die_while_folding(world.db.url) == 9
    assert [rows_of(world, table) for table in (ExampleChange, SearchPosting, Breakdown)] == [5, 0, 0]
    assert world.projections() == before
    assert world.db.write(folding.fold) == 5
    assert world.projections() == before == world.rebuilt()


def test_changes_of_a_transaction_that_fails_are_never_seen(world):
    author = world.person()
    world.example(author)

    def fail(session) -> None:
        world.write_example(session, author)
        folding.fold(session)
        raise RuntimeError

    with pytest.raises(RuntimeError):
        world.db.write(fail)
    assert (counted(world), len(find_examples(world))) == (1, 1)


def record_and_die(world: World, author: int) -> int:
    """Let a process record an example and die before anything is folded; its exit status."""
    process = os.fork()
    if process == 0:
        try:
            database = Database(world.db.url)
            database.write(world.write_example, author)
            os._exit(9)
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


@pytest.mark.slow
def test_an_example_of_a_process_that_died_before_the_fold_is_folded_by_the_next_worker(world):
    author = world.person()
    assert record_and_die(world, author) == 9
    assert [rows_of(world, table) for table in (ExampleChange, SearchPosting, Breakdown)] == [1, 0, 0]
    before = world.projections()
    assert folding.fold_all(world.db) == 1
    assert (counted(world), len(find_examples(world))) == (1, 1)
    assert world.projections() == before == world.rebuilt()
