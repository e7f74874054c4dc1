"""What somebody wrote for a task, newest first, and what came of it: verdicts, and what those who checked it said."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select, case, func, select
from sqlalchemy.orm import Session

from dynabench.accounts.tables import Person
from dynabench.collection import search
from dynabench.collection.search import Seen
from dynabench.collection.tables import Example, Standing
from dynabench.rounds.tables import Round
from dynabench.stats.rates import Rate, wilson
from dynabench.stats.verdict import Verdict
from dynabench.validation import queries


@dataclass(frozen=True)
class Opinion:
    """A vote as the author may know it, without a name: what was said beside it is `values`."""

    vote: str
    values: dict[str, Any]


@dataclass(frozen=True)
class Made:
    """An example of one's own; `opinions` are there once its verdict is final, so that nobody's vote is swayed."""

    seen: Seen
    opinions: Sequence[Opinion]


@dataclass(frozen=True)
class Totals:
    """Sums over a task's examples that stand; `rate` is of those of which it is known whether a model was fooled."""

    examples: int
    fooled: int
    verified: int
    waiting: int
    rate: Rate


def _mine(person_id: int, task_id: str, *columns: Any) -> Select[Any]:
    """Columns of one's examples for a task: the index entries of one's own, a standing for each."""
    return (
        select(*columns)
        .select_from(Example)
        .join(Standing, Standing.example_id == Example.id)
        .join(Round, Round.id == Example.round_id)
        .where(Example.author_id == person_id, Round.task_id == task_id)
    )


def latest(session: Session, person: Person) -> str:
    """The task that somebody wrote for last; empty where they wrote nothing."""
    last = select(func.max(Example.id)).where(Example.author_id == person.id)
    return task_of(session, session.scalar(last) or 0)


def task_of(session: Session, example_id: int) -> str:
    """The task of an example; empty where there is none."""
    of = select(Round.task_id).join(Example, Example.round_id == Round.id).where(Example.id == example_id)
    return session.scalar(of) or ""


def totals(session: Session, person: Person, task_id: str) -> Totals:
    """How much of it there is and how it fared; retracted and hidden ones count nowhere."""

    def count(condition: Any) -> Any:
        return func.coalesce(func.sum(case((condition, 1), else_=0)), 0)

    columns = (
        func.count(),
        count(Standing.fooled),
        count(Standing.fooled & (Standing.verdict == Verdict.CORRECT)),
        count(Standing.open & (Standing.verdict == Verdict.PENDING)),
        count(Standing.fooled.is_not(None)),
    )
    statement = _mine(person.id, task_id, *columns).where(~Standing.retracted, ~Standing.hidden)
    examples, fooled, verified, waiting, asked = map(int, session.execute(statement).one())
    return Totals(examples, fooled, verified, waiting, wilson(fooled, asked))


def made(session: Session, person: Person, task_id: str, before: int, limit: int) -> tuple[list[Made], int | None]:
    """A page of one's examples below the id `before` (0: from the newest), and where the page after it begins."""
    wanted = _mine(person.id, task_id, Example.id).order_by(Example.id.desc()).limit(limit + 1)
    ids = session.scalars(wanted.where(Example.id < before) if before else wanted).all()
    found = [Made(each, _opinions(session, each)) for each in search.seen(session, ids[:limit])]
    return found, (ids[limit - 1] if len(ids) > limit else None)


def _opinions(session: Session, seen: Seen) -> list[Opinion]:
    if seen.standing.verdict == Verdict.PENDING:
        return []
    return [Opinion(each.vote, each.values) for each in session.scalars(queries.votes(seen.example.id))]
