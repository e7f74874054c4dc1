"""Choice of the item that a validator gets, its mode, and the time that its place is held."""

from datetime import timedelta

import pytest
from sqlalchemy import func, select

from dynabench.kit import errors
from dynabench.kit.db import Database, now
from dynabench.validation import places
from dynabench.validation.tables import Reservation

from .world import World


@pytest.fixture
def world(database: Database) -> World:
    return World(database)


def reservations(world: World) -> int:
    return world.db.read(lambda session: session.scalar(select(func.count()).select_from(Reservation)))


def test_asking_again_gives_the_item_that_is_held(world):
    author, person = world.person(), world.person()
    for _ in range(5):
        world.example(author)
    assert len({world.next(person).example_id for _ in range(5)}) == 1
    assert reservations(world) == 1


def test_everything_is_handed_out_until_nothing_is_left(world):
    author, person = world.person(), world.person()
    examples = {world.example(author) for _ in range(20)}
    seen = set()
    while item := world.next(person):
        world.vote(person, item.example_id, "correct")
        seen.add(item.example_id)
    assert seen == examples
    assert reservations(world) == 0


def test_an_item_that_is_held_goes_with_its_round(world):
    """A released round has no more items; a closed one still has."""
    world.example(world.person())
    person = world.person()
    held = world.next(person)
    world.state("released")
    assert world.next(person) is None
    world.state("closed")
    assert world.next(person).example_id == held.example_id


@pytest.mark.parametrize("start", [0.0, 0.5, 1.0])
def test_an_item_is_found_behind_pages_of_taken_ones(world, monkeypatch, start):
    """Wherever the walk along the queue begins."""
    monkeypatch.setattr(places, "PAGE", 2)
    monkeypatch.setattr(places, "MORE", 2)
    monkeypatch.setattr(places.random, "randint", lambda low, high: low + int(start * (high - low)))
    author = world.person()
    examples = {world.example(author) for _ in range(9)}
    free = max(examples, key=lambda example: (world.standing(example).draw, example))
    for example in examples - {free}:
        for person in (world.person(), world.person()):
            world.db.write(
                lambda session, person=person, example=example: places.reserve(
                    session, world.config, person.id, example, at=now(), seconds=600
                )
            )
    assert world.next(world.person()).example_id == free


def test_items_that_wait_for_a_person_are_counted_up_to_a_limit(world, monkeypatch):
    author, person = world.person(), world.person()
    examples = [world.example(author) for _ in range(4)]

    def waiting(viewer):
        return world.db.read(places.count_checks, viewer, world.task)

    assert (waiting(person), waiting(author)) == (4, 0)
    world.vote(person, examples[0], "correct")
    assert waiting(person) == 3
    monkeypatch.setattr(places, "MOST_COUNTED", 2)
    assert waiting(person) == 2


def test_ones_own_examples_are_not_handed_out(world):
    author = world.person()
    world.example(author)
    assert world.next(author) is None


def test_no_more_places_are_held_than_votes_are_wanted(world):
    world.example(world.person())
    assert [world.next(world.person()) is None for _ in range(4)] == [False, False, True, True]


def test_after_a_disagreement_places_lead_to_a_majority_and_no_further(world):
    example = world.example(world.person())
    world.vote(world.person(), example, "correct")
    world.vote(world.person(), example, "incorrect")
    assert [world.next(world.person()) is None for _ in range(3)] == [False, False, True]
    world.vote(world.person(role="owner"), example, "correct", owner=True)
    assert world.next(world.person()) is None


def test_a_vote_without_a_place_is_taken_while_places_are_free(world):
    example, holder = world.example(world.person()), world.person()
    world.next(holder)
    world.vote(world.person(), example, "correct")
    with pytest.raises(errors.Conflict, match="are checking this example"):
        world.vote(world.person(), example, "correct")
    assert world.vote(holder, example, "correct").verdict == "correct"


def test_a_place_that_ran_out_is_given_to_others_and_voting_late_works_while_one_is_free(world, monkeypatch):
    example, late, other = world.example(world.person()), world.person(), world.person()
    world.next(late)
    world.next(world.person())
    assert world.next(other) is None
    with world.later(monkeypatch, timedelta(seconds=601)):
        assert world.next(other).example_id == example
        assert world.vote(late, example, "correct").votes == 1


def test_a_place_that_ran_out_is_of_no_use_once_others_hold_all(world, monkeypatch):
    example, late = world.example(world.person()), world.person()
    world.next(late)
    with world.later(monkeypatch, timedelta(seconds=601)):
        for _ in range(2):
            assert world.next(world.person()) is not None
        with pytest.raises(errors.Conflict, match="are checking this example"):
            world.vote(late, example, "correct")


def test_blind_places_that_ran_out_long_ago_are_swept(database, monkeypatch):
    world = World(database, mode="answer")
    author, person = world.person(), world.person()
    world.example(author)
    world.next(person)
    with world.later(monkeypatch, timedelta(days=2)):
        world.state("released")
        assert world.next(person) is None
    assert reservations(world) == 0


