"""A round against the models `m` and `weak`, whose figures can be counted by hand."""

from sqlalchemy import select

from dynabench.collection.tables import Prediction
from dynabench.rounds.tables import Target

from .world import CLAIM, WRONG, World


def against_both(world: World, author, strong: bool, weak: bool, **columns) -> int:
    """An example of a round against `m` and `weak` that counts where either of them is wrong."""

    def write(session):
        example = world.write_example(session, author, strong or weak, **columns)
        session.scalars(select(Prediction).where(Prediction.example_id == example)).one().fooled = strong
        answer = WRONG if weak else CLAIM
        session.add(
            Prediction(
                example_id=example, position=1, model="weak", version="2", answer=answer, probabilities=None,
                fooled=weak, latency_ms=1.0,
            )
        )  # fmt: skip
        return example

    return world.db.write(write)


def decide(world: World, example: int, label: str) -> None:
    """Two people give the same vote."""
    for _ in range(2):
        world.vote(world.person(), example, label)


def collect(world: World) -> None:
    """Ada and Bob: 6 examples that fooled the weak model alone, 1 both, 1 the strong one alone, 2 neither."""
    weak = Target(round_id=world.round_id, position=1, model="weak", version="2")
    world.db.write(lambda session: session.add(weak))
    ada, bob = world.person(), world.person()
    for number in range(6):
        example = against_both(world, ada if number % 2 else bob, False, True)
        if number < 4:
            decide(world, example, "correct" if number else "incorrect")
    decide(world, against_both(world, ada, True, True), "correct")
    against_both(world, bob, True, False)
    against_both(world, ada, False, False)
    against_both(world, bob, False, False)
    world.retract(against_both(world, ada, True, True))
    decide(world, against_both(world, ada, True, False, source="program"), "correct")
