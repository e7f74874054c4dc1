"""Row by row: scores, stored in a file for each evaluation, and a model's answers as far as they may be shown.

Views that compare models row by row read these files instead of scoring again; scoring anew writes them anew. Their
readers decide how much of them may be shown.
"""

import os
import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pyarrow.parquet as pq
from numpy.typing import NDArray
from sqlalchemy.orm import Session

from dynabench.benchmark.evaluations import answers as answer_files
from dynabench.benchmark.evaluations import answers as answered
from dynabench.benchmark.evaluations import queries, service
from dynabench.benchmark.evaluations.answers import AnswerColumns, answer_field
from dynabench.benchmark.evaluations.evaluation_run import ROWS
from dynabench.benchmark.evaluations.measures import SQUAD, BoundMetric, bind_metric
from dynabench.benchmark.evaluations.model_process import EvaluationStopped
from dynabench.benchmark.evaluations.service import EvaluationView
from dynabench.benchmark.evaluations.tables import Shard
from dynabench.datasets import stored
from dynabench.datasets.stored import StoredRow
from dynabench.evaluate.states import Sums
from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.people.accounts.tables import Person
from dynabench.rounds import service as rounds
from dynabench.tasks.fields import Field, Spans
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


MAX_SCANNED_ROWS = 5_000
"""Rows that one request goes through at most, when it looks for wrong ones."""


@dataclass(frozen=True)
class RowResult:
    """One row. Of a `scoring` dataset there are `number`, `uid` and `right` alone, and the rest is empty."""

    number: int
    uid: str
    right: bool
    inputs: dict[str, Any]
    answers: tuple[Any, ...]
    prediction: Any
    probabilities: dict[str, float] | None
    tags: tuple[str, ...]


@dataclass(frozen=True)
class RowResultPage:
    """Results, and the number to go on after; None at the end."""

    seen: EvaluationView
    items: list[RowResult]
    next: int | None


def result_page(
    session: Session,
    settings: Settings,
    viewer: Person | None,
    id: int,
    after: int = -1,
    limit: int = 50,
    wrong: bool = False,
    tag: str = "",
) -> RowResultPage:
    """Return results after the row numbered `after`; with `wrong` only wrong ones, with `tag` only those that have
    it.

    Raises `Forbidden` where the dataset does not allow it, and `Conflict` while there are none.
    """
    seen = service.find_evaluation(session, viewer, id)
    seen.disclosure.require_marks()
    if not seen.shows_rows:
        raise errors.Conflict(_("There are no results before the evaluation is done."))
    if tag:
        seen.disclosure.require_rows()
    shards = [shard for shard in session.scalars(queries.finished_shards(id)) if shard.part == ROWS]
    config = rounds.newest_config(session, seen.dataset.task_id)
    try:
        field = answer_field(config, settings, shards[0])
        return _page(settings, seen, shards, field, after + 1, limit, wrong, tag)
    except (EvaluationStopped, FileNotFoundError):
        raise errors.Unavailable(_("The stored answers cannot be read now. Tell the operator.")) from None


def _page(
    settings: Settings,
    seen: EvaluationView,
    shards: Sequence[Shard],
    field: Field,
    first: int,
    limit: int,
    wrong: bool,
    tag: str,
) -> RowResultPage:
    rows = stored.read_rows(settings, seen.version.digest, first)
    right = read_row_scores(settings, seen.evaluation.id)
    if right is None or right.shape[1] != seen.version.rows:
        raise EvaluationStopped("answers_gone")
    items: list[RowResult] = []
    number = first
    for stored_answer in islice(_answers(settings, shards, first), MAX_SCANNED_ROWS):
        row = next(rows, None)
        if row is None or row.uid != stored_answer.uid:
            raise EvaluationStopped("dataset_changed")
        result = _result(seen, field, row, stored_answer, number, bool(right[1, number]))
        if (not wrong or not result.right) and (not tag or tag in row.tags):
            items.append(result)
        number += 1
        if len(items) == limit:
            break
    return RowResultPage(seen, items, number - 1 if number < seen.version.rows else None)


def _answers(settings: Settings, shards: Sequence[Shard], first: int) -> Any:
    for shard in shards:
        if shard.first + shard.rows > first:
            path = answer_files.answers_path(settings, shard.evaluation_id, shard.part, shard.number)
            yield from islice(answer_files.read_answers(path), max(0, first - shard.first), None)


def _result(
    seen: EvaluationView,
    field: Field,
    row: StoredRow,
    stored_answer: answer_files.StoredAnswer,
    number: int,
    right: bool,
) -> RowResult:
    answer = stored_answer.answer.get(field.name)
    if not seen.disclosure.rows:
        return RowResult(number, row.uid, right, {}, (), None, None, ())
    accepted = tuple(accepted_answer.get(field.name) for accepted_answer in row.answers)
    return RowResult(number, row.uid, right, dict(row.inputs), accepted, answer, stored_answer.probabilities, row.tags)
