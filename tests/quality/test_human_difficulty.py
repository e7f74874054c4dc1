"""Examples that people fail as often as models, from blind answers."""

import pytest

from dynabench.kit import errors
from dynabench.quality.human_difficulty import hard_for_people, read_human_difficulty
from tests.validation.world import World


@pytest.mark.slow
def test_examples_that_people_fail_as_often_as_models_are_found(database):
    world = World(database, mode="answer", votes=2, cap=3)
    author = world.person()
    tricky, clear, half, single = (world.example(author) for _ in range(4))  # the model failed all of them
    for example, answers in ((tricky, ["neutral"] * 2), (clear, ["contradiction"] * 2), (single, ["neutral"])):
        for label in answers:
            world.answer(world.person(), example, label)
    for label in ("neutral", "contradiction", "contradiction"):
        world.answer(world.person(), half, label)
    assert world.db.read(hard_for_people, [tricky, clear, half, single]) == {tricky}
    figures = world.db.read(read_human_difficulty, world.owner, world.task, 1)
    assert (figures.examples, figures.hard.value) == (3, pytest.approx(1 / 3))
    assert figures.people.value == pytest.approx(3 / 7)
    assert figures.models.value == 1
    assert figures.hard.low < figures.hard.value < figures.hard.high
    with pytest.raises(errors.Forbidden):
        world.db.read(read_human_difficulty, author, world.task, 1)


def test_an_example_that_fooled_nobody_is_not_hard_because_people_are_right(database):
    world = World(database, mode="answer", votes=2, cap=3, also=True)
    example = world.example(world.person(), fooled=False)
    for _ in range(2):
        world.answer(world.person(), example, "contradiction")
    assert world.db.read(hard_for_people, [example]) == set()
