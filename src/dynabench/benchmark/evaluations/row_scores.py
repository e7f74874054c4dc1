"""The score of each row: computed with the evaluation's scores, stored in a file for each evaluation, read by views.

Views that compare models row by row read these files instead of scoring again; scoring anew writes them anew. Their
readers decide how much of them may be shown.
"""

import os
import uuid
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pyarrow.parquet as pq
from numpy.typing import NDArray

from dynabench.benchmark.evaluations import answers as answered
from dynabench.benchmark.evaluations.answers import AnswerColumns
from dynabench.benchmark.evaluations.metric_columns import SQUAD, BoundMetric, bind_metric
from dynabench.benchmark.evaluations.tables import Shard
from dynabench.datasets import stored
from dynabench.datasets.stored import StoredRow
from dynabench.evaluate.states import Sums
from dynabench.kit.settings import Settings
from dynabench.tasks.fields import Spans
from dynabench.tasks.rules import Rule

RowScores = NDArray[np.float32]
"""(2, n): what the primary metric says of each row, from 0 to 1, and 1 where its answer is right by the task's rule."""
CACHED_FILES = 200
"""Files that are kept in memory, the last that were read."""


def compute_row_scores(primary: str, rule: Rule, rows: AnswerColumns) -> RowScores:
    """Return for each row its score in the primary metric where that is a mean over rows (word F1 of spans), else 1
    for an exact match; and whether the answer is right."""
    return np.stack([_scores(primary, rows), np.array(rows.right_by(rule), np.float32)])


def _scores(primary: str, rows: AnswerColumns) -> NDArray[np.float32]:
    if isinstance(rows.answer, Spans) and primary in SQUAD and rows.predictions:
        try:
            return _means(bind_metric(primary, rows.answer, rows.predictions, rows.right))
        except ValueError:  # a metric that is not defined on these rows has no score of the whole either
            pass
    return np.array(rows.hits(), np.float32)


def _means(chosen: BoundMetric) -> NDArray[np.float32]:
    module = chosen.module
    state = module.state(chosen.columns, **module.options)
    if not isinstance(state, Sums):
        raise ValueError(f"{module.name} is no mean over rows")
    values = module.formula(state.alone(), **module.options_for(module.formula))[chosen.key]
    return np.asarray(values * chosen.scale, np.float32)


def store_row_scores(settings: Settings, evaluation: int, values: RowScores) -> None:
    """Store the scores in place of earlier ones; a reader sees either the old or the new file."""
    target = row_scores_path(settings, evaluation)
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    waiting = target.with_name(f".{uuid.uuid4()}")
    with waiting.open("wb") as file:
        np.save(file, values.astype("<f4"), allow_pickle=False)
        file.flush()
        os.fsync(file.fileno())
    waiting.replace(target)


def read_row_scores(settings: Settings, evaluation: int) -> RowScores | None:
    """Return the stored scores, read-only; None where the file is missing or broken."""
    target = row_scores_path(settings, evaluation)
    try:
        state = target.stat()
        return _read(target, state.st_mtime_ns, state.st_ino)
    except (OSError, ValueError, EOFError):
        return None


@lru_cache(maxsize=CACHED_FILES)
def _read(at: Path, changed: int, file: int) -> RowScores:
    values: RowScores = np.load(at, allow_pickle=False)
    if values.ndim != 2 or len(values) != 2 or values.dtype != np.float32:
        raise ValueError(f"{at} holds something else than two numbers for each row")
    values.flags.writeable = False
    return values


def is_whole(settings: Settings, evaluation: int, rows: int) -> bool:
    """Tell whether the file is there and holds the scores of so many rows."""
    stored_scores = read_row_scores(settings, evaluation)
    return stored_scores is not None and stored_scores.shape[1] == rows


def row_scores_path(settings: Settings, evaluation: int) -> Path:
    """Return the path of the file with the scores of an evaluation's rows."""
    return settings.folder / "evaluations" / str(evaluation) / "rows.npy"


Right = NDArray[np.float32]
"""(rows,) 1 where a row was answered right, 0 where wrong, NaN where that is not known."""


def right_rows(settings: Settings, evaluation: int, rows: int) -> Right:
    """Return which of a dataset's `rows` were answered right by the task's rule (`Rule.right`)."""
    marks: Right = _stored_row_scores(settings, evaluation, rows)[1]
    return marks


def primary_scores_of_rows(settings: Settings, evaluation: int, rows: int) -> NDArray[np.float32]:
    """Return the primary metric for each of a dataset's `rows`; NaN where it is not known."""
    scores: NDArray[np.float32] = _stored_row_scores(settings, evaluation, rows)[0]
    return scores


def _stored_row_scores(settings: Settings, evaluation: int, rows: int) -> RowScores:
    stored_scores = read_row_scores(settings, evaluation)
    return (
        stored_scores
        if stored_scores is not None and stored_scores.shape[1] == rows
        else np.full((2, rows), np.nan, np.float32)
    )


def answers_of_rows(settings: Settings, shards: Iterable[Shard], places: Sequence[int]) -> dict[int, dict[str, Any]]:
    """Return the answers to the rows at these places, by place."""
    answers: dict[int, dict[str, Any]] = {}
    for shard in shards:
        inside = [place for place in places if shard.first <= place < shard.first + shard.rows]
        path = answered.answers_path(settings, shard.evaluation_id, shard.part, shard.number)
        if inside and path.exists():
            column = pq.read_table(path, columns=["answer"]).column("answer")
            at = [place for place in inside if place - shard.first < len(column)]
            answers |= {place: orjson.loads(column[place - shard.first].as_py() or "null") or {} for place in at}
    return answers


def dataset_rows(settings: Settings, digest: str, places: Sequence[int]) -> dict[int, StoredRow]:
    """The rows of a dataset at these places, a row group in memory at a time; none where the file is gone."""
    rows: dict[int, StoredRow] = {}
    if not stored.rows_path(settings, digest).exists():
        return rows
    for some in _near(sorted(places)):
        first = some[0]
        read = stored.read_rows(settings, digest, first, some[-1] - first + 1)
        chosen = set(some)
        rows |= {place: row for place, row in enumerate(read, first) if place in chosen}
    return rows


def _near(places: Sequence[int]) -> Iterator[list[int]]:
    """Places in groups that one row group holds."""
    groups: dict[int, list[int]] = {}
    for place in places:
        groups.setdefault(place // stored.GROUP_ROWS, []).append(place)
    yield from groups.values()


def rows_with_tag(settings: Settings, digest: str, tag: str, rows: int) -> NDArray[np.bool_]:
    """Return which of a dataset's rows have a tag, shape (rows,)."""
    mask = np.zeros(rows, bool)
    if not stored.rows_path(settings, digest).exists():
        return mask
    first = 0
    with pq.ParquetFile(stored.rows_path(settings, digest)) as opened:
        for batch in opened.iter_batches(columns=["tags"]):
            for at, tags in enumerate(batch.column("tags").to_pylist(), first):
                mask[at] = tag in (tags or ())
            first += batch.num_rows
    return mask
