"""import(export(x)) == x for everything but people, who become the same pseudonyms; in every format."""

import json
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from sqlalchemy import delete, select

from dynabench.collection import folding, search
from dynabench.collection.tables import Example, Standing, Tally, VerdictEvent
from dynabench.collection.terms import facet
from dynabench.datasets.formats import FORMATS
from dynabench.kit import errors
from dynabench.kit.db import Database
from dynabench.operations.migrations import metadata
from dynabench.people.accounts import login
from dynabench.people.accounts.tables import Person
from dynabench.rounds.tables import Round
from dynabench.validation.rebuild import rebuild_all
from tests.datasets.world import bring, explain, export, fresh, looked_at, proposed, rows, written
from tests.furnished import in_memory
from tests.validation.world import World

TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc", "Cn", "Co", "Zl", "Zp"]), min_size=1,
                max_size=40)  # fmt: skip
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["write", "write", "write", "vote", "vote", "answer", "owner", "undo", "retract", "explain",
                         "perturb", "look"]),
        st.integers(0, 3), st.integers(0, 30), st.booleans(), TEXTS,
    ), min_size=1, max_size=25,
)  # fmt: skip
PHASES = (
    Phase.explicit,
    Phase.reuse,
    Phase.generate,
)  # a failing history is short as it is; shrinking it takes minutes
SOURCES = ("person", "expert", "program", "owner")


def play(world, steps, arms):
    """A history: what is refused changes nothing."""
    people = [world.person() for _ in range(4)]
    keys = []
    for act, actor, which, flag, text in steps:
        key = keys[which % len(keys)] if keys else None
        try:
            if act == "write" or (act == "perturb" and key is None):
                clean = world.config.clean_input({"hypothesis": text})
                arm = arms[which % len(arms)] if arms else ""
                how = {"fooled": flag, "source": SOURCES[which % 4], "attempt": which + 1, "arm": arm}
                keys.append(written(world, people[actor], clean["hypothesis"], **how))
                if how["source"] == "program":
                    proposed(world, keys[-1], text[:60].strip() or "swap", queries=which, cost=which / 3)
            elif act == "perturb":
                keys.append(written(world, people[actor], f"perturbed {which}", made_from=key, edit_distance=which))
            elif key is not None:
                _later(world, act, people[actor], key, flag, text)
        except (errors.Conflict, errors.Forbidden, errors.Invalid):
            continue


def _later(world, act, person, key, flag, text):
    label = "correct" if flag else "incorrect"
    if act == "vote":
        world.vote(person, key, label, **({} if flag else {"corrected": "neutral"}))
    elif act == "answer":
        if (item := world.next(person)) and item.mode == "answer":
            world.answer(person, item.example_id, "contradiction" if flag else "entailment")
        elif item:
            world.vote(person, item.example_id, label)
    elif act == "owner":
        world.vote(world.owner, key, label, owner=True)
    elif act == "undo":
        world.undo(person, key)
    elif act == "retract":
        world.retract(key)
    elif act == "explain":
        explain(world, key, {})
    elif act == "look":
        looked_at(world, key, label=text[:50])


def counts(db, task="checks"):
    """Standings, tallies, breakdowns and the index by what they are about, without ids."""

    def read(session):
        names = {row.id: row.imported_as for row in session.scalars(select(Person))}
        uids = {this_row.id: this_row.uid for this_row in session.scalars(select(Example))}
        numbers = {first.id: first.number for first in session.scalars(select(Round))}
        result = []
        for single in session.scalars(select(Standing)):
            state = (
                single.fooled,
                single.verdict,
                single.votes,
                single.open,
                single.blind,
                single.blind_right,
                single.targets,
            )
            result.append(("standing", uids[single.example_id], numbers[single.round_id], *state, single.targets_right))
        for single in session.scalars(select(Tally)):
            sums = (single.examples, single.fooled, single.validated, single.resolved)
            result.append(("tally", numbers[single.round_id], names[single.person_id], single.source, *sums))
        for origin, number in numbers.items():
            for (name, value), packed in folding.read(session, origin).items():
                for person, *counts in packed.tolist():
                    result.append(("breakdown", number, name, value, names[person], *counts))
        families = [*search.CHANGING.values(), [facet("task", task), *(f"_start_{x}" for x in ("blank", "seed"))]]
        answer = {term: search.matching(session, [[term]], None) for family in families for term in family}
        result += [(term, *sorted(uids[key] for key in keys)) for term, keys in answer.items()]
        return sorted(result, key=repr)

    return db.read(read)


def check(world, deployment, elsewhere, other, path: Path):
    """Bring the world's export into another database in the format of the path, and look."""
    before = rows(world.db, deployment)
    path.write_bytes(export(world.db, deployment, path.suffix[1:]))
    if not before:
        return
    db = elsewhere()
    fresh(db, world.source)
    state, refused = bring(db, other, path)
    assert refused == []
    assert state.notes == {}
    assert (state.created, state.waiting) == (len(before), [])
    assert rows(db, other) == before
    again, _ = bring(db, other, path)
    assert (again.created, again.duplicates, again.rounds) == (0, len(before), {})
    first = counts(db)
    rebuild_all(db)
    assert counts(db) == first, "what was counted on the way in is what a recount says"
    here = {count[1]: count for count in counts_of_kept(world.db)}
    assert all(here[single[1]][3:] == single[3:] for single in first if single[0] == "standing")
    db.close()


