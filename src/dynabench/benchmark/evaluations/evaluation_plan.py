"""The plan of an evaluation: its parts, and the shards that they are answered in."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy.orm import Session

from dynabench.benchmark.evaluations import queries, queueing
from dynabench.benchmark.evaluations.tables import Evaluation, Shard
from dynabench.benchmark.registry.tables import Submission
from dynabench.datasets.tables import Dataset, DatasetVersion, Twin

MIN_SHARD_ROWS, MAX_SHARD_ROWS = 64, 2000
"""Rows of a shard."""
SHARD_SECONDS = 30.0
"""How long a shard should take, which is what a crash may cost."""
DEFAULT_SHARD_ROWS = 256
"""Rows of a shard of a model whose speed nobody knows yet."""
ROWS = "rows"
"""The part that is the dataset itself; the others are named after the axes of its twins."""


@dataclass(frozen=True)
class EvaluationPart:
    """Rows to be answered: those of the file named by `digest`."""

    name: str
    digest: str
    rows: int


@dataclass(frozen=True)
class PlannedShard:
    """Rows `first` to `first + rows` of a part, answered together."""

    part: str
    digest: str
    number: int
    first: int
    rows: int


def evaluation_parts(
    session: Session, submission: Submission, version: DatasetVersion, axes: Sequence[str]
) -> list[EvaluationPart]:
    """The version's rows, and those of its newest twins along the task's axes; files of predictions have no twins."""
    all_parts = [EvaluationPart(ROWS, version.digest, version.rows)]
    if submission.kind == "predictions":
        return all_parts
    newest: dict[str, Twin] = {}
    for twin in session.scalars(queries.current_twins(version.id)):
        newest.setdefault(twin.axis, twin)
    return all_parts + [EvaluationPart(axis, newest[axis].digest, newest[axis].rows) for axis in axes if axis in newest]


def planned_shards(
    all_parts: Sequence[EvaluationPart], done: Sequence[Shard], rate: float | None
) -> list[PlannedShard]:
    """Return all parts in shards: finished ones as they are, the rest sized by `rate`, in rows a second."""
    size = min(max(int((rate or 0) * SHARD_SECONDS), MIN_SHARD_ROWS), MAX_SHARD_ROWS) if rate else DEFAULT_SHARD_ROWS
    planned = []
    for part in all_parts:
        old = sorted((shard for shard in done if shard.part == part.name), key=lambda shard: shard.first)
        planned += [PlannedShard(part.name, part.digest, shard.number, shard.first, shard.rows) for shard in old]
        at, number = max((s.first + s.rows for s in old), default=0), max((s.number + 1 for s in old), default=0)
        for first in range(at, part.rows, size):
            planned.append(PlannedShard(part.name, part.digest, number, first, min(size, part.rows - first)))
            number += 1
    return planned


def settle_changes(
    session: Session, evaluation: Evaluation, all_parts: Sequence[EvaluationPart], planned: dict[str, str]
) -> bool:
    """Return True if the planned parts (digest by name) are still complete; otherwise queue the evaluation again."""
    now = {part.name: part.digest for part in all_parts}
    changed = [name for name in now if now[name] != planned.get(name)]
    if changed:
        for name in changed:
            queueing.drop_part(session, evaluation, name)
        queueing.run_again(session, evaluation)
    return not changed


def shard_fields(piece: PlannedShard) -> dict[str, Any]:
    """Return a planned shard as JSON."""
    return vars(piece)


def load_evaluation(session: Session, evaluation: int) -> tuple[Evaluation, Submission, DatasetVersion, Dataset]:
    """Return an evaluation with its submission, dataset version and dataset."""
    row = session.execute(queries.evaluation_with_dataset(evaluation)).one()
    return row[0], row[1], row[2], row[3]
