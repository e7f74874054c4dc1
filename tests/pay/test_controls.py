"""Answers to control items are paid as votes are, and cost no example."""

from dynabench.pay import queries, work
from dynabench.rounds.tables import Round
from tests.validation.test_controls import ControlWorld, force_control


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