def counts_of_kept(db):
    return [count for count in counts(db) if count[0] == "standing"]


@pytest.fixture(scope="module")
def template(sqlite_template):
    return sqlite_template


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMATS)
@settings(
    max_examples=5,
    deadline=None,
    phases=PHASES,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(
    steps=STEPS, mode=st.sampled_from(["judge", "mixed", "answer"]), arms=st.sampled_from([[], ["control", "seeded"]])
)
def test_any_history_comes_back(template, form, steps, mode, arms):
    from dynabench.kit.settings import Settings

    with tempfile.TemporaryDirectory(dir=in_memory()) as folder:
        place, numbers = Path(folder), iter(range(100))

        def empty():
            path = place / f"{next(numbers)}.sqlite"
            shutil.copy(template, path)
            return Database(f"sqlite:///{path}")

        world = World(empty(), mode=mode)
        if arms:
            _arms(world)
        play(world, steps, arms)
        here, present = (Settings(home=place / name, secret=name * 8) for name in ("here", "there"))
        check(world, here, empty, present, place / f"export.{form}")
        world.db.close()


def _arms(world):
    arms = [
        {"name": "control", "share": 1, "targets": "none"},
        {"name": "seeded", "share": 2.5, "targets": "round", "start": "seed"},
    ]
    world.db.write(lambda session: setattr(session.get_one(Round, world.round_id), "arms", arms))


@pytest.mark.slow
def test_a_rich_history_comes_back_on_both_databases(world, settings, elsewhere, other_settings, tmp_path):
    people = [world.person() for _ in range(3)]
    _arms(world)
    first = written(world, people[0], '=HYPERLINK("x"), “quoted”', arm="seeded", start="seed", edit_distance=0)
    written(world, people[1], "שלום 🌧 'tis", made_from=first, arm="control", fooled=False)
    third = written(world, people[1], "It is\u00a0dry; -1", source="expert", attempt=9)
    gone = written(world, people[2], "Gone.")
    written(world, people[2], "From what is gone.", made_from=gone)
    world.retract(gone)
    explain(world, third, {})
    looked_at(world, third)
    for person in people:
        if item := world.next(person):
            if item.mode == "answer":
                world.answer(person, item.example_id, "contradiction")
                world.undo(person, item.example_id)
                world.answer(person, item.example_id, "neutral")
            else:
                world.vote(person, item.example_id, "incorrect", corrected="neutral")
    world.vote(world.owner, third, "correct", owner=True)
    before = rows(world.db, settings)
    path = tmp_path / "export.jsonl"
    for number, form in enumerate(FORMATS):
        path = tmp_path / f"export.{form}"
        path.write_bytes(export(world.db, settings, form))
        if number:
            _forget(elsewhere)
        fresh(elsewhere, world.source)
        state, refused = bring(elsewhere, other_settings, path)
        assert (refused, state.notes, state.created) == ([], {}, 4)
        assert rows(elsewhere, other_settings) == before


def _forget(db):
    def empty(session):
        for table in reversed(metadata().sorted_tables):
            session.execute(delete(table))

    db.write(empty)


def test_people_of_an_import_cannot_log_in_and_are_called_by_their_pseudonym(
    world, settings, elsewhere, other_settings, tmp_path
):
    author = world.person()
    key = written(world, author, "It is dry.")
    world.vote(world.owner, key, "correct", owner=True)
    path = tmp_path / "x.jsonl"
    path.write_bytes(export(world.db, settings, "jsonl"))
    fresh(elsewhere, world.source)
    bring(elsewhere, other_settings, path)
    row = json.loads(path.read_text())
    people = elsewhere.read(lambda session: list(session.scalars(select(Person))))
    assert {person.imported_as for person in people} == {row["author"], row["validations"][0]["validator"]}
    assert all(first.public_name == first.imported_as for first in people)
    assert not any(
        login.verify_password(candidate.password_hash, guess, 1) for candidate in people for guess in ("", "x")
    )
    assert not any(single.admin for single in people)
    events = elsewhere.read(lambda session: list(session.scalars(select(VerdictEvent.verdict))))
    assert events == ["correct"]


@pytest.mark.slow
def test_rounds_keep_their_numbers_where_these_are_free(world, settings, elsewhere, other_settings, tmp_path):
    written(world, world.person(), "It is dry.")
    path = tmp_path / "x.jsonl"
    path.write_bytes(export(world.db, settings, "jsonl"))
    fresh(elsewhere, world.source)
    version = elsewhere.read(lambda session: session.scalars(select(Round.version_id)).first())
    assert version is None
    bring(elsewhere, other_settings, path)
    more = json.loads(path.read_text()) | {"uid": "another"}
    path.write_text(json.dumps(more))
    bring(elsewhere, other_settings, path)
    content = elsewhere.read(lambda session: [(row.number, row.state) for row in session.scalars(select(Round))])
    assert sorted(content) == [(1, "closed"), (2, "closed")], "what comes later is a round of its own"
