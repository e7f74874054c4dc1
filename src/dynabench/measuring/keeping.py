"""What a worker sees to from time to time: rounds that changed since they were measured."""

from datetime import datetime, timedelta

from sqlalchemy.orm import Session

from dynabench import jobs
from dynabench.collection import breakdowns
from dynabench.db import Database, now
from dynabench.measuring import queries, service
from dynabench.rounds.tables import Round
from dynabench.settings import Settings
from dynabench.stats.rates import FEW

FRESH = timedelta(minutes=15)
"""How long what was measured of an open round stands, though examples come."""


def tidy(database: Database, settings: Settings) -> None:
    """Have rounds measured that need it, and forget jobs that were given up."""
    going = database.read(_going)
    for job in jobs.given_up(database, settings, list(going)):
        database.write(service.let_go, going[job], job)
    for round_id in database.read(_wanting, now()):
        database.write(_begin, round_id)


def _going(session: Session) -> dict[str, int]:
    rows = session.execute(queries.started())
    return {kept.job_id: kept.round_id for _, kept in rows if kept is not None and kept.job_id}


def _wanting(session: Session, at: datetime) -> list[int]:
    """Rounds with enough examples to say something that changed since they were measured."""
    found = []
    for of, kept in session.execute(queries.started()):
        waits = kept is not None and kept.job_id is not None
        young = kept is not None and kept.at is not None and of.state == "open" and at - kept.at < FRESH
        settled = kept is not None and kept.state == service.state_of(session, of)
        if not (waits or young or settled) and _enough(session, of):
            found.append(of.id)
    return found


def _enough(session: Session, of: Round) -> bool:
    rows = breakdowns.read(session, of.id, ["all"]).get(("all", ""))
    return rows is not None and int(rows["examples"].sum()) >= FEW


def _begin(session: Session, round_id: int) -> None:
    service.begin(session, session.get_one(Round, round_id))
