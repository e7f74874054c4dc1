"""The figures of a round against figures counted by hand and against statsmodels."""

from datetime import UTC, datetime

import pytest
from statsmodels.stats.proportion import proportion_confint

from dynabench.collection import figures as round_figures
from dynabench.collection.statistics import statistics
from dynabench.rounds.tables import Round
from dynabench.stats.rates import ErrorCounts

from .world import World


def figures(world: World, **how):
    return world.db.read(lambda session: statistics(session, session.get_one(Round, world.round_id), **how))


def decide(world: World, example: int, label: str) -> None:
    for _ in range(2):
        world.vote(world.person(), example, label)


@pytest.fixture
def world(database) -> World:
    """Ada: four fooled (correct, incorrect, flagged, pending), two not. Bob: one fooled and correct, one retracted,
    one not. A program: three fooled, one of them correct.
    """
    world = World(database)
    world.ada, world.bob, world.robot = world.person(), world.person(), world.person()
    day = datetime(2026, 1, 2, 23, 59, tzinfo=UTC)
    for label in ("correct", "incorrect", "flagged", None):
        example = world.example(world.ada, at=day)
        if label:
            decide(world, example, label)
    for _ in range(2):
        world.example(world.ada, fooled=False, start="prompt")
    decide(world, world.example(world.bob), "correct")
    taken_back = world.example(world.bob)
    decide(world, taken_back, "correct")
    world.retract(taken_back)
    world.example(world.bob, fooled=False)
    programs = [world.example(world.robot, source="program") for _ in range(3)]
    decide(world, programs[0], "correct")
    return world


def test_the_headline_counts_people_alone_and_leaves_retracted_examples_out(world):
    total = figures(world).total
    assert total.counts == ErrorCounts(examples=8, fooled=5, validated=2, resolved=4)
    assert (total.retracted, total.people) == (1, 2)


@pytest.mark.parametrize(("rate", "k", "n"), [("mer", 5, 8), ("vmer", 2, 8), ("vmer_resolved", 2, 7)])
def test_rates_and_wilson_intervals_are_those_of_statsmodels(world, rate, k, n):
    result = getattr(figures(world).total.rates, rate)
    low, high = proportion_confint(k, n, method="wilson")
    assert result.value == pytest.approx(k / n, abs=1e-12)
    assert (result.low, result.high, result.n) == (pytest.approx(low), pytest.approx(high), n)


@pytest.mark.slow
def test_programs_stand_beside_and_can_be_asked_for(world):
    by_source = figures(world).by["source"]
    assert by_source["program"].counts == ErrorCounts(3, 3, 1, 1)
    assert by_source["person"].counts == figures(world).total.counts
    assert figures(world, sources=["program"]).total.counts == ErrorCounts(3, 3, 1, 1)
    assert figures(world, sources=["expert"]).total.rates.mer.value is None


@pytest.mark.slow
def test_breakdowns_by_start_and_by_day_in_utc(world):
    by = figures(world).by
    assert by["start"]["prompt"].counts == ErrorCounts(2, 0, 0, 0)
    assert by["start"]["blank"].counts == ErrorCounts(6, 5, 2, 4)
    assert by["day"]["2026-01-02"].counts == ErrorCounts(4, 4, 1, 3)
    assert list(by["day"]) == sorted(by["day"])


@pytest.mark.slow
def test_intervals_by_annotator_have_the_same_value_and_another_width(world):
    total = figures(world).total
    assert total.clustered.mer.value == pytest.approx(5 / 8)
    assert total.clustered.mer.low < total.rates.mer.low


def test_a_recount_of_the_ledger_changes_nothing(world):
    assert world.projections() == world.rebuilt()


def test_human_accuracy_and_the_gap_on_the_same_items(database):
    """Agreeing: 2 of 2, 1 of 2, 0 of 2; the target was right on the third alone."""
    world = World(database, mode="answer", also=True)
    for labels, fooled in ((("c", "c"), True), (("c", "n"), True), (("n", "n"), False)):
        example = world.example(world.person(), fooled=fooled)
        for label in labels:
            world.answer(world.person(), example, {"c": "contradiction", "n": "neutral"}[label])
    flagged = world.example(world.person())
    world.answer(world.person(), flagged, "contradiction")
    world.vote(world.owner, flagged, "flagged", owner=True)
    gone = world.example(world.person())
    world.answer(world.person(), gone, "contradiction")
    world.retract(gone)
    result = figures(world)
    assert (result.human_accuracy.value, result.human_accuracy.n) == (pytest.approx(3 / 6), 6)
    assert result.human_model_gap.value == pytest.approx(3 / 6 - 1 / 3)
    assert result.human_model_gap.low < result.human_model_gap.value < result.human_model_gap.high


def test_a_round_without_examples_has_no_rates(database):
    result = figures(World(database))
    assert result.total.rates.vmer.value is None
    assert result.human_accuracy.value is None
    assert result.by == {"source": {}, "start": {}, "day": {}, "arm": {}}


def test_the_figures_up_to_each_day_are_those_of_all_examples_until_then(database):
    """Ada writes on all three days and Bob on two, so that people who come back count once."""
    world = World(database)
    ada, bob = world.person(), world.person()

    def write(author, day, verdict, fooled=True):
        example = world.example(author, fooled=fooled, at=datetime(2026, 1, day, 12, tzinfo=UTC))
        if verdict:
            decide(world, example, verdict)

    write(bob, 3, "correct")
    write(ada, 1, "correct")
    write(ada, 1, None, fooled=False)
    write(bob, 2, "incorrect")
    write(ada, 2, "correct")
    write(ada, 3, None, fooled=False)
    write(ada, 3, None)
    expected = {
        "2026-01-01": (1, ErrorCounts(examples=2, fooled=1, validated=1, resolved=1)),
        "2026-01-02": (2, ErrorCounts(examples=4, fooled=3, validated=2, resolved=3)),
        "2026-01-03": (2, ErrorCounts(examples=7, fooled=5, validated=3, resolved=4)),
    }
    result = figures(world)
    assert {day: (this_item.people, this_item.counts) for day, this_item in result.cumulative.items()} == expected
    assert list(result.cumulative) == list(expected)
    view = database.read(lambda s: round_figures.figures(s, s.get_one(Round, world.round_id)))
    assert [(item.value, item.people, item.counts) for item in view.cumulative] == [
        (day, *element) for day, element in expected.items()
    ]
    for last, total in ((result.cumulative["2026-01-03"], result.total), (view.cumulative[-1], view.total)):
        assert (last.rates, last.clustered) == (total.rates, total.clustered)
