"""The counters of the first page: all that was ever collected and scored, and who is there now."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sqlalchemy.orm import Session

from dynabench.collection import boards
from dynabench.kit.db import now
from dynabench.rounds import queries as round_queries
from dynabench.site.home.task_index import WEEK, TaskLine

PLAYING = timedelta(minutes=15)
NEWEST = 300  # examples that are looked through for who is there now


@dataclass(frozen=True)
class Totals:
    """Counts of all rounds, which closing a round never lowers; `with_outcome` leaves out unknown ones.

    `playing` counts the people who wrote in the last quarter of an hour; `last_at` is when the newest example came.
    """

    open_rounds: int
    playing: int
    last_at: datetime | None
    examples: int
    with_outcome: int
    fooled: int
    verified: int
    votes: int
    people: int
    week_examples: int
    week_people: int
    models: int
    datasets: int


def read_totals(session: Session, lines: Sequence[TaskLine]) -> Totals:
    """Return the counters; six statements, whatever the number of tasks."""
    ever = session.scalars(round_queries.all_started()).all()
    ids = [round_.id for round_ in ever]
    rows = session.execute(boards.sums(ids, boards.controls(ever))).all()
    moment, week = now(), (now() - WEEK).date().isoformat()
    newest = [(author, at.replace(tzinfo=UTC)) for author, at in session.execute(boards.newest_authors(NEWEST))]
    examples = sum(int(row.examples) for row in rows)
    return Totals(
        open_rounds=sum(line.round is not None for line in lines),
        playing=len({author for author, at in newest if moment - at < PLAYING}),
        last_at=newest[0][1] if newest else None,
        examples=examples,
        with_outcome=examples - sum(int(row.unknown) for row in rows),
        fooled=sum(int(row.fooled) for row in rows),
        verified=sum(int(row.validated) for row in rows),
        votes=session.scalar(boards.votes(ids)) or 0,
        people=session.scalar(boards.people(ids)) or 0,
        week_examples=sum(line.recent for line in lines),
        week_people=session.scalar(boards.people_since(ids, week)) or 0,
        models=sum(line.board.models for line in lines),
        datasets=sum(line.board.datasets for line in lines),
    )
