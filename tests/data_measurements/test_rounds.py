"""Measuring a round of the database: what is read, what is kept, who sees what."""

import json

import numpy as np
import pytest
from sqlalchemy import select

from dynabench.collection.tables import Hiding, Standing
from dynabench.insight.data_measurements import jobs as measure_jobs
from dynabench.insight.data_measurements import round_sample, service
from dynabench.insight.data_measurements.tables import StoredMeasurement
from dynabench.kit import jobs
from dynabench.rounds.tables import Round
from tests.data_measurements.samples import LABELS, sentence
from tests.validation.world import World

pytestmark = pytest.mark.release


def fill(world: World, people=6, examples=6, planted=False):
    rng = np.random.default_rng(0)
    ids = []
    for number in range(people):
        author = world.person()
        for place in range(examples):
            words = sentence(rng)
            label = LABELS[place % 3]
            if planted and label == "contradiction":
                words.insert(0, "nobody")
            texts = {"input": {"hypothesis": " ".join(words)}, "answer": {"label": label}}
            ids.append(world.example(author, fooled=place % 2 == 0, start=("blank", "prompt")[number % 2], **texts))
    return ids


@pytest.fixture
def world(database) -> World:
    return World(database)


def sample(world):
    return world.db.read(lambda session: round_sample.read_sample(session, session.get_one(Round, world.round_id)))


def visible_results(world, everything=False):
    return world.db.read(service.round_measurements, world.task, 1, everything)


def test_a_round_is_measured_kept_and_known_to_have_changed(world):
    fill(world)
    assert visible_results(world).at is None
    measure_jobs.measure_and_store(world.db, world.round_id)
    result = visible_results(world)
    assert (result.examples, result.total, result.outdated) == (36, 36, False)
    assert {"label_balance", "artifacts", "telling_words", "difficulty", "conditions", "lengths"} <= set(result.results)
    world.example(world.person())
    assert visible_results(world).outdated
    measure_jobs.measure_and_store(world.db, world.round_id)
    assert (visible_results(world).total, visible_results(world).outdated) == (37, False)


def test_examples_that_nobody_sees_leave_no_trace(world):
    ids = fill(world)
    secret = {"input": {"hypothesis": "zzsecretzz " * 3}, "answer": {"label": "neutral"}}
    author, judge, other = world.person(), world.person(), world.person()
    hidden, taken_back, wrong, withheld = (world.example(author, **secret) for _ in range(4))
    world.example(author, source="program", **secret)
    from dynabench.collection import withdrawal

    world.db.write(withdrawal.hide, world.owner, hidden, "no")
    world.retract(taken_back)
    world.db.write(lambda session: setattr(session.get_one(Standing, withheld), "withheld", True))
    for item in (judge, other):
        world.vote(item, wrong, "incorrect")
    assert world.db.read(lambda session: session.scalar(select(Hiding.example_id))) == hidden
    assert len(sample(world).rows) == len(ids)
    measure_jobs.measure_and_store(world.db, world.round_id)
    stored = world.db.read(lambda session: session.get_one(StoredMeasurement, world.round_id).results)
    assert "zzsecretzz" not in json.dumps(stored)


def test_few_writers_are_for_those_who_run_the_task(world):
    fill(world, people=4, examples=12)
    measure_jobs.measure_and_store(world.db, world.round_id)
    assert not visible_results(world).results
    assert set(visible_results(world).kept_back) == set(visible_results(world, everything=True).results)


def test_votes_and_what_models_said_are_read(world):
    first, *_ = fill(world)
    for label in ("correct", "incorrect"):
        world.vote(world.person(), first, label)
    row = sample(world).rows[0]
    assert sorted(row.votes) == ["correct", "incorrect"]
    assert [answer.wrong for answer in row.answers] == [True]
    assert row.label == "entailment"
    assert row.context in ("It rains.", "It pours.")


def test_the_same_round_gives_the_same_figures(world):
    fill(world)
    first, again = (measure_jobs.apply_measures(sample(world)) for _ in range(2))
    assert first == again


def test_a_large_round_is_sampled(world, monkeypatch):
    fill(world)
    monkeypatch.setattr(round_sample, "MOST", 20)
    result = sample(world)
    assert (len(result.rows), result.total) == (20, 36)
    assert sample(world).rows == result.rows


def test_the_worker_measures_what_changed_once(world, settings):
    rounds_to_measure = lambda: world.db.read(measure_jobs._rounds_to_measure, service.now())  # noqa: E731
    assert rounds_to_measure() == []  # too few examples
    fill(world)
    measure_jobs.measure_changed_rounds(world.db, settings)
    measure_jobs.measure_changed_rounds(world.db, settings)
    result = world.db.read(
        lambda session: session.scalars(select(jobs.Job).where(jobs.Job.kind == "measure_round")).all()
    )
    assert [item.payload for item in result] == [{"round": world.round_id}]
    assert visible_results(world).in_progress
    measure_jobs.measure_and_store(world.db, world.round_id)
    assert not visible_results(world).in_progress
    assert rounds_to_measure() == []
    world.example(world.person())
    assert rounds_to_measure() == []  # it was measured a moment ago, and goes on
    world.state("closed")
    assert rounds_to_measure() == [world.round_id]
