"""Every `select` over texts to start from, with its cost."""

from collections.abc import Iterator, Sequence

from sqlalchemy import Select, select

from dynabench.collection.queries import concealed
from dynabench.collection.tables import (
    Example,
    Seed,
    SeedPrediction,
    Standing,
)
from dynabench.people import disclosure
from dynabench.rounds.tables import Context


def seed(task_id: str, seed_id: int) -> Select[Seed]:
    """A seed that may be handed out: one index probe, and one for the example that it was taken from."""
    return select(Seed).where(Seed.id == seed_id, Seed.task_id == task_id, ~concealed(Seed.made_from.expression))


def least_seeded(task_id: str) -> Select[int]:
    """The fewest examples that a seed of the task has: one index probe."""
    return select(Seed.used).where(Seed.task_id == task_id).order_by(Seed.used).limit(1)


def seed_probes(task_id: str, level: int, draw: int, but: int) -> Iterator[Select[Seed]]:
    """The least used seed, ties broken by the random key nearest above `draw`; `level` is the lowest use.

    At most three index probes, longer only over seeds whose examples are concealed.
    """
    base = select(Seed).where(Seed.task_id == task_id, Seed.id != but, ~concealed(Seed.made_from.expression)).limit(1)
    yield base.where(Seed.used == level, Seed.draw >= draw).order_by(Seed.draw)
    yield base.where(Seed.used == level, Seed.draw < draw).order_by(Seed.draw)
    yield base.where(Seed.used > level).order_by(Seed.used, Seed.draw)


def seed_predictions(seed_id: int) -> Select[SeedPrediction]:
    """Select the models' answers to a seed: one range of the primary key."""
    return select(SeedPrediction).where(SeedPrediction.seed_id == seed_id)


def known_seeds(task_id: str, digests: Sequence[str]) -> Select[str]:
    """Select those of `digests` that are seeds of the task already: one index probe each."""
    return select(Seed.digest).where(Seed.task_id == task_id, Seed.digest.in_(digests))


def contexts_by_digest(task_id: str, digests: Sequence[str]) -> Select[str, int]:
    """Digests and ids of a task's contexts: one index probe each."""
    return select(Context.digest, Context.id).where(Context.task_id == task_id, Context.digest.in_(digests))


def seedlings(round_id: int, verdict: str, after: int, limit: int) -> Select[Example, Context]:
    """A round's examples above id `after` that have this verdict and are not concealed: walks an index range."""
    return (
        select(Example, Context)
        .join(Standing, Standing.example_id == Example.id)
        .join(Context, Context.id == Example.context_id)
        .where(Example.round_id == round_id, Example.id > after)
        .where(Standing.verdict == verdict, disclosure.shown_examples(Standing))
        .order_by(Example.id)
        .limit(limit)
    )
