"""Measuring a round: read in one transaction, computed in none, kept in another."""

from collections.abc import Callable
from typing import Any

from sqlalchemy.orm import Session

from dynabench.db import Database
from dynabench.measuring import reading, service
from dynabench.measuring.measures import measures
from dynabench.measuring.sample import Embed, Sample
from dynabench.rounds.tables import Round

Tell = Callable[[int, int], object]


def measure(db: Database, round_id: int, embed: Embed | None = None, tell: Tell = lambda done, of: None) -> None:
    """Measure a round and keep what was found; `tell` gets how many measures are done, of how many."""

    def read(session: Session) -> tuple[str, Sample]:
        found = session.get_one(Round, round_id)
        return service.state_of(session, found), reading.read(session, found, embed)

    state, sample = db.read(read)
    found = looked_at(sample, tell)
    db.write(service.keep, round_id, state, found, len(sample.rows), sample.total)


def looked_at(sample: Sample, tell: Tell = lambda done, of: None) -> dict[str, Any]:
    """What each measure that applies finds, as documents by name."""
    found, every = {}, measures()
    for done, (name, each) in enumerate(every.items(), start=1):
        made = each.measure(sample) if sample.rows else None
        if made is not None:
            found[name] = made.record()
        tell(done, len(every))
    return found
