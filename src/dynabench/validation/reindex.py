"""Making the index that examples are found by anew, from the ledger and the votes."""

from collections import defaultdict
from collections.abc import Callable, Collection
from typing import Any

from sqlalchemy import ColumnElement, Select, func, select, text
from sqlalchemy.orm import Session

from dynabench.collection import changes, notes, search_index, terms
from dynabench.collection.tables import Example, Explanation, FlagReview, Standing
from dynabench.rounds.tables import Context, Round
from dynabench.stats.verdict import Verdict
from dynabench.validation import moderation
from dynabench.validation.queries import UNDONE
from dynabench.validation.tables import Dismissal, Validation

PAGE = 8192  # examples at once: a part of one block of the index

Some = Callable[[Any], ColumnElement[bool]]  # whether a column with ids of examples holds one of those meant


def reindex(session: Session, progress: Callable[[int, int], None] = lambda done, last: None) -> int:
    """Make all sets of the index anew; returns how many examples there are.

    One pass in the order of ids, `PAGE` examples in memory at a time; others cannot write examples or votes meanwhile.
    `progress` is told the last id that is done and the last that there is.
    """
    if session.get_bind().dialect.name == "postgresql":
        session.execute(text("LOCK TABLE example_changes, search_postings IN SHARE ROW EXCLUSIVE MODE"))
    search_index.clear(session)
    last = session.scalar(select(func.max(Example.id))) or 0
    done = 0
    for first in range(0, last + 1, PAGE):
        found = _news(session, lambda column, first=first: column.between(first, first + PAGE - 1))  # type: ignore[misc]
        search_index.put(session, found)
        done += len(found)
        progress(min(first + PAGE, last), last)
    return done


def index_written(session: Session, ids: Collection[int]) -> None:
    """Let examples be found that were just written with all that belongs to them, as imports do."""
    rows = _news(session, lambda column: column.in_(ids))
    changes.note_changes(session, ((example_id, new_terms, None, "") for example_id, new_terms in rows))


def _news(session: Session, some: Some) -> list[search_index.News]:
    """All terms of some examples."""
    said: dict[int, list[dict[str, Any]]] = defaultdict(list)
    explained = select(Explanation.example_id, Explanation.values.label("said"))
    for row in session.execute(explained.where(some(Explanation.example_id))):
        said[row.example_id].append(row.said)
    flags = select(Validation).where(Validation.vote == Verdict.FLAGGED, ~UNDONE)
    flagged: dict[int, list[Validation]] = defaultdict(list)
    for vote in session.scalars(flags.where(some(Validation.example_id))):
        flagged[vote.example_id].append(vote)
    looked = set(session.scalars(select(Dismissal.example_id).where(some(Dismissal.example_id))))
    marks = notes.marks(session, some)
    origins = set(session.scalars(select(Example.made_from).where(some(Example.made_from))))
    news: list[search_index.News] = []
    for row in session.execute(_rows(some)):
        at_all = row.id in flagged or row.id in looked
        review = moderation.review(session, row.id, flagged[row.id]) if at_all else FlagReview.NONE
        told = {name: getattr(row, name) for name in ("verdict", "retracted", "hidden")}
        told |= {"flagged": review != FlagReview.NONE, "perturbed": row.id in origins, "review": review}
        found = terms.describe(row, explanations=said[row.id], noted=row.id in marks.noted, **told)
        news.append((row.id, [*found, *marks.labels[row.id]]))
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
