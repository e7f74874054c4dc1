"""Estimates of validators and the weighted rule, on crowds with known ability, through the services."""

import random

import pytest
from sqlalchemy import select

from dynabench.kit import errors
from dynabench.kit.jobs import Job
from dynabench.quality import jobs, service, verdict_rules
from dynabench.quality.tables import QualityEstimate
from dynabench.rounds.tables import Round
from dynabench.stats.verdict import VerdictRule
from dynabench.validation import validators
from dynabench.validation.tables import Validation
from tests.validation.world import World

ABILITIES = (0.95, 0.95, 0.9, 0.9, 0.34, 0.34)


def compute(world: World) -> None:
    """Compute the task's estimates as the job does."""
    votes = world.db.read(service.read_votes, world.task)
    newest = max(cast.id for cast_votes, _ in votes.values() for cast in cast_votes)
    world.db.write(service.store_estimates, world.task, service.compute_estimates(votes), newest)


def choose(world: World, rule: str) -> None:
    """Choose the round's rule and let all verdicts follow."""
    choice = world.db.write(verdict_rules.choose_rule, world.owner, world.task, 1, rule)
    while world.db.write(verdict_rules.weigh_some, choice.job_id, world.round_id):
        pass


def collect(world: World, examples: int = 60, seed: int = 3):
    """Examples that are truly correct or incorrect, each voted on until the rule decides; validators by ability."""
    rng, author = random.Random(seed), world.person()
    people = [world.person() for _ in ABILITIES]
    truth = {}
    for _ in range(examples):
        example = world.example(author)
        truth[example] = rng.choice(("correct", "incorrect"))
        for place in rng.sample(range(len(people)), len(people)):
            others = [label for label in ("correct", "incorrect", "flagged") if label != truth[example]]
            label = truth[example] if rng.random() < ABILITIES[place] else rng.choice(others)
            try:
                world.vote(people[place], example, label)
            except errors.Conflict:
                break
    return people, truth


def right_verdicts(world: World, truth) -> int:
    return sum(world.standing(example).verdict == label for example, label in truth.items())


@pytest.mark.slow
def test_estimates_find_careless_validators_and_stand_in_their_table(database):
    world = World(database, votes=2, cap=5)
    people, _truth = collect(world)
    assert world.db.read(service.read_estimates, world.owner, world.task).estimates is None
    compute(world)
    for number in (None, 1):
        stored = world.db.read(service.read_estimates, world.owner, world.task, number)
        by_person = {row.person_id: row for row in stored.estimates.validators}
        careful, careless = people[:4], people[4:]
        worst = min(by_person[person.id].accuracy.value for person in careful)
        assert all(by_person[person.id].accuracy.value < worst for person in careless)
        assert all(by_person[person.id].weight < by_person[people[0].id].weight for person in careless)
        vote = stored.estimates.agreement[0]
        assert vote.field == "vote"
        assert -1 <= vote.low <= vote.alpha <= vote.high <= 1
    rows = world.db.read(validators.list_validators, world.owner, world.task, None, "accuracy")
    assert {row.person_id for row in rows[:2]} == {person.id for person in people[4:]}
    with pytest.raises(errors.Forbidden):
        world.db.read(service.read_estimates, people[0], world.task)


