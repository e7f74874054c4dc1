"""What an evaluation has to do: its parts, and the shards that they are answered in."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy.orm import Session

from dynabench.datasets.tables import Dataset, DatasetVersion, Twin
from dynabench.registry.tables import Submission
from dynabench.scoring import queries, queueing
from dynabench.scoring.tables import Evaluation, Shard

SMALLEST, LARGEST = 64, 2000
"""Rows of a shard."""
SECONDS = 30.0
"""How long a shard should take, which is what a crash may cost."""
UNKNOWN = 256
"""Rows of a shard of a model whose speed nobody knows yet."""
ROWS = "rows"
"""The part that is the dataset itself; the others are named after the axes of its twins."""


@dataclass(frozen=True)
class Part:
    """Rows to be answered: those of the file named by `digest`."""

    name: str
    digest: str
    rows: int


@dataclass(frozen=True)
class Piece:
    """Rows `first` to `first + rows` of a part, answered together."""

    part: str
    digest: str
    number: int
    first: int
    rows: int


def parts(session: Session, submission: Submission, version: DatasetVersion, axes: Sequence[str]) -> list[Part]:
    """The version's rows, and those of its newest twins along the task's axes; files of predictions have no twins."""
    found = [Part(ROWS, version.digest, version.rows)]
    if submission.kind == "predictions":
        return found
    newest: dict[str, Twin] = {}
    for twin in session.scalars(queries.twins(version.id)):
        newest.setdefault(twin.axis, twin)
    return found + [Part(axis, newest[axis].digest, newest[axis].rows) for axis in axes if axis in newest]


def pieces(wanted: Sequence[Part], done: Sequence[Shard], rate: float | None) -> list[Piece]:
    """All parts in shards: those that are done as they are, the rest by `rate`, rows a second."""
    size = min(max(int((rate or 0) * SECONDS), SMALLEST), LARGEST) if rate else UNKNOWN
    found = []
    for part in wanted:
        old = sorted((shard for shard in done if shard.part == part.name), key=lambda shard: shard.first)
        found += [Piece(part.name, part.digest, shard.number, shard.first, shard.rows) for shard in old]
        at, number = max((s.first + s.rows for s in old), default=0), max((s.number + 1 for s in old), default=0)
        for first in range(at, part.rows, size):
            found.append(Piece(part.name, part.digest, number, first, min(size, part.rows - first)))
            number += 1
    return found


def settle(session: Session, evaluation: Evaluation, wanted: Sequence[Part], planned: dict[str, str]) -> bool:
    """Whether what was `planned` (digest by part) is still all there is to do; else the evaluation is queued again."""
    now = {part.name: part.digest for part in wanted}
    changed = [name for name in now if now[name] != planned.get(name)]
    if changed:
        for name in changed:
            queueing.drop_part(session, evaluation, name)
        queueing.reopen(session, evaluation)
    return not changed


def described(piece: Piece) -> dict[str, Any]:
    """A piece as JSON."""
    return vars(piece)


def whole(session: Session, evaluation: int) -> tuple[Evaluation, Submission, DatasetVersion, Dataset]:
    """An evaluation, its submission, dataset version and dataset."""
    row = session.execute(queries.whole(evaluation)).one()
    return row[0], row[1], row[2], row[3]
