"""Row by row what a model said and whether it is right, as far as the dataset lets anybody know."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from sqlalchemy.orm import Session

from dynabench import errors
from dynabench.accounts.tables import Person
from dynabench.datasets import stored
from dynabench.datasets.stored import Stored
from dynabench.language import _
from dynabench.rounds import service as rounds
from dynabench.scoring import answers, queries, row_scores, service
from dynabench.scoring.asking import Stopped
from dynabench.scoring.gathering import answer_field
from dynabench.scoring.planning import ROWS
from dynabench.scoring.service import Seen
from dynabench.scoring.tables import Shard
from dynabench.settings import Settings
from dynabench.tasks.fields import Field

LOOKED_AT = 5_000
"""Rows that one request goes through at most, when it looks for wrong ones."""


@dataclass(frozen=True)
class Result:
    """One row. Of a `scoring` dataset there are `number`, `uid` and `right` alone, and the rest is empty."""

    number: int
    uid: str
    right: bool
    inputs: dict[str, Any]
    answers: tuple[Any, ...]
    said: Any
    probabilities: dict[str, float] | None
    tags: tuple[str, ...]


@dataclass(frozen=True)
class Page:
    """Results, and the number to go on after; None at the end."""

    seen: Seen
    items: list[Result]
    next: int | None


def page(
    session: Session,
    settings: Settings,
    viewer: Person | None,
    id: int,
    after: int = -1,
    limit: int = 50,
    wrong: bool = False,
    tag: str = "",
) -> Page:
    """Results after the row numbered `after`, with `wrong` those that are wrong, with `tag` those that have it.

    Raises `Forbidden` where the dataset lets nobody know, and `Conflict` while there are none.
    """
    seen = service.one(session, viewer, id)
    seen.disclosure.require_marks()
    if not seen.shows_rows:
        raise errors.Conflict(_("There are no results before the evaluation is done."))
    if tag:
        seen.disclosure.require_rows()
    shards = [each for each in session.scalars(queries.shards(id)) if each.part == ROWS]
    config = rounds.newest_config(session, seen.dataset.task_id)
    try:
        field = answer_field(config, settings, shards[0])
        return _page(settings, seen, shards, field, after + 1, limit, wrong, tag)
    except (Stopped, FileNotFoundError):
        raise errors.Unavailable(_("The stored answers cannot be read now. Tell the operator.")) from None


def _page(
    settings: Settings, seen: Seen, shards: Sequence[Shard], field: Field, first: int, limit: int, wrong: bool, tag: str
) -> Page:
    rows = stored.read(settings, seen.version.digest, first)
    right = row_scores.read(settings, seen.evaluation.id)
    if right is None or right.shape[1] != seen.version.rows:
        raise Stopped("answers_gone")
    items: list[Result] = []
    number = first
    for said in islice(_answers(settings, shards, first), LOOKED_AT):
        row = next(rows, None)
        if row is None or row.uid != said.uid:
            raise Stopped("dataset_changed")
        result = _result(seen, field, row, said, number, bool(right[1, number]))
        if (not wrong or not result.right) and (not tag or tag in row.tags):
            items.append(result)
        number += 1
        if len(items) == limit:
            break
    return Page(seen, items, number - 1 if number < seen.version.rows else None)


def _answers(settings: Settings, shards: Sequence[Shard], first: int) -> Any:
    for shard in shards:
        if shard.first + shard.rows > first:
            path = answers.path(settings, shard.evaluation_id, shard.part, shard.number)
            yield from islice(answers.read(path), max(0, first - shard.first), None)


def _result(seen: Seen, field: Field, row: Stored, said: answers.Answer, number: int, right: bool) -> Result:
    answer = said.answer.get(field.name)
    if not seen.disclosure.rows:
        return Result(number, row.uid, right, {}, (), None, None, ())
    accepted = tuple(each.get(field.name) for each in row.answers)
    return Result(number, row.uid, right, dict(row.inputs), accepted, answer, said.probabilities, row.tags)
