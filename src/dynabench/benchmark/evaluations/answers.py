"""Stored answers: a Parquet file for each shard, and the answers of a part beside the right ones.

Columns of a file: `uid`, `answer` (JSON object by answer field), `probabilities` (JSON object by label, or null) and
`cost`.
"""

import hashlib
import os
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from dynabench.benchmark.evaluations.measures import is_exact
from dynabench.benchmark.evaluations.model_process import EvaluationStopped
from dynabench.benchmark.evaluations.tables import Shard
from dynabench.datasets import stored
from dynabench.kit.settings import Settings
from dynabench.models.protocol import ModelOutput
from dynabench.tasks.config import TaskConfig
from dynabench.tasks.fields import Field
from dynabench.tasks.rules import Rule

_TEXT = pa.string()
SCHEMA = pa.schema([("uid", _TEXT), ("answer", _TEXT), ("probabilities", _TEXT), ("cost", pa.float64())])


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """A model's answer to one row."""

    uid: str
    answer: dict[str, Any]
    probabilities: dict[str, float] | None = None
    cost: float | None = None


@dataclass(frozen=True)
class UnnamedFile:
    """A file that is complete on disk and has a temporary name."""

    path: Path
    digest: str

    def keep(self, target: Path) -> None:
        """Move the file to its final path; the same path again is the same shard."""
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.path.replace(target)
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def answers_path(settings: Settings, evaluation: int, part: str, number: int) -> Path:
    """Return the path of a shard's answers."""
    return settings.folder / "evaluations" / str(evaluation) / f"{part}-{number}.parquet"


def write_answers(settings: Settings, uids: Sequence[str], outputs: Sequence[ModelOutput]) -> UnnamedFile:
    """Write answers to a file with a temporary name."""
    folder = settings.folder / "evaluations"
    folder.mkdir(mode=0o700, exist_ok=True)
    waiting = folder / f".{uuid.uuid4()}"
    columns = {
        "uid": list(uids),
        "answer": [_json(output.answer) for output in outputs],
        "probabilities": [_json(output.probabilities) if output.probabilities else None for output in outputs],
        "cost": [output.extras.get("cost") for output in outputs],
    }
    pq.write_table(pa.table(columns, schema=SCHEMA), waiting, compression="zstd")
    with waiting.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        os.fsync(file.fileno())
    return UnnamedFile(waiting, digest)


def read_answers(path: Path) -> Iterator[StoredAnswer]:
    """Yield the answers of a file in order; raises FileNotFoundError where it is gone."""
    for row in pq.read_table(path).to_pylist():
        probabilities = row["probabilities"]
        yield StoredAnswer(
            row["uid"], orjson.loads(row["answer"]), orjson.loads(probabilities) if probabilities else None, row["cost"]
        )


def _json(value: Any) -> str:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()


@dataclass
class AnswerColumns:
    """Columns of equal length, with one entry for each row of a part: predictions, right answers, probabilities,
    costs, and the uid of the original for twins. The rows of each tag are listed by position; the inputs that the
    task's rule reads are present if it reads any.
    """

    answer: Field
    uids: list[str] = field(default_factory=list)
    predictions: list[Any] = field(default_factory=list)
    right: list[list[Any]] = field(default_factory=list)
    chances: list[dict[str, float] | None] = field(default_factory=list)
    costs: list[float] = field(default_factory=list)
    originals: list[str] = field(default_factory=list)
    places: dict[str, list[int]] = field(default_factory=dict)
    inputs: list[dict[str, Any]] = field(default_factory=list)

    def hits(self) -> list[bool]:
        """Return for each row whether the prediction equals an accepted answer, as accuracy counts it."""
        return [
            is_exact(self.answer, prediction, right)
            for prediction, right in zip(self.predictions, self.right, strict=True)
        ]

    def right_by(self, rule: Rule) -> list[bool]:
        """Return for each row whether the prediction is right by the task's rule (`Rule.right`)."""
        rows = zip(self.predictions, self.right, self.inputs or [{}] * len(self.predictions), strict=True)
        return [rule.right(prediction, accepted, self.answer, inputs) for prediction, accepted, inputs in rows]


def answer_field(config: TaskConfig, settings: Settings, shard: Shard) -> Field:
    """The task's answer field that the answers of a shard are about."""
    first = next(read_answers(_file(settings, shard)))
    return next((field for field in config.answer if field.name in first.answer), config.answer[0])


def gather_answers(
    settings: Settings, field: Field, digest: str, shards: Sequence[Shard], reads: Sequence[str] = ()
) -> AnswerColumns:
    """Return the rows and answers of a part, with the inputs named in `reads`.

    Raises `EvaluationStopped` where a file is not the recorded one.
    """
    gathered = AnswerColumns(field)
    rows = stored.read_rows(settings, digest)
    for shard in sorted(shards, key=lambda shard_row: shard_row.first):
        for answer in read_answers(_file(settings, shard)):
            row = next(rows, None)
            if row is None or row.uid != answer.uid:
                raise EvaluationStopped("dataset_changed")
            _add(gathered, row, answer)
            if reads:
                gathered.inputs.append({name: row.inputs[name] for name in reads if name in row.inputs})
    return gathered


def _file(settings: Settings, shard: Shard) -> Path:
    path = answers_path(settings, shard.evaluation_id, shard.part, shard.number)
    if not path.is_file():
        raise EvaluationStopped("answers_gone")
    return path


def _add(gathered: AnswerColumns, row: stored.StoredRow, stored_answer: StoredAnswer) -> None:
    name = gathered.answer.name
    for tag in row.tags:
        gathered.places.setdefault(tag, []).append(len(gathered.uids))
    gathered.uids.append(row.uid)
    gathered.predictions.append(stored_answer.answer.get(name))
    gathered.right.append([accepted[name] for accepted in row.answers if name in accepted] or [None])
    gathered.chances.append(stored_answer.probabilities)
    if stored_answer.cost is not None:
        gathered.costs.append(stored_answer.cost)
    gathered.originals.append(row.original_uid)
