"""Answers to control items are paid as votes are, and cost no example."""

import pytest

from dynabench.kit import errors
from dynabench.pay import limits, queries, service, work
from dynabench.pay.scheme import parse_scheme
from dynabench.rounds.tables import Round
from tests.validation.control_world import ControlWorld, force_control


def paid_votes(world: ControlWorld, person_id: int) -> list[bool]:
    """Return for each piece of checking, in order, if it counts for pay."""
    person_work = world.db.read(
        lambda session: work.read_work(session, session.get_one(Round, world.round_id), [person_id])
    )
    return [vote.counts for vote in person_work[person_id].votes]


def test_an_answer_to_a_control_is_paid_until_it_is_taken_back(database):
    world = ControlWorld(database, "{gold: 0.5}", gold=20, votes=25, cap=25)
    for _number in range(20):
        world.example(world.author)
    validator = world.person()
    item = force_control(world, validator)
    world.vote(validator, item.example_id, "correct")
    assert paid_votes(world, validator.id) == [True]
    before = database.read(lambda session: tuple(session.execute(queries.vote_sums(world.round_id)).one()))
    world.undo(validator, item.example_id)
    assert paid_votes(world, validator.id) == [False]
    after = database.read(lambda session: tuple(session.execute(queries.vote_sums(world.round_id)).one()))
    assert before != after  # so that the books follow
    world.vote(validator, item.example_id, "incorrect")
    assert paid_votes(world, validator.id) == [False, True]


@pytest.mark.slow
def test_the_budget_sets_aside_the_controls_that_come_with_the_votes(database):
    world = ControlWorld(database, "{gold: 0.5}", gold=40, votes=4, cap=4)
    scheme = parse_scheme({"currency": "EUR", "per_example": "0.20", "per_vote": "0.10", "budget": "21.05"})
    world.db.write(service.save_scheme, world.owner, world.task, 1, scheme)

    def read() -> limits.Commitments:
        limits._recent_commitments.clear()
        return world.db.read(
            lambda session: limits.commitments(session, session.get_one(Round, world.round_id), [scheme])
        )

    examples = [world.example(world.author) for _number in range(20)]
    price = 20 + 80  # an answer to a control comes with every vote: eight are paid for the four votes of an example
    assert (read().accepted, read().next_example) == (20 * price, price)
    assert not read().is_spent
    validator = world.person()
    item = force_control(world, validator)
    world.vote(validator, item.example_id, "correct")
    assert read().accepted == 20 * price + 10
    assert read().is_spent, "writing ends before a control or a vote would be unpaid"
    with pytest.raises(errors.Conflict, match="used up"):
        world.db.read(limits.refuse_unpaid_example, world.author, world.round_id)
    world.db.read(limits.refuse_unpaid_vote, validator, world.round_id)  # checking goes on
    for _number in range(4):
        world.vote(world.person(), examples[0], "correct")
        assert read().accepted <= 20 * price + 10
    assert read().accepted == 19 * price + 20 + 40 + 10, "the part of controls that were not drawn is free again"
    world.configure("{gold: 0.0, attention: 0.0, repeat: 0.0}")
    assert read().next_example == 20 + 40
