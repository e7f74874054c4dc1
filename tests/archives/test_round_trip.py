"""export(import(export(task))) is export(task), up to the names of the task and of its examples."""

import json
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import select

from dynabench.collection import seeds
from dynabench.collection.assisting.service import Assistance
from dynabench.collection.handout_tables import Seed
from dynabench.collection.tables import Standing
from dynabench.datasets.archives import layout
from dynabench.kit.db import Database
from dynabench.kit.settings import Settings
from dynabench.people.roles import Role
from dynabench.rounds import contexts, service
from dynabench.rounds.contexts import ContextRow
from dynabench.rounds.tables import Context, Round, TaskVersion
from dynabench.tasks.reading import with_values
from tests.archives.packing import alike, bring, files, packed
from tests.datasets.test_round_trip import PHASES, STEPS, _arms, play
from tests.datasets.world import explain, recount, written
from tests.furnished import in_memory
from tests.validation.world import World


def close(world, state="closed"):
    world.db.write(lambda session: setattr(session.get_one(Round, world.round_id), "state", state))


@pytest.mark.slow
@settings(
    max_examples=6, deadline=None, phases=PHASES,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)  # fmt: skip
@given(steps=STEPS, mode=st.sampled_from(["judge", "mixed"]), arms=st.sampled_from([[], ["control", "seeded"]]))
def test_any_history_makes_the_same_archive_again(sqlite_template, steps, mode, arms):
    with tempfile.TemporaryDirectory(dir=in_memory()) as folder:
        place = Path(folder)
        shutil.copy(sqlite_template, place / "here.sqlite")
        world = World(Database(f"sqlite:///{place / 'here.sqlite'}"), mode=mode)
        if arms:
            _arms(world)
        play(world, steps, arms)
        close(world)
        here = Settings(home=place / "home", secret="here" * 8)
        archive = packed(world.db, here, "checks")
        assert packed(world.db, here, "checks") == archive, "the same task, the same bytes"
        created = bring(world.db, here, archive, "copy", place)
        assert (created.refused, created.notes) == ([], {})
        assert alike(packed(world.db, here, "copy"), "checks") == alike(archive, "checks")
        world.db.close()


def furnished(world):
    """Two more versions, a tagged context and a retired one, a seed, a planned draft with arms."""

    def make(session):
        source = with_values(world.source, {("name",): "Checked twice"})
        service.save_task(session, None, source + "\n# a remark\n")
        config = service.newest_config(session, "checks")
        contexts.add_contexts(session, "checks", config, [
            ContextRow(1, {"premise": "Ein Satz — “so”."}, "tag", weight=2.5),
            ContextRow(2, {"premise": "Nobody is given this."}, retired=True),
        ])  # fmt: skip
        seed = {"context": {"premise": "Ein Satz — “so”."}, "input": {"hypothesis": "Seeded."}}
        seeds.add(session, "checks", config, seeds.rows([seed]))
        version = session.scalars(select(TaskVersion.id).order_by(TaskVersion.number.desc())).first()
        arms = [{"name": "other", "share": 1, "targets": [{"model": "m", "version": "2"}], "assistant": True}]
        plan = {"goals": {"fooled": 9}, "limits": {"per_day": 3}, "closes_at": "2031-01-01T00:00:00Z"}
        session.add(Round(task_id="checks", number=7, version_id=version, state="draft", arms=arms, assign="person",
                          judge={"model": "j", "version": "1"}, plan=plan))  # fmt: skip

    world.db.write(make)


