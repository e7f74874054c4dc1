"""Excluding a banned person's votes: verdicts and counts follow, and come back; released rounds never change."""

import random
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import func, select

from dynabench.collection.tables import VerdictEvent
from dynabench.kit import errors
from dynabench.kit.jobs import Job
from dynabench.people.accounts.tables import Notice
from dynabench.people.roles import TaskRole
from dynabench.rounds import people
from dynabench.validation import exclusion, moderation, service, validators
from dynabench.validation.rebuild import rebuild_all
from dynabench.validation.tables import Validation

from .world import World


def run_job(world: World, job_id: str) -> None:
    """Run the job of a decision as its workflow does."""
    payload = world.db.read(lambda session: session.get_one(Job, job_id).payload)
    facts = (payload["task"], payload["person"], payload["excluded"])
    while world.db.write(exclusion.recount_some, job_id, *facts):
        pass


def decide(world: World, person, *, excluded: bool) -> None:
    """Exclude the votes of a banned person or count them again, to the end."""
    change = exclusion.exclude_votes if excluded else exclusion.restore_votes
    run_job(world, world.db.write(change, world.owner, world.task, person.id).job_id)


def ban(world: World, person, *, exclude: bool = False) -> None:
    world.db.write(exclusion.ban_validator, world.owner, world.task, person.id, "Random votes.", exclude=exclude)


def cast_votes(world: World, voters, rng: random.Random, examples: int) -> list[int]:
    """Examples with votes of several people; some are blind, flag, or were undone."""
    author = world.person()
    written = [world.example(author, tag="rain" if number % 2 else "") for number in range(examples)]
    for example in written:
        for voter in rng.sample(voters, len(voters)):
            try:
                if world.config.validation.mode == "answer":
                    world.answer(voter, example, rng.choice(("contradiction", "neutral")))
                else:
                    world.vote(voter, example, rng.choice(("correct", "incorrect", "flagged")))
                if rng.random() < 0.15:
                    world.undo(voter, example)
            except errors.Conflict:
                continue
    return written


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["judge", "answer"])
@pytest.mark.parametrize("seed", [7])
def test_all_counts_equal_a_rebuild_after_each_decision_and_come_back(database, monkeypatch, seed, mode):
    monkeypatch.setattr(exclusion, "SIZE", 3)
    world, rng = World(database, mode=mode, votes=2, cap=3), random.Random(seed)
    voters = [world.person() for _ in range(4)]
    examples = cast_votes(world, voters, rng, 6)
    before = world.projections()
    first = voters[0]
    effects = world.db.read(exclusion.preview_effects, world.owner, world.task, first.id)
    verdicts = {example: world.standing(example).verdict for example in examples}
    ban(world, first)
    decide(world, first, excluded=True)
    changed = sum(world.standing(example).verdict != verdicts[example] for example in examples)
    state = world.db.read(exclusion.read_state, world.owner, world.task, first.id)
    assert (state.votes, state.verdicts) == (effects.votes, effects.verdicts) == (effects.votes, changed)
    assert not any(cast.person_id == first.id for example in examples for cast in world.counted(example))
    assert world.projections() == world.rebuilt()
    decide(world, first, excluded=False)
    assert world.projections() == world.rebuilt() == before


def test_votes_that_were_one_side_of_a_verdict_open_the_example_again(database):
    world = World(database, votes=2, cap=3)
    bad, good, other = (world.person() for _ in range(3))
    example = world.example(world.person())
    world.vote(bad, example, "flagged")
    world.vote(good, example, "flagged")
    assert world.standing(example).verdict == "flagged"
    ban(world, bad, exclude=True)
    assert world.next(other) is None  # verdicts follow in the job
    run_job(world, world.db.read(lambda s: s.scalars(select(Job.id).where(Job.kind == exclusion.KIND)).one()))
    assert (world.standing(example).verdict, world.standing(example).votes) == ("pending", 1)
    assert world.next(other).example_id == example
    votes = world.db.read(moderation.votes, example)
    assert [(cast.undone, cast.excluded) for cast in votes] == [(True, True), (False, False)]
    mine = world.db.read(service.my_outcome, bad, example)
    assert mine.vote == "flagged"  # on their own record it stays
    assert world.db.read(service.voted_today, bad) == 1
    texts = world.db.read(lambda s: s.scalars(select(Notice.text).where(Notice.person_id == bad.id)).all())
    assert any("no longer count" in text for text in texts)


def test_a_released_round_never_changes_also_where_the_votes_count_again(database):
    world = World(database, votes=1, cap=1)
    bad = world.person()
    example = world.example(world.person())
    world.vote(bad, example, "correct")
    world.state("released")
    released = world.projections()
    effects = world.db.read(exclusion.preview_effects, world.owner, world.task, bad.id)
    assert (effects.votes, effects.verdicts, effects.released, effects.released_verdicts) == (0, 0, 1, 1)
    ban(world, bad)
    decide(world, bad, excluded=True)
    assert world.projections() == released
    world.state("closed")
    decide(world, bad, excluded=True)  # decided already: nothing runs again
    assert world.standing(example).verdict == "correct"
    decide(world, bad, excluded=False)
    decide(world, bad, excluded=True)
    assert world.standing(example).verdict == "pending"
    world.state("released")
    decide(world, bad, excluded=False)
    assert world.standing(example).verdict == "pending"
    rebuild_all(world.db)
    assert world.standing(example).verdict == "pending"


