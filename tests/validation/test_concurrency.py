"""Twenty validators at once: never more counted votes than asked for, and counts that equal a recount."""

import random
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import select

from dynabench.collection.tables import Standing
from dynabench.kit import errors
from dynabench.kit.db import now
from dynabench.stats.verdict import verdict
from dynabench.validation import places
from dynabench.validation.tables import Reservation, Skip

from .world import World

PEOPLE = 20


def allowed(world: World, example_id: int) -> None:
    """Every vote was asked for: none of the votes that stand came after the others had decided."""
    rule = world.config.validation
    votes = places.ballots(world.counted(example_id))
    assert len(votes) <= rule.adjudicate_up_to
    assert len({cast.person_id for cast in world.counted(example_id)}) == len(votes)
    for before in range(len(votes)):
        assert not verdict(votes[:before], rule.votes, rule.adjudicate_up_to).final
    standing = world.standing(example_id)
    assert standing.verdict == verdict(votes, rule.votes, rule.adjudicate_up_to)
    assert standing.votes == len(votes)


def crowd(world: World, work) -> None:
    """Each of twenty people does `work(person, rng)` in a thread of their own, all from the same moment on."""
    people = [world.person() for _ in range(PEOPLE)]
    start = threading.Barrier(PEOPLE)

    def vote_once(number: int) -> None:
        start.wait()
        work(people[number], random.Random(number))

    with ThreadPoolExecutor(PEOPLE) as pool:
        for done in [pool.submit(vote_once, number) for number in range(PEOPLE)]:
            done.result()


def send(world: World, person, item_id: int, mode: str, label: str) -> bool:
    """Vote in the item's mode; False where it was refused."""
    try:
        if mode == "answer":
            world.answer(person, item_id, "contradiction" if label == "correct" else "neutral")
        else:
            world.vote(person, item_id, label)
    except errors.Conflict:
        return False
    except errors.Invalid:
        assert world.config.validation.mode == "mixed"  # nobody had handed it out, so it is not blind
        return False
    return True


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "need", "cap"), [("judge", 2, 5), ("answer", 1, 1), ("mixed", 3, 4)])
def test_twenty_validators_with_all_they_can_do(database, mode, need, cap):
    world = World(database, mode=mode, votes=need, cap=cap)
    examples = [world.example(world.person()) for _ in range(6)]

    def work(person, rng: random.Random) -> None:
        for _ in range(4):
            item = world.next(
                person, seconds=rng.choice((600, 600, -1))
            )  # some places have run out when the vote comes
            label = rng.choice(("correct", "correct", "incorrect", "flagged"))
            act = rng.random()
            if item is not None and act < 0.1:
                world.skip(person, item.example_id)
            elif item is not None and act < 0.8:
                voted = send(world, person, item.example_id, item.mode, label)
                if voted and rng.random() < 0.2:
                    try:
                        world.undo(person, item.example_id)
                    except errors.Conflict:
                        continue
            else:  # without a place
                send(world, person, rng.choice(examples), "answer" if mode == "answer" else "judge", label)

    crowd(world, work)
    for example in examples:
        allowed(world, example)
    assert world.projections() == world.rebuilt()


def test_twenty_votes_at_once_on_one_example(database):
    world = World(database)
    example = world.example(world.person())
    crowd(world, lambda person, _: send(world, person, example, "judge", "correct"))
    assert [cast.vote for cast in world.counted(example)] == ["correct"] * 2


def test_one_person_asking_many_times_at_once_holds_one_place(database):
    world = World(database)
    author, person = world.person(), world.person()
    for _ in range(20):
        world.example(author)
    with ThreadPoolExecutor(10) as pool:
        result = list(pool.map(lambda _: world.next(person).example_id, range(10)))
    assert len(set(result)) == 1


def test_places_held_at_once_never_exceed_those_that_are_wanted(database):
    world = World(database)
    examples = [world.example(world.person()) for _ in range(8)]
    crowd(world, lambda person, _: world.next(person))
    live = world.db.read(
        lambda s: s.scalars(select(Reservation.example_id).where(Reservation.expires_at > now())).all()
    )
    assert sorted(live) == sorted(examples * 2)


@pytest.mark.slow
def test_retractions_and_votes_at_once_leave_the_counts_right(database):
    world = World(database)
    author = world.person()
    examples = [world.example(author) for _ in range(10)]

    def work(person, rng: random.Random) -> None:
        example = rng.choice(examples)
        if rng.random() < 0.2:
            world.retract(example)
        else:
            send(world, person, example, "judge", "correct")

    crowd(world, work)
    assert world.projections() == world.rebuilt()


@pytest.mark.slow
def test_nobody_is_left_without_an_item_that_waits(database):
    """Each of the validators works until nothing is there: then nothing that they may vote on is open."""
    world = World(database)
    examples = [world.example(world.person()) for _ in range(15)]

    def work(person, _) -> None:
        while item := world.next(person):
            send(world, person, item.example_id, item.mode, "correct")

    crowd(world, work)
    assert {world.standing(example).verdict for example in examples} == {"correct"}
    assert not world.db.read(lambda session: session.scalars(select(Skip)).all())
    assert not world.db.read(lambda session: [row for row in session.scalars(select(Standing)) if row.open])