@pytest.mark.slow
def test_a_whole_task_comes_back_on_both_databases(world, settings, elsewhere, other_settings, tmp_path):
    person = world.person()
    first = written(world, person, "It rains “here”.")
    written(world, person, "It is dry 🌧.", made_from=first, fooled=False)
    explain(world, first, {})
    helped = Assistance(example_id=first, shown=3, outcome="ignored", distance=None)
    world.db.write(lambda session: session.add(helped))
    world.vote(world.person(), first, "correct")
    furnished(world)
    close(world)
    archive = packed(world.db, settings, "checks")
    assert {"versions/0001.yaml", "versions/0002.yaml", layout.TASK, *layout.LISTS} == files(archive).keys()
    db = elsewhere
    created = bring(db, other_settings, archive, "elsewhere", tmp_path)
    assert (created.refused, created.notes) == ([], {})
    assert created.manifest.rows == {
        "versions": 2,
        "rounds": 2,
        "contexts": 4,
        "seeds": 1,
        "examples": 2,
        "datasets": 0,
    }
    assert alike(packed(db, other_settings, "elsewhere"), "checks") == alike(archive, "checks")
    draft = json.loads(files(archive)[layout.ROUNDS].splitlines()[1])
    assert draft["plan"] == {"goals": {"fooled": 9}, "limits": {"per_day": 3}}
    source = db.read(lambda session: session.scalars(select(Round).where(Round.number == 7)).one())
    assert (source.arms, source.assign, source.judge, source.plan) == tuple(
        draft[text] for text in ("arms", "assign", "judge", "plan")
    )
    content = db.read(lambda session: session.execute(select(Context.weight, Context.retired_at.is_not(None))).all())
    assert sorted(tuple(item) for item in content) == [(1.0, False), (1.0, False), (1.0, True), (2.5, False)]
    stored = files(packed(db, other_settings, "elsewhere"))[layout.EXAMPLES]
    assert stored.replace(b'"elsewhere"', b'"checks"') == files(archive)[layout.EXAMPLES], "names are kept where free"
    assert db.read(lambda session: session.scalar(select(Seed.task_id))) == "elsewhere"
    recount(db, lambda: packed(db, other_settings, "elsewhere"), "elsewhere")


def test_an_open_round_arrives_closed_and_a_clone_has_none(world, settings, tmp_path):
    written(world, world.person(), "It rains.")
    furnished(world)
    whole = bring(world.db, settings, packed(world.db, settings, "checks"), "copy", tmp_path)
    blank = bring(world.db, settings, packed(world.db, settings, "checks", examples=False), "blank", tmp_path)
    assert whole.manifest.rows["examples"] == 1
    contexts = whole.manifest.rows["contexts"]
    assert blank.manifest.rows == {
        "versions": 1,
        "rounds": 0,
        "contexts": contexts,
        "seeds": 1,
        "examples": 0,
        "datasets": 0,
    }
    states = world.db.read(lambda session: list(session.execute(select(Round.task_id, Round.state))))
    assert sorted(map(tuple, states)) == [
        ("checks", "draft"), ("checks", "open"), ("copy", "closed"), ("copy", "draft"),
    ]  # fmt: skip


def test_who_brings_an_archive_owns_the_task_and_nobody_else_does(world, settings, tmp_path):
    archive = packed(world.db, settings, "checks")
    name = world.db.read(lambda session: session.get_one(type(world.owner), world.owner.id).username)
    bring(world.db, settings, archive, "copy", tmp_path, owner=name)
    result = select(Role.person_id, Role.role).where(Role.task_id == "copy")
    roles = world.db.read(lambda session: session.execute(result).all())
    assert [tuple(item) for item in roles] == [(world.owner.id, "owner")]


@pytest.mark.parametrize("mark", ["withheld", "hidden", "retracted"])
@pytest.mark.parametrize("examples", [True, False])
def test_a_seed_goes_as_the_example_that_it_was_made_of(world, settings, mark, examples):
    """The text of a withheld, hidden or retracted example is in no archive and in no copy of the task."""
    author = world.person()
    stored, gone = (written(world, author, text) for text in ("It stays.", "It goes."))
    for example in (stored, gone):
        world.vote(world.owner, example, "correct", owner=True)
    assert world.db.write(seeds.from_round, None, "checks", 1) == 2
    world.db.write(lambda session: setattr(session.get_one(Standing, gone), mark, True))
    close(world)
    content = b"".join(files(packed(world.db, settings, "checks", examples=examples)).values())
    assert b"It stays." in content
    assert b"It goes." not in content
