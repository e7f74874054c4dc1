"""Making the index that examples are found by anew, from the ledger and the votes."""

from collections import defaultdict
from collections.abc import Callable
from typing import Any

from sqlalchemy import Select, func, select, text
from sqlalchemy.orm import Session

from dynabench.collection import search, search_index
from dynabench.collection.tables import Example, Explanation, Standing
from dynabench.rounds.tables import Context, Round
from dynabench.stats.verdict import Verdict
from dynabench.validation import moderation
from dynabench.validation.queries import UNDONE
from dynabench.validation.tables import Validation

PAGE = 8192  # examples at once: a part of one block of the index


def reindex(session: Session, progress: Callable[[int, int], None] = lambda done, last: None) -> int:
    """Make all sets of the index anew; returns how many examples there are.

    One pass in the order of ids, `PAGE` examples in memory at a time; others cannot write examples or votes meanwhile.
    `progress` is told the last id that is done and the last that there is.
    """
    if session.get_bind().dialect.name == "postgresql":
        session.execute(text("LOCK TABLE search_news, search_postings IN SHARE ROW EXCLUSIVE MODE"))
    search_index.clear(session)
    last = session.scalar(select(func.max(Example.id))) or 0
    done = 0
    for first in range(0, last + 1, PAGE):
        found = _page(session, first, first + PAGE - 1)
        search_index.put(session, found)
        done += len(found)
        progress(min(first + PAGE, last), last)
    return done


def _page(session: Session, first: int, last: int) -> list[search_index.News]:
    """All terms of the examples with these ids."""
    said: dict[int, list[dict[str, Any]]] = defaultdict(list)
    explained = select(Explanation.example_id, Explanation.values.label("said"))
    for row in session.execute(explained.where(Explanation.example_id.between(first, last))):
        said[row.example_id].append(row.said)
    flags = select(Validation).where(Validation.vote == Verdict.FLAGGED, ~UNDONE)
    flagged: dict[int, list[Validation]] = defaultdict(list)
    for vote in session.scalars(flags.where(Validation.example_id.between(first, last))):
        flagged[vote.example_id].append(vote)
    origins = set(session.scalars(select(Example.made_from).where(Example.made_from.between(first, last))))
    return [
        (
            row.id,
            search.describe(
                row,
                explanations=said[row.id],
                verdict=row.verdict,
                retracted=row.retracted,
                hidden=row.hidden,
                flagged=row.id in flagged,
                perturbed=row.id in origins,
                review=moderation.review(session, row.id, flagged[row.id]) if row.id in flagged else "none",
            ),
        )
        for row in session.execute(_rows(first, last))
    ]


def _rows(first: int, last: int) -> Select[Any]:
    """Columns by name, since migrations reindex too: tables may have fewer of them then."""
    return (
        select(
            *(getattr(Example, name) for name in ("id", *search.WRITTEN)),
            *(Standing.verdict, Standing.retracted, Standing.hidden),
            *(Round.task_id, Round.number.label("round")),
            *(Context.values.label("context"), Context.tag),
        )
        .join(Standing, Standing.example_id == Example.id)
        .join(Round, Round.id == Example.round_id)
        .join(Context, Context.id == Example.context_id)
        .where(Example.id.between(first, last))
        .order_by(Example.id)
    )
