"""A model's answers row by row, with whether each is right, as far as the dataset may be shown."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from sqlalchemy.orm import Session

from dynabench.benchmark.evaluations import answers as answer_files
from dynabench.benchmark.evaluations import queries, row_scores, service
from dynabench.benchmark.evaluations.answers import answer_field
from dynabench.benchmark.evaluations.evaluation_run import ROWS
from dynabench.benchmark.evaluations.model_process import EvaluationStopped
from dynabench.benchmark.evaluations.service import EvaluationView
from dynabench.benchmark.evaluations.tables import Shard
from dynabench.datasets import stored
from dynabench.datasets.stored import StoredRow
from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.people.accounts.tables import Person
from dynabench.rounds import service as rounds
from dynabench.tasks.fields import Field

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
    right = row_scores.read_row_scores(settings, seen.evaluation.id)
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
