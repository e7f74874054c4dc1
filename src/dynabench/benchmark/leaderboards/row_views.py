"""Views that look at results row by row: whose rows may be counted, and whose may be shown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy.orm import Session

from dynabench.benchmark.evaluations import row_scores
from dynabench.benchmark.evaluations.row_scores import Right
from dynabench.benchmark.evaluations.tables import Shard
from dynabench.benchmark.leaderboards import comparison, queries
from dynabench.benchmark.leaderboards.comparison import AnswerTally, EntrantDifference, RowsOf
from dynabench.benchmark.standings import Entrant, ScoredDataset, TaskBoard
from dynabench.datasets.stored import StoredRow
from dynabench.kit.settings import Settings
from dynabench.tasks import TaskConfig

Fooled = NDArray[np.bool_]
"""(M, N): whether each model was fooled by each row."""


@dataclass(frozen=True)
class Transfer:
    """`order` puts models that fall together next to each other, and all else is in the models' given order.

    `rates` are error rates (M,); `counts[k]` is the number of rows that fool exactly k models (M + 1,); `shares[i, j]`
    is the share of the rows that fool i which also fool j, NaN where nothing fools i (M, M); `mean` is the mean
    transfer rate of rows that fool at least one, None without such rows or with one model.
    """

    order: tuple[int, ...]
    rates: NDArray[np.float64]
    counts: NDArray[np.int64]
    shares: NDArray[np.float64]
    mean: float | None
    rows: int


def transfer(fooled: Fooled) -> Transfer:
    """Return how M models share their errors on the same N rows; `fooled` has shape (M, N)."""
    models, rows = fooled.shape
    # Whole numbers below 2**24 are exact in float32, whose product is the quick one.
    together = (fooled.astype(np.float32) @ fooled.astype(np.float32).T).astype(np.float64)
    errors = np.diag(together)
    shares = np.full((models, models), np.nan)
    np.divide(together, errors[:, None], out=shares, where=errors[:, None] > 0)
    model_counts = fooled.sum(0)
    counts = np.bincount(model_counts, minlength=models + 1).astype(np.int64)
    some = model_counts[model_counts > 0]
    mean = float(((some - 1) / (models - 1)).mean()) if models > 1 and some.size else None
    rates = errors / rows if rows else np.zeros(models)
    return Transfer(_order(together), rates, counts, shares, mean, rows)


def _order(together: NDArray[np.float64]) -> tuple[int, ...]:
    """Leaves of the average-linkage tree over Jaccard distances of the models' errors, neighbours as near as can be."""
    models = len(together)
    if models < 3:
        return tuple(range(models))
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    errors = np.diag(together)
    either = errors[:, None] + errors[None, :] - together
    distance = 1 - np.divide(together, either, out=np.ones(together.shape), where=either > 0)
    np.fill_diagonal(distance, 0)
    tree = linkage(squareform(distance, checks=False), "average", optimal_ordering=models <= 200)
    return tuple(int(leaf) for leaf in leaves_list(tree))


PAGE = 20
MAX_MODELS = 40
"""Models in one picture of what they share."""
MAX_ROWS = 200_000
"""Rows that are looked at for it, the first of the dataset."""
MAX_TEXT = 1_500
"""Characters of a text that a row shows."""


@dataclass(frozen=True)
class EntrantAnswer:
    """One entrant's answer to a row, in the words of the task's fields."""

    words: tuple[tuple[str, str], ...]
    right: bool


@dataclass(frozen=True)
class ComparedRow:
    """A row that two entrants answered: its place in the dataset, what was asked, what is right, what was said."""

    place: int
    uid: str
    inputs: tuple[tuple[str, str], ...]
    reference: tuple[tuple[str, str], ...]
    tags: tuple[str, ...]
    a: EntrantAnswer
    b: EntrantAnswer


@dataclass(frozen=True)
class ComparedPage:
    """Rows of one page; `next` is the place after which the next page begins, None at the end."""

    data: ScoredDataset
    tally: AnswerTally
    rows: tuple[ComparedRow, ...]
    next: int | None


Shards = dict[int, list[Shard]]
"""By submission."""


def shards_by_submission(session: Session, ids: Sequence[int], data: ScoredDataset) -> Shards:
    """The answered shards of finished evaluations on a dataset; none of one whose results may not be seen."""
    if not data.disclosure.counts:
        return {}
    submission_ids = {
        evaluation.id: evaluation.submission_id
        for evaluation in session.scalars(queries.finished_evaluations(ids, data.version_id))
    }
    shards: Shards = {}
    for shard in session.scalars(queries.row_shards(list(submission_ids))):
        shards.setdefault(submission_ids[shard.evaluation_id], []).append(shard)
    return shards


def row_reader(session: Session, settings: Settings, first: Entrant, second: Entrant) -> RowsOf:
    """Return the function by which `comparison.compared` reads both entrants' results row by row."""

    def read_pair(data: ScoredDataset) -> tuple[Right, Right] | None:
        shards = shards_by_submission(session, [first.id, second.id], data)
        if first.id not in shards or second.id not in shards:
            return None
        first_id, second_id = (shards[entry.id][0].evaluation_id for entry in (first, second))
        pair = (
            row_scores.primary_scores_of_rows(settings, first_id, data.rows),
            row_scores.primary_scores_of_rows(settings, second_id, data.rows),
        )
        return pair if not all(np.isnan(entry).all() for entry in pair) else None

    return read_pair


