"""Each target's own error rates, counted by hand, in rounds against two models and in rounds against one."""

import pytest
from sqlalchemy import select

from dynabench.benchmark.leaderboards.board_views import target_rates
from dynabench.collection import figures
from dynabench.collection import statistics as target_figures
from dynabench.collection.statistics import statistics
from dynabench.collection.tables import Example
from dynabench.rounds.tables import Round
from dynabench.stats.rates import ErrorCounts, error_rates

from . import two_targets
from .two_targets import decide
from .world import World


def read(world: World, **how):
    def both(session):
        source = session.get_one(Round, world.round_id)
        whole = statistics(session, source, by=(), **how).total
        return whole, target_figures.by_target(session, source, whole, **how)

    return world.db.read(both)


@pytest.fixture
def world(database) -> World:
    world = World(database)
    two_targets.collect(world)
    return world


def test_each_model_is_counted_by_its_own_answers(world):
    whole, result = read(world)
    assert whole.counts == ErrorCounts(examples=10, fooled=8, validated=4, resolved=5)
    assert {name: value.counts for (name, _), value in result.items()} == {
        "m": ErrorCounts(examples=10, fooled=2, validated=1, resolved=1),
        "weak": ErrorCounts(examples=10, fooled=7, validated=4, resolved=5),
    }
    assert result["m", "1"].rates == error_rates(ErrorCounts(10, 2, 1, 1))
    assert result["m", "1"].people == 2
    assert read(world, sources=["program"])[1]["m", "1"].counts == ErrorCounts(1, 1, 1, 1)


def test_owners_figures_and_the_matrix_say_the_same_of_each_model(world):
    lines = world.db.read(
        lambda session: figures.figures(session, session.get_one(Round, world.round_id), ["target"]).by["target"]
    )
    assert {line.value: line.counts for line in lines} == {
        name: item.counts for (name, _), item in read(world)[1].items()
    }
    rates = world.db.read(target_rates, world.task)
    assert {target: (rate[1].value, rate[1].n) for target, rate in rates.items()} == {
        ("m", "1"): (0.1, 10),
        ("weak", "2"): (0.4, 10),
    }


def test_the_figures_of_a_round_against_one_model_are_that_models(database):
    world = World(database)
    ada = world.person()
    for number, label in enumerate(("correct", "incorrect", "flagged", "")):
        example = world.example(ada, fooled=number < 3)
        if label and number < 3:
            decide(world, example, label)
    world.example(ada, fooled=None)
    whole, result = read(world)
    assert result == {("m", "1"): whole}
    counted = world.db.read(lambda session: session.execute(target_figures._sums(world.round_id, ["person"])).all())
    assert sum(row.n for row in counted) == whole.counts.examples
    assert sum(row.n for row in counted if row.errs and row.verdict == "correct") == whole.counts.validated
    assert sum(row.n for row in counted if row.errs is None) == whole.counts.unknown
    assert world.db.read(lambda session: session.scalars(select(Example.fooled)).all()).count(None) == 1
