"""Models' answers row by row and how right each is, read from the files that evaluations leave."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import orjson
import pyarrow.parquet as pq
from numpy.typing import NDArray

from dynabench.benchmark.evaluations import answer_files as answered
from dynabench.benchmark.evaluations import row_scores
from dynabench.benchmark.evaluations.tables import Shard
from dynabench.datasets import stored
from dynabench.datasets.stored import Stored
from dynabench.kit.settings import Settings

Right = NDArray[np.float32]
"""(rows,) 1 where a row was answered right, 0 where wrong, NaN where that is not known."""


def right_rows(settings: Settings, evaluation: int, rows: int) -> Right:
    """Return which of a dataset's `rows` were answered right by the task's rule (`Rule.right`)."""
    found: Right = _stored_row_scores(settings, evaluation, rows)[1]
    return found


def primary_scores_of_rows(settings: Settings, evaluation: int, rows: int) -> NDArray[np.float32]:
    """Return the primary metric for each of a dataset's `rows`; NaN where it is not known."""
    found: NDArray[np.float32] = _stored_row_scores(settings, evaluation, rows)[0]
    return found


def _stored_row_scores(settings: Settings, evaluation: int, rows: int) -> row_scores.RowScores:
    known = row_scores.read_row_scores(settings, evaluation)
    return known if known is not None and known.shape[1] == rows else np.full((2, rows), np.nan, np.float32)


def answers_of_rows(settings: Settings, shards: Iterable[Shard], places: Sequence[int]) -> dict[int, dict[str, Any]]:
    """Return the answers to the rows at these places, by place."""
    found: dict[int, dict[str, Any]] = {}
    for shard in shards:
        inside = [place for place in places if shard.first <= place < shard.first + shard.rows]
        path = answered.answers_path(settings, shard.evaluation_id, shard.part, shard.number)
        if inside and path.exists():
            said = pq.read_table(path, columns=["answer"]).column("answer")
            at = [place for place in inside if place - shard.first < len(said)]
            found |= {place: orjson.loads(said[place - shard.first].as_py() or "null") or {} for place in at}
    return found


def dataset_rows(settings: Settings, digest: str, places: Sequence[int]) -> dict[int, Stored]:
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


def rows_with_tag(settings: Settings, digest: str, tag: str, rows: int) -> NDArray[np.bool_]:
    """Return which of a dataset's rows have a tag, shape (rows,)."""
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
