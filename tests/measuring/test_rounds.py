"""Measuring a round of the database: what is read, what is kept, who sees what."""

import json

import numpy as np
import pytest
from sqlalchemy import select

from dynabench import jobs
from dynabench.collection.tables import Hiding, Standing
from dynabench.measuring import keeping, reading, running, service
from dynabench.measuring.tables import Measured
from dynabench.rounds.tables import Round
from tests.measuring.samples import LABELS, sentence
from tests.validation.world import World


def fill(world: World, people=6, each=6, planted=False):
    rng = np.random.default_rng(0)
    ids = []
    for number in range(people):
        author = world.person()
        for place in range(each):
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
    return world.db.read(lambda session: reading.read(session, session.get_one(Round, world.round_id)))


def shown(world, everything=False):
    return world.db.read(service.shown, world.task, 1, everything)


def test_a_round_is_measured_kept_and_known_to_have_changed(world):
    fill(world)
    assert shown(world).at is None
    running.measure(world.db, world.round_id)
    found = shown(world)
    assert (found.examples, found.total, found.old) == (36, 36, False)
    assert {"label_balance", "artifacts", "telling_words", "difficulty", "conditions", "lengths"} <= set(found.found)
    world.example(world.person())
    assert shown(world).old
    running.measure(world.db, world.round_id)
    assert (shown(world).total, shown(world).old) == (37, False)


def test_examples_that_nobody_sees_leave_no_trace(world):
    ids = fill(world)
    secret = {"input": {"hypothesis": "zzsecretzz " * 3}, "answer": {"label": "neutral"}}
    author, judge, other = world.person(), world.person(), world.person()
    hidden, taken_back, wrong, withheld = (world.example(author, **secret) for _ in range(4))
    world.example(author, source="program", **secret)
    from dynabench.collection import hiding

    world.db.write(hiding.hide, world.owner, hidden, "no")
    world.retract(taken_back)
    world.db.write(lambda session: setattr(session.get_one(Standing, withheld), "withheld", True))
    for each in (judge, other):
        world.vote(each, wrong, "incorrect")
    assert world.db.read(lambda session: session.scalar(select(Hiding.example_id))) == hidden
    assert len(sample(world).rows) == len(ids)
    running.measure(world.db, world.round_id)
    kept = world.db.read(lambda session: session.get_one(Measured, world.round_id).found)
    assert "zzsecretzz" not in json.dumps(kept)


def test_few_writers_are_for_those_who_run_the_task(world):
    fill(world, people=4, each=12)
    running.measure(world.db, world.round_id)
    assert not shown(world).found
    assert set(shown(world).kept_back) == set(shown(world, everything=True).found)


def test_votes_and_what_models_said_are_read(world):
    first, *_ = fill(world)
    for label in ("correct", "incorrect"):
        world.vote(world.person(), first, label)
    row = sample(world).rows[0]
    assert sorted(row.votes) == ["correct", "incorrect"]
    assert [said.wrong for said in row.said] == [True]
    assert row.label == "entailment"
    assert row.context in ("It rains.", "It pours.")


def test_the_same_round_gives_the_same_figures(world):
    fill(world)
    first, again = (running.looked_at(sample(world)) for _ in range(2))
    assert first == again


def test_a_large_round_is_sampled(world, monkeypatch):
    fill(world)
    monkeypatch.setattr(reading, "MOST", 20)
    found = sample(world)
    assert (len(found.rows), found.total) == (20, 36)
    assert sample(world).rows == found.rows


def test_the_worker_measures_what_changed_once(world, settings):
    wanting = lambda: world.db.read(keeping._wanting, service.now())  # noqa: E731
    assert wanting() == []  # too few examples
    fill(world)
    keeping.tidy(world.db, settings)
    keeping.tidy(world.db, settings)
    found = world.db.read(
        lambda session: session.scalars(select(jobs.Job).where(jobs.Job.kind == "measure_round")).all()
    )
    assert [each.payload for each in found] == [{"round": world.round_id}]
    assert shown(world).going
    running.measure(world.db, world.round_id)
    assert not shown(world).going
    assert wanting() == []
    world.example(world.person())
    assert wanting() == []  # it was measured a moment ago, and goes on
    world.state("closed")
    assert wanting() == [world.round_id]
