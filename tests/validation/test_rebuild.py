"""A rebuild mends wrong counts from the ledger, also after an interruption."""

import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyroaring import BitMap
from sqlalchemy import delete, insert, select, update

from dynabench.collection import folding, notes, search, withdrawal
from dynabench.collection.tables import Breakdown, Explanation, SearchPosting, Standing, Tally
from dynabench.kit.db import Database
from dynabench.people.accounts.tables import Person
from dynabench.rounds.tables import Context
from dynabench.validation import moderation, rebuild, rebuild_index
from dynabench.validation.rebuild import rebuild_all

from .world import World

pytestmark = pytest.mark.slow

TABLES = (Standing, Tally, Breakdown, SearchPosting)
NUMBERS = st.integers(0, 1000)
WRONG = {
    Standing: st.fixed_dictionaries(
        {},
        optional={
            "verdict": st.sampled_from(["pending", "correct", "disputed"]),
            "fooled": st.sampled_from([True, False, None]),
            "withheld": st.booleans(),
            "open": st.booleans(),
            **{name: st.booleans() for name in ("retracted", "hidden")},
            **dict.fromkeys(("votes", "draw", "blind", "blind_right", "targets", "targets_right"), NUMBERS),
        },
    ),
    Tally: st.fixed_dictionaries({}, optional=dict.fromkeys(folding.COUNTS, NUMBERS)),
    Context: st.fixed_dictionaries({}, optional=dict.fromkeys(("used", "fooled", "good", "failed"), NUMBERS)),
    Breakdown: st.fixed_dictionaries({}, optional={"counts": st.sampled_from([b"", b"x" * folding.ROW.itemsize])}),
    SearchPosting: st.fixed_dictionaries(
        {}, optional={"members": st.sets(NUMBERS).map(lambda ids: BitMap(ids).serialize())}
    ),
}
"""Columns that are not what the ledger says."""
DAMAGE = st.lists(
    st.sampled_from(list(WRONG)).flatmap(lambda table: st.tuples(st.just(table), WRONG[table], st.integers(1, 3))),
    min_size=1,
)


@pytest.fixture
def world(database, monkeypatch) -> World:
    """Examples of each kind that counters tell apart; pages and blocks of a few examples."""
    monkeypatch.setattr(rebuild, "PAGE", 8)
    monkeypatch.setattr(rebuild_index, "PAGE", 8)
    monkeypatch.setattr(search, "SIZE", 16)
    monkeypatch.setattr(rebuild, "CONTEXTS", 1)
    monkeypatch.setattr(rebuild, "BREATH", 0)
    world = World(database, votes=1, cap=1)
    author, judge = world.person(), world.person()
    examples = [world.example(author, fooled=turn % 3 != 0, tag="rain" if turn % 2 else "") for turn in range(18)]
    for example, label in zip(examples[1:12:3], ("correct", "incorrect", "flagged", "flagged"), strict=True):
        world.vote(judge, example, label)
    world.example(author, fooled=None, made_from=examples[0])
    world.retract(examples[2])
    owner = world.owner
    database.write(withdrawal.hide, owner, examples[4], "rude")
    database.write(moderation.dismiss, owner, examples[7], "fine")
    database.write(notes.add, owner, examples[5], "odd")
    database.write(notes.label, owner, examples[5], "keep")

    def explain(session) -> None:
        explanation = Explanation(example_id=examples[8], values={"why": "unlikely words"})
        session.add(explanation)
        session.flush()
        search.say(session, explanation)

    database.write(explain)
    return world


def spoil(session, table, columns, share: int) -> None:
    """Give every so manieth row wrong columns; delete it where there are none."""
    keys = list(table.__table__.primary_key)
    for key in session.execute(select(*keys)).all()[::share]:
        key_of_row = [column == value for column, value in zip(keys, key, strict=True)]
        statement = update(table).values(**columns) if columns else delete(table)
        session.execute(statement.where(*key_of_row).execution_options(synchronize_session=False))


def spoil_all(world: World, damage) -> None:
    for table, columns, share in damage:
        if columns or table is not Context:
            world.db.write(spoil, table, columns, share)


def add_surplus(session, round_id: int) -> None:
    """Write rows of which the ledger knows nothing."""
    person = session.scalars(select(Person.id)).first()
    key = {"person_id": person, "day": "1999-01-01", "start": "blank", "arm": "", "source": "person"}
    session.execute(insert(Tally).values(round_id=round_id, examples=3, **key))
    session.execute(insert(Breakdown).values(round_id=round_id, name="tag", value="none", counts=b""))
    for block in (0, 1, 99):
        members = BitMap([1, 2, 5]).serialize()
        session.execute(insert(SearchPosting).values(term="surplus", block=block, members=members))


def everything(world: World):
    """All that is counted, as the tables have it."""

    def rows(session):
        tables = [
            session.execute(select(table.__table__).order_by(*table.__table__.primary_key)).all() for table in TABLES
        ]
        names = ("id", "used", "fooled", "good", "failed")
        return [*tables, session.execute(select(*(getattr(Context, n) for n in names)).order_by(Context.id)).all()]

    return world.db.read(rows)


@settings(deadline=None, max_examples=6, suppress_health_check=list(HealthCheck))
@given(DAMAGE, st.booleans())
def test_whatever_was_counted_wrong_is_as_before(world, damage, surplus):
    folding.fold_all(world.db)
    rebuild_all(world.db)  # first, since sets that were emptied one by one are left out
    before, seen = everything(world), world.projections()
    spoil_all(world, damage)
    if surplus:
        world.db.write(add_surplus, world.round_id)
    rebuild_all(world.db)
    assert everything(world) == before
    assert world.projections() == seen


def test_counting_anew_changes_nothing_that_people_see(world):
    for folded in range(2):
        before = world.projections()
        rebuild_all(world.db)
        assert world.projections() == before, folded
        folding.fold_all(world.db)
        assert world.projections() == before, folded


class Interruption(Exception):
    """Comes in the middle of a step."""


def interrupt_at(number: int):
    """Interrupt after so many steps forward."""
    turns = iter(range(number))

    def progress(step: str, done: int, total: int) -> None:
        if next(turns, None) is None:
            raise Interruption

    return progress


def test_an_interruption_at_any_moment_changes_nothing_that_was_right(world):
    before = world.projections()
    for number in range(0, 1000, 3):
        try:
            rebuild_all(world.db, interrupt_at(number))
        except Interruption:
            assert world.projections() == before, number
        else:
            break
    assert number > 10
    assert world.projections() == before


def die_while_rebuilding(url: str, number: int) -> int:
    """Let a process die in the middle of a rebuild; its exit status."""

    def progress(step: str, done: int, total: int) -> None:
        if next(turns, None) is None:
            os._exit(9)

    turns = iter(range(number))
    process = os.fork()
    if process == 0:
        try:
            rebuild_all(Database(url), progress)
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


@pytest.mark.parametrize("number", [2, 9, 14])
def test_after_a_process_died_the_next_makes_everything_right(world, number):
    rebuild_all(world.db)
    before = everything(world)
    spoil_all(world, [(table, {}, 2) for table in TABLES])
    assert die_while_rebuilding(world.db.url, number) == 9
    world.example(world.person())  # the platform goes on
    rebuild_all(world.db)
    assert everything(world)[0][:-1] == before[0]
    assert world.projections() == world.rebuilt()
