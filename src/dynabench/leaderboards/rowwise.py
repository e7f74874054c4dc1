"""Views that look at results row by row: whose rows may be counted, and whose may be shown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy.orm import Session

from dynabench.datasets.stored import Stored
from dynabench.leaderboards import comparing, results
from dynabench.leaderboards import entrants as known
from dynabench.leaderboards import view_queries as queries
from dynabench.leaderboards.comparing import Difference, RowsOf, Tally
from dynabench.leaderboards.entrants import Data, Entrant, Field
from dynabench.leaderboards.results import Right
from dynabench.leaderboards.transfer import Transfer, transfer
from dynabench.scoring.tables import Shard
from dynabench.settings import Settings
from dynabench.tasks import TaskConfig

PAGE = 20
MODELS = 40
"""Models in one picture of what they share."""
ROWS = 200_000
"""Rows that are looked at for it, the first of the dataset."""
LONGEST = 1_500
"""Characters of a text that a row shows."""


@dataclass(frozen=True)
class Said:
    """What one entrant answered to a row, in the words of the task's fields."""

    words: tuple[tuple[str, str], ...]
    right: bool


@dataclass(frozen=True)
class Shown:
    """A row that two entrants answered: its place in the dataset, what was asked, what is right, what was said."""

    place: int
    uid: str
    inputs: tuple[tuple[str, str], ...]
    reference: tuple[tuple[str, str], ...]
    tags: tuple[str, ...]
    a: Said
    b: Said


@dataclass(frozen=True)
class Page:
    """Rows of one page; `next` is the place after which the next page begins, None at the end."""

    data: Data
    tally: Tally
    rows: tuple[Shown, ...]
    next: int | None


Shards = dict[int, list[Shard]]
"""By submission."""


def shards(session: Session, ids: Sequence[int], data: Data) -> Shards:
    """The answered shards of finished evaluations on a dataset; none of one whose results may not be seen."""
    if not data.disclosure.counts:
        return {}
    of = {each.id: each.submission_id for each in session.scalars(queries.finished(ids, data.version_id))}
    found: Shards = {}
    for shard in session.scalars(queries.shards(list(of))):
        found.setdefault(of[shard.evaluation_id], []).append(shard)
    return found


def reader(session: Session, settings: Settings, first: Entrant, second: Entrant) -> RowsOf:
    """What `comparing.compared` asks for both entrants' results row by row."""

    def of(data: Data) -> tuple[Right, Right] | None:
        of = shards(session, [first.id, second.id], data)
        if first.id not in of or second.id not in of:
            return None
        one, other = (of[each.id][0].evaluation_id for each in (first, second))
        pair = results.scores(settings, one, data.rows), results.scores(settings, other, data.rows)
        return pair if not all(np.isnan(each).all() for each in pair) else None

    return of


def _pair(settings: Settings, of: Shards, data: Data, first: Entrant, second: Entrant) -> tuple[Right, Right] | None:
    if first.id not in of or second.id not in of:
        return None
    return _right(settings, of[first.id], data), _right(settings, of[second.id], data)


def _right(settings: Settings, of: Sequence[Shard], data: Data) -> Right:
    return results.right(settings, of[0].evaluation_id, data.rows)


def compare(session: Session, settings: Settings, field: Field, first: Entrant, second: Entrant) -> list[Difference]:
    """The differences of two entrants on everything that both have scores of."""
    scores = known.scores(session, field, [first, second], field.data)
    rows = reader(session, settings, first, second)
    return comparing.compared(first, second, field.data, field.metrics, scores, rows)


def chosen(field: Field, dataset: str, found: Sequence[Difference]) -> Data | None:
    """The dataset whose rows are looked at: the one asked for, else the first public one with a difference."""
    if dataset:
        return visible(field, dataset)
    return next((each.data for each in found if each.data.disclosure.rows), None)


