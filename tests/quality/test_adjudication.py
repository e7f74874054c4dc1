"""Experts decide about disputed examples: the queue, the decision in place of votes, and taking it back."""

import random

import pytest

from dynabench.kit import errors
from dynabench.quality import adjudication
from tests.validation.world import World


def dispute(world: World, author=None):
    """An example whose two votes differ and whose cap is reached."""
    example = world.example(author or world.person())
    voters = [world.person(), world.person()]
    world.vote(voters[0], example, "correct")
    world.vote(voters[1], example, "incorrect", corrected="neutral")
    return example, voters


@pytest.mark.slow
def test_a_decision_replaces_the_votes_and_is_taken_back(database):
    world = World(database, votes=2, cap=2)
    example, _voters = dispute(world)
    expert, other = world.person("expert"), world.person("expert")
    before = world.projections()
    (case,) = world.db.read(adjudication.list_cases, expert, world.task)
    assert {label: len(votes) for label, votes in case.sides.items()} == {"correct": 1, "incorrect": 1}
    assert case.sides["incorrect"][0].values == {"corrected": "neutral"}  # the other side's reason
    with pytest.raises(errors.Invalid, match="reason"):
        world.db.write(adjudication.decide_case, expert, example, "correct", "  ")
    decision = world.db.write(adjudication.decide_case, expert, example, "correct", "It  follows.")
    assert world.standing(example).verdict == "correct"
    assert decision.reason == "It follows."
    again = world.db.write(adjudication.decide_case, expert, example, "correct", "It follows.")
    assert again.id == decision.id, "sent twice, it is one decision"
    assert world.projections() == world.rebuilt()
    assert world.db.read(adjudication.list_cases, expert, world.task) == []
    later = world.db.write(adjudication.decide_case, other, example, "flagged", "Names a person.")
    assert world.standing(example).verdict == "flagged"  # the latest decision counts
    with pytest.raises(errors.Forbidden):
        world.db.write(adjudication.revoke_decision, expert, world.task, later.id)
    world.db.write(adjudication.revoke_decision, world.owner, world.task, later.id)
    assert world.standing(example).verdict == "correct"
    world.db.write(adjudication.revoke_decision, expert, world.task, decision.id)
    assert world.projections() == world.rebuilt() == before
    with pytest.raises(errors.Conflict):
        world.db.write(adjudication.revoke_decision, expert, world.task, decision.id)
    rows = world.db.read(adjudication.list_decisions, expert, world.task)
    assert [(row.verdict, row.revoked_at is not None) for row in rows] == [("flagged", True), ("correct", True)]


def test_nobody_decides_about_their_own_example_or_vote(database):
    world = World(database, votes=2, cap=2)
    expert, voting = world.person("expert"), world.person("expert")
    own, _voters = dispute(world, expert)
    voted = world.example(world.person())
    world.vote(voting, voted, "correct")
    world.vote(world.person(), voted, "incorrect")
    assert [case.seen.example.id for case in world.db.read(adjudication.list_cases, expert, world.task)] == [voted]
    assert [case.seen.example.id for case in world.db.read(adjudication.list_cases, voting, world.task)] == [own]
    with pytest.raises(errors.Forbidden):
        world.db.write(adjudication.decide_case, expert, own, "correct", "Mine.")
    with pytest.raises(errors.Conflict):
        world.db.write(adjudication.decide_case, voting, voted, "correct", "As I said.")
    with pytest.raises(errors.Forbidden):
        world.db.write(adjudication.decide_case, world.person(), own, "correct", "No role.")
    with pytest.raises(errors.Forbidden):
        world.db.read(adjudication.list_cases, world.person("annotator"), world.task)
    world.state("released")
    assert world.db.read(adjudication.list_cases, voting, world.task) == []
    with pytest.raises(errors.Conflict):
        world.db.write(adjudication.decide_case, voting, own, "correct", "Too late.")


def test_split_votes_are_a_queue_of_their_own(database):
    world = World(database, votes=2, cap=5)
    example, _voters = dispute(world)
    expert = world.person("expert")
    assert world.db.read(adjudication.list_cases, expert, world.task) == []
    (case,) = world.db.read(adjudication.list_cases, expert, world.task, "split")
    assert case.seen.example.id == example
    with pytest.raises(errors.Invalid):
        world.db.read(adjudication.list_cases, expert, world.task, "all")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_random_histories_of_votes_and_decisions_equal_a_rebuild(database, seed):
    world, rng = World(database, votes=2, cap=3), random.Random(seed)
    author, voters = world.person(), [world.person() for _ in range(4)]
    experts = [world.person("expert") for _ in range(2)]
    examples, decisions = [world.example(author) for _ in range(4)], []
    for _ in range(40):
        example = rng.choice(examples)
        try:
            if rng.random() < 0.6:
                world.vote(rng.choice(voters), example, rng.choice(("correct", "incorrect", "flagged")))
            elif rng.random() < 0.5 or not decisions:
                label = rng.choice(("correct", "incorrect", "flagged"))
                expert = rng.choice(experts)
                decision = world.db.write(adjudication.decide_case, expert, example, label, "So it is.")
                decisions.append((expert, decision.id))
            else:
                expert, decision_id = rng.choice(decisions)
                world.db.write(adjudication.revoke_decision, expert, world.task, decision_id)
        except errors.Conflict:
            continue
    assert world.projections() == world.rebuilt()
