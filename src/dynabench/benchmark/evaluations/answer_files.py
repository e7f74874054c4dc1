"""Answers of one shard in a Parquet file: written once, read again for scores and pages.

Columns: `uid`, `answer` (JSON object by answer field), `probabilities` (JSON object by label, or null), `cost`.
"""

import hashlib
import os
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from dynabench.kit.settings import Settings
from dynabench.models.protocol import Output

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


def write_answers(settings: Settings, uids: Sequence[str], outputs: Sequence[Output]) -> UnnamedFile:
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
