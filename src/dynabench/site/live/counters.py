"""The counters that open pages renew: of all rounds on the first page, of one round on pages of its task."""

import time
from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any

from sqlalchemy import select, tuple_
from sqlalchemy.orm import Session

from dynabench.collection import boards
from dynabench.kit.language import ngettext, translate
from dynabench.rounds.tables import Round, RoundState
from dynabench.site.home.pages import FRESH, counter_texts, shared_figures
from dynabench.site.home.totals import Totals
from dynabench.web.filters import number

Topic = tuple[str, int] | None
"""A task and the number of its round; None for all rounds."""
MOST_TOPICS = 500
"""Rounds whose counters a process keeps."""
TOTALS = ("examples", "fooled", "verified", "people", "models")
"""Counters of all rounds that a page does not show fall while it is open."""


@dataclass(frozen=True)
class RoundCounts:
    """The counts of one round, as its page shows them."""

    examples: int = 0
    fooled: int = 0
    resolved: int = 0
    verified: int = 0
    people: int = 0


Counts = Totals | RoundCounts


class Counters:
    """The newest counters of each topic that this process has read."""

    def __init__(self, state: Any) -> None:
        self._state = state
        self._counts: dict[Topic, tuple[float, Counts]] = {}

    async def read(self, topics: Iterable[Topic], stale: float = FRESH) -> dict[Topic, Counts]:
        """Return the counters of topics, read again where they are older than `stale` seconds; unknown ones lack."""
        topic_set = set(topics)
        moment = time.monotonic()
        due = {topic for topic in topic_set if topic not in self._counts or moment - self._counts[topic][0] > stale}
        if None in due:
            self._note(None, (await shared_figures(self._state)).totals)
        if keys := [topic for topic in due if topic is not None]:
            for topic, counts in (await self._state.db.aread(read_rounds, keys)).items():
                self._note(topic, counts)
        return {topic: self._counts[topic][1] for topic in topic_set if topic in self._counts}

    def _note(self, topic: Topic, counts: Counts) -> None:
        self._counts.pop(topic, None)
        self._counts[topic] = (time.monotonic(), counts)
        if len(self._counts) > MOST_TOPICS:
            del self._counts[next(iter(self._counts))]


def read_rounds(session: Session, keys: list[tuple[str, int]]) -> dict[Topic, Counts]:
    """Read the counts of rounds by task and number; two statements, over ranges of the projection."""
    of_topics = tuple_(Round.task_id, Round.number).in_(keys)
    started_rounds = session.scalars(select(Round).where(of_topics, Round.state != RoundState.DRAFT)).all()
    sums = boards.sums([round_.id for round_ in started_rounds], boards.controls(started_rounds))
    rows = {row.round_id: row for row in session.execute(sums)}
    return {(round_.task_id, round_.number): _round_counts(rows.get(round_.id)) for round_ in started_rounds}


def _round_counts(row: Any) -> RoundCounts:
    if row is None:
        return RoundCounts()
    return RoundCounts(*map(int, (row.examples, row.fooled, row.resolved, row.validated, row.people)))


def describe_counts(counts: Counts) -> dict[str, Any]:
    """Return counters as a page's script takes them: `texts` in the reader's language and `counts` by name."""
    if isinstance(counts, Totals):
        return {"texts": counter_texts(counts), "counts": {name: getattr(counts, name) for name in TOTALS}}
    values = {field.name: getattr(counts, field.name) for field in fields(counts)}
    people = translate(ngettext("%(num)s person", "%(num)s people", counts.people))
    return {"texts": {name: number(value) for name, value in values.items()} | {"people": people}, "counts": values}