def _pair(
    settings: Settings, shards: Shards, data: ScoredDataset, first: Entrant, second: Entrant
) -> tuple[Right, Right] | None:
    if first.id not in shards or second.id not in shards:
        return None
    return _right(settings, shards[first.id], data), _right(settings, shards[second.id], data)


def _right(settings: Settings, shards: Sequence[Shard], data: ScoredDataset) -> Right:
    return row_scores.right_rows(settings, shards[0].evaluation_id, data.rows)


def compare_scores(
    session: Session, settings: Settings, board: TaskBoard, first: Entrant, second: Entrant
) -> list[EntrantDifference]:
    """The differences of two entrants on everything that both have scores of."""
    return comparison.compare_entrants(board, first, second, row_reader(session, settings, first, second))


def chosen_dataset(board: TaskBoard, dataset: str, differences: Sequence[EntrantDifference]) -> ScoredDataset | None:
    """The dataset whose rows are looked at: the one asked for, else the first public one with a difference."""
    if dataset:
        return visible_dataset(board, dataset)
    return next((difference.data for difference in differences if difference.data.disclosure.rows), None)


def visible_dataset(board: TaskBoard, dataset: str) -> ScoredDataset:
    """The dataset of this name; raises `Forbidden` where its rows may not be seen."""
    data = board.dataset(dataset)
    data.disclosure.require_rows()
    return data


def countable_dataset(board: TaskBoard, dataset: str) -> ScoredDataset:
    """The dataset of this name; raises `Forbidden` where what was right row by row may not even be counted."""
    data = board.dataset(dataset)
    data.disclosure.require_counts()
    return data


def compared_page(
    session: Session, settings: Settings, board: TaskBoard, data: ScoredDataset, first: Entrant, second: Entrant,
    row_kind: str = "differ", tag: str = "", after: int = -1, limit: int = PAGE,
) -> ComparedPage:  # fmt: skip
    """The rows of a public dataset of one kind (`row_kind`) that have the tag, after place `after`.

    Raises `Forbidden` where the dataset's rows may not be seen.
    """
    visible_dataset(board, data.name)
    shards = shards_by_submission(session, [first.id, second.id], data)
    pair = _pair(settings, shards, data, first, second)
    if pair is None:
        return ComparedPage(data, AnswerTally(0, 0, 0, 0), (), None)
    mask = comparison.chosen_rows(*pair, row_kind)
    if tag:
        mask = mask & row_scores.rows_with_tag(settings, data.digest, tag, data.rows)
    mask[: max(0, after + 1)] = False
    places = [int(place) for place in np.flatnonzero(mask)[: limit + 1]]
    more, places = len(places) > limit, places[:limit]
    rows = row_scores.dataset_rows(settings, data.digest, places)
    answers = [row_scores.answers_of_rows(settings, shards[entrant.id], places) for entrant in (first, second)]
    compared_rows = [
        _compared_row(board.config, place, rows[place], (answers[0].get(place, {}), answers[1].get(place, {})), pair)
        for place in places
        if place in rows
    ]
    return ComparedPage(data, comparison.tally_answers(*pair), tuple(compared_rows), places[-1] if more else None)


def _compared_row(
    config: TaskConfig, place: int, row: StoredRow, answers: tuple[Mapping[str, Any], ...], pair: tuple[Right, Right]
) -> ComparedRow:
    names = {field.name: field.label for field in (*config.context, *config.input)}
    inputs = tuple((names.get(name, name), _text(value)) for name, value in row.inputs.items())
    reference = answer_texts(config, row.answers[0]) if row.answers else ()
    a, b = (
        EntrantAnswer(answer_texts(config, answer), bool(right[place] == 1))
        for answer, right in zip(answers, pair, strict=True)
    )
    return ComparedRow(place, row.uid, inputs, reference, row.tags, a, b)


def answer_texts(config: TaskConfig, answer: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """An answer as pairs of a field's label and what people read; what a field cannot read is shown as it is."""
    texts = []
    for field in config.answer:
        if field.name in answer:
            value = answer[field.name]
            try:
                text = field.in_words(value)
            except (TypeError, ValueError, KeyError, AttributeError):
                text = value
            texts.append((field.label, _text(text)))
    return tuple(texts)


def _text(value: Any) -> str:
    text = value if isinstance(value, str) else "" if value is None else str(value)
    if text.startswith("data:image/"):
        return "(picture)"
    return text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]}…"


def shared_errors(
    session: Session, settings: Settings, board: TaskBoard, data: ScoredDataset
) -> tuple[tuple[Entrant, ...], Transfer] | None:
    """Return the entrants that answered all rows of a dataset, and how they share errors on it.

    At most `MODELS` entrants, best first. Return None where fewer than two entrants answered all rows, or
    where the dataset's results may not be seen.
    """
    shards = shards_by_submission(session, [entrant.id for entrant in board.entrants], data)
    scored = [
        (cell.value, entrant)
        for entrant in board.entrants
        if entrant.id in shards and (cell := board.cell(entrant, data, board.primary)) is not None
    ]
    ranked = [entrant for _value, entrant in sorted(scored, key=lambda pair: -board.primary.direction * pair[0])]
    chosen, fooled = list[Entrant](), list[Any]()
    for entrant in ranked[:MAX_MODELS]:
        right = _right(settings, shards[entrant.id], data)[:MAX_ROWS]
        if right.size and not np.isnan(right).any():
            chosen.append(entrant)
            fooled.append(right == 0)
    return (tuple(chosen), transfer(np.stack(fooled))) if len(chosen) > 1 else None
