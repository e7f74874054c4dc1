"""Rebuild the index of examples that owners search."""

from collections import defaultdict
from collections.abc import Callable, Collection
from typing import Any

from pyroaring import BitMap
from sqlalchemy import (
    ColumnElement,
    Select,
    select,
)
from sqlalchemy.orm import Session

from dynabench.collection import folding, notes, projections, search, terms
from dynabench.collection.tables import (
    Example,
    Explanation,
    FlagReview,
    Standing,
)
from dynabench.rounds.tables import Context, Round
from dynabench.stats.verdict import Verdict
from dynabench.validation import moderation
from dynabench.validation.queries import UNDONE
from dynabench.validation.tables import Dismissal, Validation

PAGE = 8192
"""Examples in memory at once; divides `search.SIZE`."""
Some = Callable[[Any], ColumnElement[bool]]
"""Returns whether a column with ids of examples holds one of those meant."""
Advance = Callable[[int], None]
"""Is told how many more are done."""


def index_block(session: Session, block: int, advance: Advance) -> None:
    """Make the sets of a block of the index anew.

    What is written meanwhile is not folded before this transaction ends; folding twice what it has read already changes
    nothing.
    """
    folding.keep_from_folding(session)
    sets: dict[str, BitMap] = defaultdict(BitMap)
    for first in range(block * search.SIZE, (block + 1) * search.SIZE, PAGE):
        descriptions = _describe_examples(session, lambda column, first=first: column.between(first, first + PAGE - 1))  # type: ignore[misc]
        for example_id, example_terms in descriptions:
            for term in example_terms:
                sets[term].add(example_id % search.SIZE)
        advance(len(descriptions))
    search.replace_block(session, block, sets, lambda: advance(0))


def index_written(session: Session, ids: Collection[int]) -> None:
    """Let examples be found that were just written with all that belongs to them, as imports do."""
    rows = _describe_examples(session, lambda column: column.in_(ids))
    projections.note_changes(session, ((example_id, new_terms, None, "") for example_id, new_terms in rows))


def _describe_examples(session: Session, some: Some) -> list[search.News]:
    explanations: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for example_id, values in session.execute(
        select(Explanation.example_id, Explanation.values).where(some(Explanation.example_id), Explanation.complete)
    ):
        explanations[example_id].append(values)
    flags = select(Validation).where(Validation.vote == Verdict.FLAGGED, ~UNDONE)
    flagged: dict[int, list[Validation]] = defaultdict(list)
    for vote in session.scalars(flags.where(some(Validation.example_id))):
        flagged[vote.example_id].append(vote)
    dismissals = select(Dismissal).where(some(Dismissal.example_id)).order_by(Dismissal.id)
    dismissed = {dismissal.example_id: dismissal for dismissal in session.scalars(dismissals)}  # the latest counts
    marks = notes.marks(session, some)
    origins = set(session.scalars(select(Example.made_from).where(some(Example.made_from))))
    news: list[search.News] = []
    for row in session.execute(_rows(some)):
        review = FlagReview.NONE
        if row.id in flagged or row.id in dismissed:
            review = moderation.review_of(flagged[row.id], dismissed.get(row.id))
        example_terms = terms.describe(
            row,
            explanations=explanations.get(row.id, ()),
            verdict=row.verdict,
            retracted=row.retracted,
            hidden=row.hidden,
            flagged=review != FlagReview.NONE,
            perturbed=row.id in origins,
            review=review,
            noted=row.id in marks.noted_ids,
        )
        news.append((row.id, [*example_terms, *marks.labels.get(row.id, ())]))
    return news


def _rows(some: Some) -> Select[Any]:
    """Only the columns that the index describes."""
    return (
        select(
            *(getattr(Example, name) for name in ("id", *terms.WRITTEN) if name != "fooled"),
            *(Standing.fooled, Standing.verdict, Standing.retracted, Standing.hidden),
            *(Round.task_id, Round.number.label("round")),
            *(Context.values.label("context"), Context.tag),
        )
        .join(Standing, Standing.example_id == Example.id)
        .join(Round, Round.id == Example.round_id)
        .join(Context, Context.id == Example.context_id)
        .where(some(Example.id))
        .order_by(Example.id)
    )
