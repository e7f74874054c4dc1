"""Rights to vote, and decisions by votes."""

from datetime import timedelta

import pytest
from sqlalchemy import select

from dynabench.collection.tables import Standing, VerdictEvent
from dynabench.kit import errors
from dynabench.kit.db import Database
from dynabench.validation import service
from dynabench.validation.service import Ballot

from .world import World


@pytest.fixture
def world(database: Database) -> World:
    return World(database)


def test_two_votes_that_agree_decide(world):
    example = world.example(world.person())
    first = world.vote(world.person(), example, "correct")
    second = world.vote(world.person(), example, "correct")
    assert (first.verdict, first.votes, second.verdict, second.votes) == ("pending", 1, "correct", 2)
    assert not world.standing(example).open


@pytest.mark.parametrize(
    ("labels", "verdict"),
    [
        (["correct", "incorrect", "correct", "correct"], "correct"),
        (["correct", "incorrect", "incorrect", "correct", "incorrect"], "incorrect"),
        (["flagged", "flagged"], "flagged"),
        (["correct", "incorrect", "flagged", "correct", "incorrect"], "disputed"),
    ],
)
def test_a_disagreement_goes_on_to_a_majority_of_the_cap(world, labels, verdict):
    example = world.example(world.person())
    outcomes = [world.vote(world.person(), example, label) for label in labels]
    assert [outcome.verdict for outcome in outcomes] == ["pending"] * (len(labels) - 1) + [verdict]


def test_every_change_of_verdict_is_written_down(world):
    example, last = world.example(world.person()), world.person()
    world.vote(world.person(), example, "correct")
    world.vote(last, example, "correct")
    world.undo(last, example)
    world.vote(world.owner, example, "incorrect", owner=True)
    events = world.db.read(lambda session: session.scalars(select(VerdictEvent.verdict)).all())
    assert events == ["correct", "pending", "incorrect"]


def test_votes_after_the_decision_are_refused(world):
    example = world.example(world.person())
    for _ in range(2):
        world.vote(world.person(), example, "correct")
    with pytest.raises(errors.Conflict, match="already has a verdict"):
        world.vote(world.person(), example, "incorrect")
    assert len(world.counted(example)) == 2


def test_nobody_votes_on_their_own_example_not_even_its_owner(world):
    mine = world.example(world.owner)
    with pytest.raises(errors.Forbidden):
        world.vote(world.owner, mine, "correct")
    with pytest.raises(errors.Forbidden):
        world.vote(world.owner, mine, "correct", owner=True)


def test_nobody_votes_twice(world):
    example, person = world.example(world.person()), world.person()
    world.vote(person, example, "correct")
    with pytest.raises(errors.Conflict, match="already"):
        world.vote(person, example, "correct")


def test_an_owner_decides_at_once_and_the_latest_owner_stands(world):
    example, second = world.example(world.person()), world.person(role="owner")
    world.vote(world.person(), example, "correct")
    assert world.vote(world.owner, example, "incorrect", owner=True).verdict == "incorrect"
    assert world.vote(second, example, "flagged", owner=True).verdict == "flagged"
    assert world.vote(second, example, "correct", owner=True).verdict == "correct"
    assert [cast.by_owner for cast in world.counted(example)] == [False, True, True, True]


def test_only_owners_decide_alone(world):
    example = world.example(world.person())
    with pytest.raises(errors.Forbidden):
        world.vote(world.person(), example, "correct", owner=True)
    with pytest.raises(errors.Forbidden):
        world.vote(world.person(role="moderator"), example, "correct", owner=True)


def test_an_owner_who_does_not_say_so_votes_like_anybody(world):
    example = world.example(world.person())
    assert world.vote(world.owner, example, "correct").verdict == "pending"


def test_examples_that_fooled_nobody_want_no_votes_unless_the_task_asks(world):
    example = world.example(world.person(), fooled=False)
    assert world.next(world.person()) is None
    with pytest.raises(errors.Conflict, match="needs no votes"):
        world.vote(world.person(), example, "correct")
    assert world.vote(world.owner, example, "correct", owner=True).verdict == "correct"
    assert world.projections() == world.rebuilt()


def test_examples_that_fooled_nobody_are_checked_where_the_task_asks(database):
    world = World(database, also=True)
    world.example(world.person(), fooled=False)
    assert world.next(world.person()) is not None


