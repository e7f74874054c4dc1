"""Which models are fooled by the same examples: from stored answers, computed when asked for and kept in memory.

The transfer rate of an example is the share of other models that it fools; a model is fooled where its answer is none
of those that count as right.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sqlalchemy.orm import Session

from dynabench import errors
from dynabench.accounts.tables import Person
from dynabench.rounds import service as rounds
from dynabench.scoring import queries, service
from dynabench.scoring.asking import Stopped
from dynabench.scoring.gathering import answer_field, gather
from dynabench.scoring.planning import ROWS
from dynabench.scoring.tables import Shard
from dynabench.settings import Settings

MOST = 50
"""Models that are compared, the first that were evaluated."""
KEPT = 200
"""Answers of evaluations that are kept in memory, as one bit a row."""

_errors: dict[tuple[int, tuple[str, ...]], NDArray[np.bool_]] = {}


@dataclass(frozen=True)
class Transfer:
    """Of models on one dataset version.

    `models` are names with evaluations' ids; `fooled` how many rows fool each; `rates` the mean share of the others
    that a row fooling it also fools (None where none does); `joint[i][j]` the share of rows that fool both i and j;
    `by_count[k]` how many rows fool exactly k models.
    """

    rows: int
    models: list[tuple[int, str]]
    fooled: list[int]
    rates: list[float | None]
    joint: list[list[float]]
    by_count: list[int]


def transfer(session: Session, settings: Settings, viewer: Person | None, version: int) -> Transfer:
    """Joint errors of the models that `viewer` may see."""
    found = [
        (evaluation, submission)
        for evaluation, submission in session.execute(queries.on_version(version))
        if service.sees(session, viewer, submission)
    ][:MOST]
    wrong = [errors_of(session, settings, evaluation.id) for evaluation, _ in found]
    names = [(evaluation.id, service.one(session, viewer, evaluation.id).name) for evaluation, _ in found]
    return summed(names, wrong)


def summed(names: Sequence[tuple[int, str]], wrong: Sequence[NDArray[np.bool_]]) -> Transfer:
    """From which rows each model gets wrong, all of shape (n,)."""
    if not wrong:
        return Transfer(0, [], [], [], [], [])
    table = np.stack(wrong).astype(float)
    models, rows = table.shape
    together = table @ table.T
    fooled = np.diagonal(together)
    others = together.sum(1) - fooled
    rates = [float(o / f / (models - 1)) if f and models > 1 else None for o, f in zip(others, fooled, strict=True)]
    counts = np.bincount(table.sum(0).astype(int), minlength=models + 1)
    joint = (together / max(rows, 1)).tolist()
    return Transfer(rows, list(names), [int(each) for each in fooled], rates, joint, counts.tolist())


def errors_of(session: Session, settings: Settings, evaluation: int) -> NDArray[np.bool_]:
    """Which rows an evaluation got wrong, shape (n,). Raises `Unavailable` where the answers cannot be read."""
    shards = [each for each in session.scalars(queries.shards(evaluation)) if each.part == ROWS]
    key = (evaluation, tuple(shard.digest for shard in shards))
    if key not in _errors:
        while len(_errors) >= KEPT:
            _errors.pop(next(iter(_errors)))
        _errors[key] = _read(session, settings, evaluation, shards)
    return _errors[key]


def _read(session: Session, settings: Settings, evaluation: int, shards: Sequence[Shard]) -> NDArray[np.bool_]:
    _, _, version, dataset = session.execute(queries.whole(evaluation)).one()
    config = rounds.newest_config(session, dataset.task_id)
    try:
        field = answer_field(config, settings, shards[0])
        return ~np.array(gather(settings, field, version.digest, shards).hits(), bool)
    except (Stopped, OSError, IndexError):
        raise errors.Unavailable("The stored answers cannot be read now. Tell the operator.") from None