def test_a_judge_sees_the_claim_and_a_blind_validator_does_not(database):
    world = World(database, mode="answer")
    world.example(world.person())
    item = world.next(world.person())
    assert (item.mode, item.answer, item.context) == ("answer", None, {"premise": "It rains."})


def test_judges_see_the_claim(world):
    world.example(world.person())
    item = world.next(world.person())
    assert (item.mode, item.answer) == ("judge", {"label": "contradiction"})


def test_blind_answers_count_by_agreement(database):
    world = World(database, mode="answer")
    example = world.example(world.person())
    assert world.answer(world.person(), example, "neutral").vote == "incorrect"
    assert world.answer(world.person(), example, "contradiction").vote == "correct"
    standing = world.standing(example)
    assert (standing.blind, standing.blind_right) == (2, 1)


def test_blind_items_can_be_flagged_but_not_judged(database):
    world = World(database, mode="answer")
    example = world.example(world.person())
    with pytest.raises(errors.Invalid) as refused:
        world.vote(world.person(), example, "correct")
    assert list(refused.value.fields) == ["answer"]
    world.vote(world.person(), example, "flagged")
    assert world.standing(example).blind == 0


def test_a_claim_that_is_shown_is_not_answered(world):
    example = world.example(world.person())
    with pytest.raises(errors.Invalid):
        world.answer(world.person(), example, "neutral")


def test_an_answer_after_an_undo_votes_but_is_not_blind_any_more(database):
    world = World(database, mode="answer")
    example, person = world.example(world.person()), world.person()
    world.answer(person, example, "neutral")
    world.undo(person, example)
    assert world.standing(example).blind == 0
    assert world.answer(person, example, "contradiction").vote == "correct"
    assert world.standing(example).blind == 0
    assert world.projections() == world.rebuilt()


@pytest.mark.slow
def test_in_mixed_tasks_the_mode_stays_with_the_person_and_the_item(database, monkeypatch):
    world = World(database, mode="mixed")
    author, modes = world.person(), set()
    example = world.example(author)
    for _ in range(40):
        person = world.person()
        item = world.next(person)
        modes.add(item.mode)
        with world.later(monkeypatch, timedelta(seconds=601)):
            assert world.next(person).mode == item.mode
        world.skip(person, example)
    assert modes == {"judge", "answer"}


def test_in_mixed_tasks_who_was_handed_nothing_cannot_claim_to_be_blind(database):
    world = World(database, mode="mixed")
    example = world.example(world.person())
    with pytest.raises(errors.Invalid):
        world.answer(world.person(), example, "neutral")
    assert world.vote(world.person(), example, "correct").votes == 1


def test_an_unknown_task_is_not_found(world):
    world.task = "nothing"
    with pytest.raises(errors.NotFound):
        world.next(world.owner)


def drawn(monkeypatch, mode):
    """Every mode that is drawn from now on is this one."""
    monkeypatch.setattr(places.random, "random", lambda: {"answer": 0.0, "judge": 1.0 - 2**-53}[mode])


@pytest.mark.parametrize("days", [0.1, 3, 400])
def test_in_mixed_tasks_who_was_shown_the_claim_stays_a_judge_for_good(database, monkeypatch, days):
    """Their place ran out, others were held and swept since: asked again, they are never blind."""
    world = World(database, mode="mixed")
    judge = world.person()
    drawn(monkeypatch, "judge")
    example = world.example(world.person())
    assert world.next(judge).mode == "judge"
    drawn(monkeypatch, "answer")
    others = {world.example(world.person()) for _ in range(4)}
    modes = {}
    with world.later(monkeypatch, timedelta(days=days)):
        while item := world.next(judge):
            modes[item.example_id] = item.mode
            if item.example_id == example:
                assert item.answer is not None
                with pytest.raises(errors.Invalid):
                    world.answer(judge, example, "contradiction")
                world.vote(judge, example, "correct")
            else:
                world.answer(judge, item.example_id, "contradiction")
    assert modes == {example: "judge"} | dict.fromkeys(others, "answer")
    assert world.standing(example).blind == 0


def test_in_mixed_tasks_a_vote_on_a_claim_that_was_seen_cannot_be_turned_into_a_blind_answer(database, monkeypatch):
    world = World(database, mode="mixed")
    example, judge = world.example(world.person()), world.person()
    drawn(monkeypatch, "judge")
    assert world.next(judge).mode == "judge"
    drawn(monkeypatch, "answer")
    world.vote(judge, example, "correct")
    world.undo(judge, example)
    assert world.next(judge).mode == "judge"
    with pytest.raises(errors.Invalid):
        world.answer(judge, example, "contradiction")
    assert world.standing(example).blind == 0
    assert world.next(world.person()).mode == "answer", "others are blind"