def test_retracted_examples_take_no_votes(world):
    example = world.example(world.person())
    world.retract(example)
    with pytest.raises(errors.Conflict, match="withdrawn"):
        world.vote(world.person(), example, "correct")
    with pytest.raises(errors.Conflict, match="withdrawn"):
        world.vote(world.owner, example, "correct", owner=True)
    assert world.next(world.person()) is None


def test_validation_goes_on_after_the_round_closed_and_ends_with_its_release(world):
    example = world.example(world.person())
    world.state("closed")
    assert world.next(world.person()).example_id == example
    world.vote(world.person(), example, "correct")
    world.state("released")
    assert world.next(world.person()) is None
    with pytest.raises(errors.Conflict, match="released"):
        world.vote(world.person(), example, "correct")


def test_an_unknown_example_is_not_found(world):
    with pytest.raises(errors.NotFound):
        world.vote(world.person(), 99999, "correct")


@pytest.mark.parametrize("ballot", [Ballot(), Ballot(vote="correct", answer={"label": "neutral"}), Ballot(vote="yes")])
def test_a_ballot_that_says_nothing_clear_is_refused(world, ballot):
    example = world.example(world.person())
    with pytest.raises(errors.Invalid):
        world.db.write(service.vote, world.person(), example, ballot)


def test_further_fields_are_kept_where_they_apply_and_checked(world):
    example = world.example(world.person())
    world.vote(world.person(), example, "incorrect", corrected="neutral")
    assert world.counted(example)[0].values == {"corrected": "neutral"}
    with pytest.raises(errors.Invalid) as refused:
        world.vote(world.person(), example, "incorrect", corrected="perhaps")
    assert list(refused.value.fields) == ["validation.corrected"]
    with pytest.raises(errors.Invalid):
        world.vote(world.person(), example, "correct", fooled=True)


def test_a_skip_is_no_vote_and_gives_the_place_back(world):
    example, person = world.example(world.person()), world.person()
    assert world.next(person).example_id == example
    world.skip(person, example)
    world.skip(person, example)
    assert world.next(person) is None
    assert world.standing(example).votes == 0
    assert {world.next(world.person()).example_id for _ in range(2)} == {example}


def test_one_does_not_skip_ones_own(world):
    author = world.person()
    with pytest.raises(errors.Forbidden):
        world.skip(author, world.example(author))


def test_the_last_vote_can_be_undone_and_cast_again(world):
    example, person = world.example(world.person()), world.person()
    world.vote(world.person(), example, "correct")
    world.vote(person, example, "correct")
    assert world.undo(person, example).verdict == "pending"
    assert world.next(person).example_id == example
    assert world.vote(person, example, "incorrect").verdict == "pending"
    assert world.projections() == world.rebuilt()


def test_an_undo_after_a_minute_is_refused(world, monkeypatch):
    example, person = world.example(world.person()), world.person()
    world.vote(person, example, "correct")
    with world.later(monkeypatch, timedelta(seconds=61)), pytest.raises(errors.Conflict, match="one minute"):
        world.undo(person, example)


def test_an_undo_after_somebody_elses_vote_is_refused(world):
    example, person = world.example(world.person()), world.person()
    world.vote(person, example, "correct")
    world.vote(world.person(), example, "incorrect")
    with pytest.raises(errors.Conflict, match="after you"):
        world.undo(person, example)


def test_only_the_last_vote_can_be_undone_and_only_once(world):
    author, person = world.person(), world.person()
    first, second = world.example(author), world.example(author)
    world.vote(person, first, "correct")
    world.vote(person, second, "correct")
    with pytest.raises(errors.Conflict, match="last vote"):
        world.undo(person, first)
    world.undo(person, second)
    with pytest.raises(errors.Conflict, match="no vote"):
        world.undo(person, second)


def test_an_owners_undone_vote_reopens_what_it_decided(world):
    example = world.example(world.person())
    world.vote(world.person(), example, "correct")
    world.vote(world.owner, example, "incorrect", owner=True)
    assert world.undo(world.owner, example).verdict == "pending"
    assert world.standing(example).open


@pytest.mark.parametrize("mark", ["withheld", "hidden", "retracted"])
def test_who_voted_on_an_example_that_is_concealed_since_sees_it_no_more(world, mark):
    example, voter = world.example(world.person()), world.person()
    world.vote(voter, example, "correct")
    assert world.db.read(service.my_outcome, voter, example) is not None
    world.db.write(lambda session: setattr(session.get_one(Standing, example), mark, True))
    assert world.db.read(service.my_outcome, voter, example) is None
    with pytest.raises(errors.Conflict):
        world.db.read(service.question, voter, example, "m", "", "")
