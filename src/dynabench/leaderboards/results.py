"""What models answered row by row, read from the files that evaluations leave; the only reader of these files here.

A shard's file holds `uid`, `answer` (JSON object), `right` (the primary metric's score of the row, 0 to 1) and more, in
the order of the dataset's rows from the shard's `first` on.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from dynabench.datasets import stored
from dynabench.datasets.stored import Stored
from dynabench.scoring.tables import Shard
from dynabench.settings import Settings

Right = NDArray[np.float32]
"""(rows,) the score of each row of a dataset, NaN where there is no answer."""
HALF = 0.5
"""A row's score from which on its answer counts as right, for metrics with shares such as the overlap of words."""


def file(settings: Settings, shard: Shard) -> Path:
    """Where the answers of a shard lie."""
    return settings.folder / "evaluations" / str(shard.evaluation_id) / f"{shard.part}-{shard.number}.parquet"


def right(settings: Settings, shards: Iterable[Shard], rows: int) -> Right:
    """How right each of a dataset's `rows` was answered; NaN where files are gone."""
    found = np.full(rows, np.nan, np.float32)
    for shard in shards:
        part = _right(file(settings, shard), shard.digest)[: max(0, rows - shard.first)]
        found[shard.first : shard.first + len(part)] = part
    return found


@lru_cache(maxsize=256)
def _right(path: Path, digest: str) -> Right:
    """A shard's scores; files are never changed, so that `digest` names what is kept."""
    try:
        column = pq.read_table(path, columns=["right"]).column("right")
    except (FileNotFoundError, pa.ArrowInvalid, KeyError):
        return np.full(0, np.nan, np.float32)
    return np.asarray(column.cast(pa.float32()).to_numpy(zero_copy_only=False))


def answers(settings: Settings, shards: Iterable[Shard], places: Sequence[int]) -> dict[int, dict[str, Any]]:
    """What was answered to the rows at these places, by place."""
    found: dict[int, dict[str, Any]] = {}
    for shard in shards:
        inside = [place for place in places if shard.first <= place < shard.first + shard.rows]
        path = file(settings, shard)
        if inside and path.exists():
            said = pq.read_table(path, columns=["answer"]).column("answer")
            at = [place for place in inside if place - shard.first < len(said)]
            found |= {place: orjson.loads(said[place - shard.first].as_py() or "null") or {} for place in at}
    return found


def rows(settings: Settings, digest: str, places: Sequence[int]) -> dict[int, Stored]:
    """The rows of a dataset at these places, a row group in memory at a time; none where the file is gone."""
    found: dict[int, Stored] = {}
    if not stored.path(settings, digest).exists():
        return found
    for some in _near(sorted(places)):
        first = some[0]
        read = stored.read(settings, digest, first, some[-1] - first + 1)
        wanted = set(some)
        found |= {place: row for place, row in enumerate(read, first) if place in wanted}
    return found


def _near(places: Sequence[int]) -> Iterator[list[int]]:
    """Places in groups that one row group holds."""
    groups: dict[int, list[int]] = {}
    for place in places:
        groups.setdefault(place // stored.BATCH, []).append(place)
    yield from groups.values()


def tagged(settings: Settings, digest: str, tag: str, rows: int) -> NDArray[np.bool_]:
    """Which of a dataset's rows have a tag, shape (rows,)."""
    found = np.zeros(rows, bool)
    if not stored.path(settings, digest).exists():
        return found
    first = 0
    with pq.ParquetFile(stored.path(settings, digest)) as opened:
        for batch in opened.iter_batches(columns=["tags"]):
            for at, tags in enumerate(batch.column("tags").to_pylist(), first):
                found[at] = tag in (tags or ())
            first += batch.num_rows
    return found
