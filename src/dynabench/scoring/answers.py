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

from dynabench.models.protocol import Output
from dynabench.settings import Settings

_TEXT = pa.string()
SCHEMA = pa.schema([("uid", _TEXT), ("answer", _TEXT), ("probabilities", _TEXT), ("cost", pa.float64())])


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model said of one row."""

    uid: str
    answer: dict[str, Any]
    probabilities: dict[str, float] | None = None
    cost: float | None = None


@dataclass(frozen=True)
class Waiting:
    """A file that is complete on disk and waits to be named."""

    path: Path
    digest: str

    def keep(self, target: Path) -> None:
        """Give it its name; the same name again is the same shard."""
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.path.replace(target)
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def path(settings: Settings, evaluation: int, part: str, number: int) -> Path:
    """Where the answers of a shard lie."""
    return settings.folder / "evaluations" / str(evaluation) / f"{part}-{number}.parquet"


def write(settings: Settings, uids: Sequence[str], outputs: Sequence[Output]) -> Waiting:
    """Store answers in a file without a name yet."""
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
    return Waiting(waiting, digest)


def read(path: Path) -> Iterator[Answer]:
    """The answers of a file in order; raises FileNotFoundError where it is gone."""
    for row in pq.read_table(path).to_pylist():
        said = row["probabilities"]
        yield Answer(row["uid"], orjson.loads(row["answer"]), orjson.loads(said) if said else None, row["cost"])


def _json(value: Any) -> str:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
