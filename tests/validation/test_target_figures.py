"""Each target's own error rates, counted by hand, in rounds against two models and in rounds against one."""

import pytest
from sqlalchemy import select

from dynabench.collection import figures, target_figures
from dynabench.collection.statistics import statistics
from dynabench.collection.tables import Example, Prediction
from dynabench.leaderboards.matrix import in_the_loop
from dynabench.rounds.tables import Round, Target
from dynabench.stats.error_rates import Counts, error_rates

from .world import CLAIM, WRONG, World


def read(world: World, **how):
    def both(session):
        of = session.get_one(Round, world.round_id)
        whole = statistics(session, of, by=(), **how).total
        return whole, target_figures.by_target(session, of, whole, **how)

    return world.db.read(both)


def against_both(world: World, author, strong: bool, weak: bool, **columns) -> int:
    """An example of a round against `m` and `weak` that counts where either of them is wrong."""

    def write(session):
        made = world.write_example(session, author, strong or weak, **columns)
        session.scalars(select(Prediction).where(Prediction.example_id == made)).one().fooled = strong
        answer = WRONG if weak else CLAIM
        session.add(
            Prediction(
                example_id=made, position=1, model="weak", version="2", answer=answer, probabilities=None,
                fooled=weak, latency_ms=1.0,
            )
        )  # fmt: skip
        return made

    return world.db.write(write)


def decide(world: World, example: int, label: str) -> None:
    for _ in range(2):
        world.vote(world.person(), example, label)


@pytest.fixture
def world(database) -> World:
    """Ada and Bob: 6 examples that fooled the weak model alone, 1 both, 1 the strong one alone, 2 neither."""
    world = World(database)
    weak = Target(round_id=world.round_id, position=1, model="weak", version="2")
    world.db.write(lambda session: session.add(weak))
    ada, bob = world.person(), world.person()
    for number in range(6):
        example = against_both(world, ada if number % 2 else bob, False, True)
        if number < 4:
            decide(world, example, "correct" if number else "incorrect")
    decide(world, against_both(world, ada, True, True), "correct")
    against_both(world, bob, True, False)
    against_both(world, ada, False, False)
    against_both(world, bob, False, False)
    world.retract(against_both(world, ada, True, True))
    decide(world, against_both(world, ada, True, False, source="program"), "correct")
    return world


def test_each_model_is_counted_by_its_own_answers(world):
    whole, found = read(world)
    assert whole.counts == Counts(examples=10, fooled=8, validated=4, resolved=5)
    assert {name: each.counts for (name, _), each in found.items()} == {
        "m": Counts(examples=10, fooled=2, validated=1, resolved=1),
        "weak": Counts(examples=10, fooled=7, validated=4, resolved=5),
    }
    assert found["m", "1"].rates == error_rates(Counts(10, 2, 1, 1))
    assert found["m", "1"].people == 2
    assert read(world, sources=["program"])[1]["m", "1"].counts == Counts(1, 1, 1, 1)


def test_owners_figures_and_the_matrix_say_the_same_of_each_model(world):
    lines = world.db.read(
        lambda session: figures.figures(session, session.get_one(Round, world.round_id), ["target"]).by["target"]
    )
    assert {line.value: line.counts for line in lines} == {
        name: each.counts for (name, _), each in read(world)[1].items()
    }
    rates = world.db.read(in_the_loop, world.task)
    assert {name: (each[1].value, each[1].n) for name, each in rates.items()} == {"m": (0.1, 10), "weak": (0.4, 10)}


def test_the_figures_of_a_round_against_one_model_are_that_models(database):
    world = World(database)
    ada = world.person()
    for number, label in enumerate(("correct", "incorrect", "flagged", "")):
        example = world.example(ada, fooled=number < 3)
        if label and number < 3:
            decide(world, example, label)
    world.example(ada, fooled=None)
    whole, found = read(world)
    assert found == {("m", "1"): whole}
    counted = world.db.read(lambda session: session.execute(target_figures._sums(world.round_id, ["person"])).all())
    assert sum(row.n for row in counted) == whole.counts.examples
    assert sum(row.n for row in counted if row.errs and row.verdict == "correct") == whole.counts.validated
    assert sum(row.n for row in counted if row.errs is None) == whole.counts.unknown
    assert world.db.read(lambda session: session.scalars(select(Example.fooled)).all()).count(None) == 1