def test_a_vote_that_was_cast_again_is_not_counted_twice(database):
    world = World(database, votes=2, cap=3)
    person = world.person()
    example = world.example(world.person())
    world.vote(person, example, "correct")
    ban(world, person)
    decide(world, person, excluded=True)
    world.db.write(exclusion.lift_ban, world.owner, world.task, person.id, restore=False)
    world.vote(person, example, "incorrect")
    decide(world, person, excluded=False)
    assert [cast.vote for cast in world.counted(example)] == ["incorrect"]
    assert world.projections() == world.rebuilt()


def test_only_owners_exclude_and_only_votes_of_the_banned(database):
    world = World(database)
    person, moderator = world.person(), world.person(role=TaskRole.MODERATOR)
    world.vote(person, world.example(world.person()), "correct")
    with pytest.raises(errors.Conflict):
        world.db.write(exclusion.exclude_votes, world.owner, world.task, person.id)
    with pytest.raises(errors.Forbidden):
        world.db.write(exclusion.ban_validator, moderator, world.task, person.id, "Spam.", exclude=True)
    assert world.db.read(people.refuse_banned, person, world.task) is None  # all of it or nothing
    world.db.write(exclusion.ban_validator, moderator, world.task, person.id, "Spam.", exclude=False)
    with pytest.raises(errors.Forbidden):
        world.db.write(exclusion.exclude_votes, moderator, world.task, person.id)


def test_a_job_that_disagrees_with_the_latest_decision_stops(database):
    world = World(database, votes=1, cap=1)
    person = world.person()
    example = world.example(world.person())
    world.vote(person, example, "correct")
    ban(world, person)
    old = world.db.write(exclusion.exclude_votes, world.owner, world.task, person.id).job_id
    new = world.db.write(exclusion.restore_votes, world.owner, world.task, person.id).job_id
    run_job(world, old)
    run_job(world, new)
    run_job(world, old)
    assert world.standing(example).verdict == "correct"
    assert not world.db.read(exclusion.read_state, world.owner, world.task, person.id).running


@pytest.mark.slow
def test_votes_and_decisions_at_once_leave_counts_that_equal_a_rebuild(database, monkeypatch):
    monkeypatch.setattr(exclusion, "SIZE", 2)
    world = World(database, votes=2, cap=5)
    bad = world.person()
    examples = [world.example(world.person()) for _ in range(12)]
    for example in examples:
        world.vote(bad, example, "correct")
    ban(world, bad)
    voters = [world.person() for _ in range(6)]
    start = threading.Barrier(len(voters) + 2)

    def vote(number: int) -> None:
        start.wait()
        rng = random.Random(number)
        for example in rng.sample(examples, len(examples)):
            try:
                world.vote(voters[number], example, rng.choice(("correct", "incorrect", "flagged")))
            except errors.Conflict:
                continue

    def toggle(_: int) -> None:
        start.wait()
        for excluded in (True, False, True):
            decide(world, bad, excluded=excluded)

    with ThreadPoolExecutor(len(voters) + 2) as pool:
        futures = [pool.submit(vote, number) for number in range(len(voters))]
        futures += [pool.submit(toggle, number) for number in range(2)]
        for future in futures:
            future.result()
    decide(world, bad, excluded=True)
    assert not any(cast.person_id == bad.id for example in examples for cast in world.counted(example))
    assert world.projections() == world.rebuilt()
    events = world.db.read(lambda s: s.scalar(select(func.count()).select_from(VerdictEvent)))
    assert events >= sum(world.standing(example).verdict != "pending" for example in examples)


def test_the_figures_of_validators(database):
    world = World(database, votes=2, cap=3)
    first, second, third = (world.person() for _ in range(3))
    agreed, split = (world.example(world.person()) for _ in range(2))
    world.next(first)
    for person, example, label in (
        (first, agreed, "correct"),
        (second, agreed, "correct"),
        (first, split, "flagged"),
        (second, split, "correct"),
        (third, split, "correct"),
    ):
        world.vote(person, example, label)
    rows = world.db.read(validators.list_validators, world.owner, world.task)
    by_person = {row.person_id: row for row in rows}
    figures = by_person[first.id]
    assert [row.person_id for row in rows][-1] == third.id  # by votes, then by person
    assert (figures.votes, figures.flags, figures.agreement.value, figures.agreement.n) == (2, 1, 0.5, 2)
    assert (figures.others.value, figures.others.n) == (1 / 3, 3)
    assert figures.agreement.low < 0.5 < figures.agreement.high
    assert figures.timed == 1
    assert figures.median_seconds >= 0
    assert by_person[third.id].median_seconds is None
    assert world.db.read(validators.list_validators, world.owner, world.task, 1, "others")[0].person_id == first.id
    with pytest.raises(errors.NotFound):
        world.db.read(validators.validator_figures, world.owner, world.task, world.owner.id)
    with pytest.raises(errors.Forbidden):
        world.db.read(validators.list_validators, first, world.task)


@pytest.mark.parametrize("times", [[5.0], [1.0, 9.0], [1.0, 2.0, 30.0], [4.0, 1.0, 3.0, 2.0]])
def test_the_median_of_times_prefers_time_at_work(database, times):
    world = World(database, votes=1, cap=1)
    person = world.person()
    for number, seconds in enumerate(times):
        cast = world.vote(person, world.example(world.person()), "correct")

        def spend(session, cast=cast, seconds=seconds, number=number) -> None:
            row = session.get_one(Validation, cast.id)
            row.seconds = 1000.0 if number % 2 else seconds
            row.active_seconds = seconds if number % 2 else None

        world.db.write(spend)
    row = world.db.read(validators.validator_figures, world.owner, world.task, person.id)
    ordered = sorted(times)
    middle = len(ordered) // 2
    assert row.median_seconds == (ordered[middle] + ordered[~middle]) / 2
    assert row.timed == len(times)
