"""News go into the index and the breakdowns while others write and read, twice at once, and across a crash."""

import itertools
import os
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import func, select

from dynabench import errors
from dynabench.collection import breakdowns, search_index
from dynabench.collection.breakdown_tables import Breakdown, TallyNews
from dynabench.collection.search_tables import SearchNews, SearchPosting
from dynabench.collection.terms import facet
from dynabench.db import Database
from dynabench.validation.rebuild import rebuild
from dynabench.validation.reindex import reindex

from .world import World

EVERYTHING = [[facet("task", "checks")]]
KINDS = {"index": (search_index, SearchNews, SearchPosting), "breakdowns": (breakdowns, TallyNews, Breakdown)}


@pytest.fixture
def world(database) -> World:
    return World(database)


@pytest.fixture
def often(monkeypatch):
    """Each few rows of news are folded."""
    monkeypatch.setattr(search_index, "FOLD", 7)
    monkeypatch.setattr(breakdowns, "FOLD", 5)


@pytest.fixture(params=KINDS)
def kind(request):
    """What is folded: its module, its news, its sets."""
    return KINDS[request.param]


def found(world: World) -> list[int]:
    return world.db.read(lambda session: list(search_index.matching(session, EVERYTHING, None)))


def counted(world: World) -> int:
    groups = world.db.read(breakdowns.read, world.round_id, ["all"])
    return sum(int(rows["examples"].sum()) for rows in groups.values())


def rows_of(world: World, table) -> int:
    return world.db.read(lambda session: session.scalar(select(func.count()).select_from(table)))


def test_readers_see_all_that_was_written_before_while_writers_fold(world, often):
    writers, written, done = 4, [], threading.Event()
    people = [world.person() for _ in range(writers)]

    def write(number: int) -> None:
        for turn in range(8):
            made = world.example(people[number], fooled=turn % 2 == 0, tag="rain" if turn % 3 else "")
            written.append(made)  # whoever reads from now on sees it

    def read() -> int:
        for turns in itertools.count(1):
            last = done.is_set()
            before = set(written)
            seen = found(world)
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
    assert found(world) == sorted(written, reverse=True)
    assert counted(world) == len(written)
    assert rows_of(world, SearchNews) < len(written)
    assert world.projections() == world.rebuilt()


def test_counting_anew_while_others_write_and_vote_loses_nothing(world, often):
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
        while not all(one.done() for one in working):
            world.db.write(rebuild, world.round_id)
            world.db.write(reindex)
        for one in working:
            one.result()
    assert len(found(world)) == counted(world) == 24
    assert world.projections() == world.rebuilt()


def test_two_at_once_fold_everything_once(world, kind):
    module, news, _ = kind
    author = world.person()
    for _ in range(20):
        world.example(author)
    before, start = world.projections(), threading.Barrier(4)

    def fold() -> int:
        start.wait()
        return world.db.write(module.fold)

    with ThreadPoolExecutor(4) as pool:
        folded = [one.result() for one in [pool.submit(fold) for _ in range(4)]]
    assert (sum(folded), rows_of(world, news)) == (20, 0)
    assert world.projections() == before == world.rebuilt()


@pytest.mark.parametrize("database_kind", ["postgres"], indirect=True)
def test_who_comes_while_another_folds_does_not_wait_and_their_news_are_seen(world, kind):
    """On SQLite there is one writer at a time."""
    module, news, _ = kind
    author = world.person()
    world.example(author)
    with world.db._writes() as folding:
        assert module.fold(folding) == 1
        later = world.example(author)
        assert world.db.write(module.fold) == 0
        assert (counted(world), later in found(world)) == (2, True)
        folding.commit()
    assert rows_of(world, news) == 1
    assert (counted(world), len(found(world))) == (2, 2)
    assert world.db.write(module.fold) == 1
    assert world.projections() == world.rebuilt()


def die_while_folding(url: str, module) -> int:
    """Let a process die in the middle of a transaction that folded five rows; its exit status."""

    def work(session) -> None:
        assert module.fold(session) == 5
        session.flush()
        os._exit(9)

    process = os.fork()
    if process == 0:
        try:
            Database(url).write(work)
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def test_a_process_that_dies_while_it_folds_changes_nothing(world, kind):
    module, news, sets = kind
    author = world.person()
    for _ in range(5):
        world.example(author)
    before = world.projections()
    assert die_while_folding(world.db.url, module) == 9
    assert (rows_of(world, news), rows_of(world, sets)) == (5, 0)
    assert world.projections() == before
    assert world.db.write(module.fold) == 5
    assert world.projections() == before == world.rebuilt()


def test_news_of_a_transaction_that_fails_are_never_seen(world, kind):
    author = world.person()
    world.example(author)

    def fail(session) -> None:
        world.write_example(session, author)
        kind[0].fold(session)
        raise RuntimeError

    with pytest.raises(RuntimeError):
        world.db.write(fail)
    assert (counted(world), len(found(world))) == (1, 1)
