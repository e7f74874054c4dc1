"""The measurement of a round as a job: read in one transaction, computed in none, stored in another."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from dbos import DBOS
from sqlalchemy.orm import Session

from dynabench.collection import folding
from dynabench.insight.data_measurements import round_sample, service, tables
from dynabench.insight.data_measurements import sample as samples
from dynabench.insight.data_measurements.measures import MEASURES
from dynabench.insight.data_measurements.sample import Embed, RoundSample
from dynabench.kit import jobs
from dynabench.kit.db import Database, now
from dynabench.kit.settings import Settings
from dynabench.rounds.tables import Round, RoundState
from dynabench.stats.rates import FEW_ROWS

Tell = Callable[[int, int], object]


def measure_and_store(
    db: Database, round_id: int, embed: Embed | None = None, tell: Tell = lambda done, of: None
) -> None:
    """Measure a round and store the results; `tell` gets the number of finished measures and of all."""

    def read(session: Session) -> tuple[str, RoundSample]:
        round_ = session.get_one(Round, round_id)
        return service.round_state(session, round_), round_sample.read_sample(session, round_, embed)

    state, sample = db.read(read)
    records = apply_measures(sample, tell)
    db.write(service.store_measurement, round_id, state, records, len(sample.rows), sample.total)


def apply_measures(sample: RoundSample, tell: Tell = lambda done, of: None) -> dict[str, Any]:
    """Return the results of all measures that apply, as records by name."""
    records = {}
    for done, (name, measure) in enumerate(MEASURES.items(), start=1):
        result = measure.measure(sample) if sample.rows else None
        if result is not None:
            records[name] = result.record()
        tell(done, len(MEASURES))
    return records


@DBOS.step(name="measure_round.measure", retries_allowed=True)
def _measure_in_job(round_id: int) -> bool:
    """Measure a round, once more after a crash; false where it does not exist any more."""
    db = jobs.database()
    if db.read(lambda session: session.get(Round, round_id)) is None:
        return False
    measure_and_store(db, round_id, samples.find_encoder())
    return True


def measure_round(payload: dict[str, Any]) -> dict[str, Any]:
    """Run the workflow; `payload` has the id of the `round`."""
    return {"measured": _measure_in_job(payload["round"])}


FRESH = timedelta(minutes=15)
"""Least time between two measurements of an open round."""


def measure_changed_rounds(database: Database, settings: Settings) -> None:
    """Enqueue measurements of rounds that changed, and forget jobs that were given up."""
    jobs_in_progress = database.read(_jobs_in_progress)
    for job in jobs.given_up(database, settings, list(jobs_in_progress)):
        database.write(service.release_job, jobs_in_progress[job], job)
    for round_id in database.read(_rounds_to_measure, now()):
        database.write(_enqueue, round_id)


def _jobs_in_progress(session: Session) -> dict[str, int]:
    rows = session.execute(tables.started_rounds())
    return {stored.job_id: stored.round_id for _, stored in rows if stored is not None and stored.job_id}


def _rounds_to_measure(session: Session, at: datetime) -> list[int]:
    """Rounds with enough examples to say something that changed since they were measured."""
    round_ids = []
    for round_, stored in session.execute(tables.started_rounds()):
        waits = stored is not None and stored.job_id is not None
        young = (
            stored is not None and stored.at is not None and round_.state == RoundState.OPEN and at - stored.at < FRESH
        )
        settled = stored is not None and stored.state == service.round_state(session, round_)
        if not (waits or young or settled) and _has_enough_examples(session, round_):
            round_ids.append(round_.id)
    return round_ids


def _has_enough_examples(session: Session, round_: Round) -> bool:
    rows = folding.read(session, round_.id, ["all"]).get(("all", ""))
    return rows is not None and int(rows["examples"].sum()) >= FEW_ROWS


def _enqueue(session: Session, round_id: int) -> None:
    service.enqueue_measurement(session, session.get_one(Round, round_id))