def visible(field: Field, dataset: str) -> Data:
    """The dataset of this name; raises `Forbidden` where its rows may not be seen."""
    data = field.dataset(dataset)
    data.disclosure.require_rows()
    return data


def countable(field: Field, dataset: str) -> Data:
    """The dataset of this name; raises `Forbidden` where what was right row by row may not even be counted."""
    data = field.dataset(dataset)
    data.disclosure.require_counts()
    return data


def examples(
    session: Session, settings: Settings, field: Field, data: Data, first: Entrant, second: Entrant,
    shown: str = "differ", tag: str = "", after: int = -1, limit: int = PAGE,
) -> Page:  # fmt: skip
    """The rows of a public dataset that are `shown` (`comparing.SHOWN`) and have the tag, after place `after`.

    Raises `Forbidden` where the dataset's rows may not be seen.
    """
    visible(field, data.name)
    of = shards(session, [first.id, second.id], data)
    pair = _pair(settings, of, data, first, second)
    if pair is None:
        return Page(data, Tally(0, 0, 0, 0), (), None)
    wanted = comparing.chosen(*pair, shown)
    if tag:
        wanted = wanted & results.tagged(settings, data.digest, tag, data.rows)
    wanted[: max(0, after + 1)] = False
    places = [int(place) for place in np.flatnonzero(wanted)[: limit + 1]]
    more, places = len(places) > limit, places[:limit]
    rows = results.rows(settings, data.digest, places)
    said = [results.answers(settings, of[each.id], places) for each in (first, second)]
    made = [
        _shown(field.config, place, rows[place], (said[0].get(place, {}), said[1].get(place, {})), pair)
        for place in places
        if place in rows
    ]
    return Page(data, comparing.tally(*pair), tuple(made), places[-1] if more else None)


def _shown(
    config: TaskConfig, place: int, row: Stored, said: tuple[Mapping[str, Any], ...], pair: tuple[Right, Right]
) -> Shown:
    names = {each.name: each.label for each in (*config.context, *config.input)}
    inputs = tuple((names.get(name, name), _text(value)) for name, value in row.inputs.items())
    reference = words(config, row.answers[0]) if row.answers else ()
    a, b = (Said(words(config, of), bool(right[place] == 1)) for of, right in zip(said, pair, strict=True))
    return Shown(place, row.uid, inputs, reference, row.tags, a, b)


def words(config: TaskConfig, answer: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """An answer as pairs of a field's label and what people read; what a field cannot read is shown as it is."""
    found = []
    for each in config.answer:
        if each.name in answer:
            value = answer[each.name]
            try:
                said = each.in_words(value)
            except (TypeError, ValueError, KeyError, AttributeError):
                said = value
            found.append((each.label, _text(said)))
    return tuple(found)


def _text(value: Any) -> str:
    text = value if isinstance(value, str) else "" if value is None else str(value)
    if text.startswith("data:image/"):
        return "(picture)"
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def shared(
    session: Session, settings: Settings, field: Field, data: Data
) -> tuple[tuple[Entrant, ...], Transfer] | None:
    """How errors on a dataset are shared by the entrants that answered all its rows, at most `MODELS`, best first.

    None where fewer than two did, or its results may not be seen.
    """
    of = shards(session, [each.id for each in field.entrants], data)
    metric = field.metric()
    scores = known.scores(session, field, field.entrants, [data], [metric])
    ranked = sorted(
        (each for each in field.entrants if each.id in of and (each.id, data.id, metric.name) in scores),
        key=lambda each: -metric.direction * scores[each.id, data.id, metric.name].value,
    )
    chosen, fooled = list[Entrant](), list[Any]()
    for each in ranked[:MODELS]:
        right = _right(settings, of[each.id], data)[:ROWS]
        if right.size and not np.isnan(right).any():
            chosen.append(each)
            fooled.append(right == 0)
    return (tuple(chosen), transfer(np.stack(fooled))) if len(chosen) > 1 else None
