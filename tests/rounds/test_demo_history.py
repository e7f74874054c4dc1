"""The demo's history: loaded once, counted from its ledger, marked, and removed without a trace."""

import json
import zipfile
from collections import Counter

import pytest
from sqlalchemy import case, func, select, text

from dynabench.adversaries import checklist
from dynabench.benchmark.evaluations import records
from dynabench.benchmark.evaluations.tables import Record
from dynabench.benchmark.registry.tables import Submission
from dynabench.benchmark.releases.tables import Release
from dynabench.collection import folding
from dynabench.collection.tables import Example, Standing, Tally
from dynabench.kit.db import now
from dynabench.kit.jobs import Job
from dynabench.models.catalog import BUILTIN, find
from dynabench.operations import demo, demo_history, demo_removal, migrations
from dynabench.people.accounts.tables import Person
from dynabench.people.roles import Role, TaskRole
from dynabench.rounds.tables import Context, Round, Task
from dynabench.tasks import shipped
from dynabench.validation import rebuild

pytestmark = pytest.mark.slow

TASK = "sentiment"
TABLES = migrations.metadata().sorted_tables
COUNTED = ("standings", "tallies", "breakdowns", "search_postings", "contexts")


@pytest.fixture
def loaded(database, settings, monkeypatch):
    """The demo of one task with its history."""
    [only] = [item for item in shipped.demo_tasks() if item.config.id == TASK]
    monkeypatch.setattr(demo, "demo_tasks", lambda: [only])
    monkeypatch.setattr(demo, "shipped_selections", list)
    monkeypatch.setattr(checklist, "shipped_suites", list)
    demo.prepare(settings)
    return database


def manifest(task: str) -> dict:
    with zipfile.ZipFile(demo_history.archive_path(task)) as file:
        return json.loads(file.read("manifest.json"))


def rows_of(database, names) -> dict[str, Counter]:
    def read(session):
        return {
            name: Counter(str(tuple(row)) for row in session.execute(text(f"SELECT * FROM {name}"))) for name in names
        }

    return database.read(read)


def count(database, entity) -> int:
    return database.read(lambda session: session.scalar(select(func.count()).select_from(entity)))


def test_the_history_is_complete_and_comes_once(loaded, settings):
    expected = manifest(TASK)["rows"]
    assert count(loaded, Example) == expected["examples"]
    assert count(loaded, Round) == expected["rounds"]
    demo.prepare(settings)
    assert count(loaded, Example) == expected["examples"]
    states = loaded.read(lambda session: list(session.scalars(select(Round.state).order_by(Round.number))))
    assert states == ["released"] * (len(states) - 1) + ["open"]
    releases = loaded.read(lambda session: list(session.scalars(select(Release))))
    assert {release.state for release in releases} == {"ready"}
    for release in releases:
        folder = settings.folder / "releases" / str(release.id)
        assert "Demo data" in (folder / "README.md").read_text("utf-8")
        assert (folder / "data" / "test.jsonl").read_text("utf-8").count("\n") > 0


@pytest.mark.release
def test_its_counters_and_index_are_those_of_its_ledger(loaded):
    folding.fold_all(loaded)
    before = rows_of(loaded, COUNTED)
    rebuild.rebuild_all(loaded)
    assert rows_of(loaded, COUNTED) == before

    def rates(session):
        fooled = func.sum(case((Standing.fooled.is_(True), 1), else_=0))
        ledger = (
            select(Example.round_id, func.count(), fooled)
            .join(Standing, Standing.example_id == Example.id)
            .where(~Standing.retracted, ~Standing.hidden)
            .group_by(Example.round_id)
        )
        tallies = select(Tally.round_id, func.sum(Tally.examples), func.sum(Tally.fooled)).group_by(Tally.round_id)
        return [sorted(map(tuple, session.execute(statement))) for statement in (ledger, tallies)]

    ledger, tallies = loaded.read(rates)
    assert ledger == tallies


def test_nothing_is_left_to_evaluate_and_records_are_signed_by_this_deployment(loaded, settings):
    shipped_now = {(entry.name, entry.version) for entry in find([BUILTIN]) if entry.card and entry.card.task == TASK}
    entered = loaded.read(
        lambda session: set(map(tuple, session.execute(select(Submission.model, Submission.version))))
    )
    assert shipped_now <= entered
    assert loaded.read(lambda session: session.scalars(select(Job.kind)).all()) == []
    [key] = records.public_keys(settings)
    stored = loaded.read(lambda session: list(session.scalars(select(Record))))
    assert stored
    assert all(records.is_signature_valid(record.document, record.signature, key) for record in stored)
    assert all(record.document["evaluation"] == record.evaluation_id for record in stored)


@pytest.mark.release
def test_its_people_are_named_as_demo_data(loaded, client):
    people = loaded.read(lambda session: list(session.scalars(select(Person))))
    assert {person.username[:5] for person in people} == {"demo-"}
    assert {person.imported_as for person in people} == {person.username for person in people}
    assert "Demo data" in client.get(f"/tasks/{TASK}").text


@pytest.mark.release
def test_removal_leaves_nothing(loaded, settings):
    demo_removal.remove_demo(loaded, settings)
    remaining = {name: len(rows) for name, rows in rows_of(loaded, [table.name for table in TABLES]).items() if rows}
    assert set(remaining) <= {"secret_fingerprints"}
    for folder in ("evaluations", "releases", "models"):
        assert not list((settings.folder / folder).iterdir())


@pytest.mark.release
def test_removal_keeps_a_task_that_somebody_owns(loaded, settings):
    def own(session):
        owner = Person(username="olga", email="olga@example.org", password_hash="", terms="", agreed_at=now())
        session.add(owner)
        session.flush()
        session.add(Role(task_id=TASK, person_id=owner.id, role=TaskRole.OWNER))

    loaded.write(own)
    contexts = count(loaded, Context)
    demo_removal.remove_demo(loaded, settings)
    assert loaded.read(lambda session: session.get(Task, TASK)) is not None
    assert (count(loaded, Context), count(loaded, Example), count(loaded, Person)) == (contexts, 0, 1)
    assert loaded.read(lambda session: session.scalars(select(Context.used).distinct()).all()) == [0]
