"""The index answers as a look through all examples would, whatever was told in whatever order."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import delete, select

import dynabench.collection.handout_tables
import dynabench.collection.tables  # noqa: F401 - the index points to examples, and they to hand-outs
from dynabench.collection import folding, projections, search
from dynabench.collection.tables import ExampleChange, SearchPosting
from dynabench.collection.terms import WRITTEN, facet
from dynabench.kit.db import Database
from dynabench.people.contributions import Contribution

WORDS = ["cat", "dog", "u_1", facet("task", "nli")]
VERDICTS = [facet("verdict", name) for name in ("pending", "correct", "flagged")]
FLAGS = [facet("flagged", value) for value in (True, False)]
ids = st.sampled_from([1, 2, 3, 400, 65535, 65536, 65537, 300_000])
tellings = st.lists(
    st.tuples(ids, st.lists(st.sampled_from([*WORDS, *VERDICTS, *FLAGS]), min_size=1, max_size=5)), max_size=25
)
COLUMNS = (*WRITTEN, "round_id", "context_id")
questions = st.lists(
    st.lists(st.sampled_from([*WORDS, *VERDICTS, *FLAGS, "nobody"]), min_size=1, max_size=2), min_size=1, max_size=3
)


@pytest.fixture(scope="module")
def world(request, tmp_path_factory):
    """A database with the tables of the index alone, whose rows point to no examples."""
    db = Database(f"sqlite:///{tmp_path_factory.mktemp('index') / 'index.sqlite'}")
    with db.engine.begin() as connection:
        connection.exec_driver_sql(f"CREATE TABLE examples (id INTEGER PRIMARY KEY, {', '.join(COLUMNS)})")
        connection.exec_driver_sql("CREATE TABLE rounds (id INTEGER PRIMARY KEY, task_id, number)")
        connection.exec_driver_sql('CREATE TABLE contexts (id INTEGER PRIMARY KEY, "values", tag)')
        connection.exec_driver_sql("CREATE TABLE people (id INTEGER PRIMARY KEY)")
        connection.exec_driver_sql("PRAGMA foreign_keys=OFF")
    for table in (ExampleChange.__table__, SearchPosting.__table__, Contribution.__table__):
        table.create(db.engine)
    with db.engine.begin() as connection:
        for number in (1, 2, 3, 400, 65535, 65536, 65537, 300_000):
            connection.exec_driver_sql(f"INSERT INTO examples (id) VALUES ({number})")
    yield db
    db.close()


def looked_through(changes, question, before):
    """The same by hand: what each example has at the end."""
    has: dict[int, dict[str, bool]] = {}
    for example, terms in changes:
        for term in terms:
            mine = has.setdefault(example, {})
            for rival in search._RIVALS.get(term, ()):
                mine[rival] = False
            mine[term] = True
    examples = [
        example
        for example, mine in has.items()
        if all(any(mine.get(term) for term in group) for group in question) and (before is None or example < before)
    ]
    return sorted(examples, reverse=True)


def one_value_each(terms):
    """Nobody tells two values of one facet at once."""
    return [term for term in terms if not any(rival in terms for rival in search._RIVALS.get(term, ()))]


@pytest.mark.slow
@settings(deadline=None, max_examples=60, suppress_health_check=list(HealthCheck))
@given(tellings, questions, st.none() | ids, st.integers(0, 25))
def test_it_finds_what_a_look_through_everything_finds(world, changes, question, before, folded):
    changes = [(example, one_value_each(terms)) for example, terms in changes]

    def tell(session):
        search.drop_blocks(session, after=-1)
        session.execute(delete(ExampleChange))
        for number, (example, terms) in enumerate(changes):
            if number == folded:
                folding.fold(session)
            projections.note_change(session, example, terms)

    world.write(tell)
    result = world.read(lambda session: list(search.matching(session, question, before)))
    assert result == looked_through(changes, question, before)


def test_each_batch_is_folded_until_nothing_is_left(world, monkeypatch):
    monkeypatch.setattr(folding, "BATCH", 5)
    world.write(search.drop_blocks, -1)
    folding.fold_all(world)
    for number in range(13):
        world.write(projections.note_change, 400, [f"word{number}"])
    assert folding.fold_all(world) == 13
    assert world.read(lambda session: session.scalars(select(ExampleChange.id)).all()) == []
    matches = world.read(lambda session: list(search.matching(session, [["word0"], ["word12"]], None)))
    assert matches == [400]