@pytest.mark.slow
def test_the_weighted_rule_does_what_its_preview_says_and_can_be_left_again(database, monkeypatch):
    monkeypatch.setattr(verdict_rules, "SIZE", 7)
    world = World(database, votes=2, cap=5)
    _people, truth = collect(world)
    with pytest.raises(errors.Conflict, match="no estimates"):
        world.db.write(verdict_rules.choose_rule, world.owner, world.task, 1, "weighted")
    compute(world)
    before, plain_right = world.projections(), right_verdicts(world, truth)
    preview = world.db.read(verdict_rules.read_rule, world.owner, world.task, 1).weighted_effect
    choose(world, "weighted")
    state = world.db.read(verdict_rules.read_rule, world.owner, world.task, 1)
    assert (state.rule, state.running) == (VerdictRule.WEIGHTED, False)
    assert (state.verdicts, state.examples) == (preview.verdicts, preview.examples)
    assert preview.verdicts > 0
    weighted = world.projections()
    assert weighted == world.rebuilt()  # the votes alone tell the weighted verdicts
    decided = [example for example in truth if world.standing(example).verdict in ("correct", "incorrect", "flagged")]
    assert sum(world.standing(example).verdict == truth[example] for example in decided) / len(decided) >= (
        plain_right / len(truth)
    )
    open_example = next(example for example in truth if world.standing(example).verdict == "pending")
    newcomer = world.person()
    world.vote(newcomer, open_example, "correct")  # with the weight of an average validator
    weights = {cast.person_id: cast.weight for cast in world.counted(open_example)}
    assert all(weight is not None for weight in weights.values())
    assert world.projections() == world.rebuilt()
    world.undo(newcomer, open_example)
    choose(world, "plain")
    assert world.projections() == world.rebuilt() == before
    assert not any(cast.weight for example in truth for cast in world.counted(example))


@pytest.mark.slow
def test_a_second_decision_stops_the_first_and_released_rounds_stay(database, monkeypatch):
    monkeypatch.setattr(verdict_rules, "SIZE", 5)
    world = World(database, votes=2, cap=5)
    collect(world, examples=20)
    compute(world)
    before = world.projections()
    first = world.db.write(verdict_rules.choose_rule, world.owner, world.task, 1, "weighted").job_id
    assert world.db.write(verdict_rules.weigh_some, first, world.round_id)  # some of it
    choose(world, "plain")
    assert not world.db.write(verdict_rules.weigh_some, first, world.round_id)
    assert world.projections() == before
    running = world.db.write(verdict_rules.choose_rule, world.owner, world.task, 1, "weighted").job_id
    world.state("released")
    assert not world.db.write(verdict_rules.weigh_some, running, world.round_id)
    assert world.projections() == before
    with pytest.raises(errors.Conflict, match="open or closed"):
        world.db.write(verdict_rules.choose_rule, world.owner, world.task, 1, "plain")
    with pytest.raises(errors.Forbidden):
        world.db.write(verdict_rules.choose_rule, world.person("moderator"), world.task, 1, "plain")


def test_estimates_follow_new_votes_once_at_a_time(database, settings):
    world = World(database, votes=1, cap=1)
    example = world.example(world.person())
    jobs.estimate_changed_tasks(world.db, settings)
    assert world.db.read(lambda session: session.scalars(select(Job)).all()) == []
    world.vote(world.person(), example, "correct")
    for _ in range(2):
        jobs.estimate_changed_tasks(world.db, settings)
        world.db.write(service.request_estimates, world.owner, world.task)
    waiting = world.db.read(lambda session: session.scalars(select(Job).where(Job.kind == service.KIND)).all())
    assert len(waiting) == 1
    compute(world)
    assert world.db.read(lambda session: session.scalars(select(QualityEstimate.job_id)).all()) == [None, None]
    jobs.estimate_changed_tasks(world.db, settings)
    assert len(world.db.read(lambda session: session.scalars(select(Job)).all())) == 1
    stored = world.db.read(service.read_estimates, world.owner, world.task, 1)
    assert stored.estimates.votes == 1
    assert stored.estimates.agreement[0].alpha is None


@pytest.mark.slow
def test_answers_and_questions_have_their_own_agreement(database):
    world = World(database, mode="answer", votes=2, cap=3)
    author, people = world.person(), [world.person() for _ in range(2)]
    for number in range(12):
        example = world.example(author)
        for person in people:
            world.answer(person, example, "neutral" if number % 2 else "contradiction")
    compute(world)
    agreement = {
        row.field: row for row in world.db.read(service.read_estimates, world.owner, world.task, 1).estimates.agreement
    }
    assert agreement["answer.label"].alpha == agreement["vote"].alpha == 1
    assert agreement["answer.label"].scale == "nominal"
    assert world.db.read(lambda session: session.get_one(Round, world.round_id).vote_weight) is None
    assert world.db.read(lambda session: session.scalars(select(Validation.weight)).first()) is None
