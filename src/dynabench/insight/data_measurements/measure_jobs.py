"""The measurement of a round: read in one transaction, computed in none, stored in another."""

from collections.abc import Callable
from typing import Any

from dbos import DBOS
from sqlalchemy.orm import Session

from dynabench.insight.data_measurements import embedding, round_sample, service
from dynabench.insight.data_measurements.measures import measures
from dynabench.insight.data_measurements.sample import Embed, Sample
from dynabench.kit import jobs
from dynabench.kit.db import Database
from dynabench.rounds.tables import Round

Tell = Callable[[int, int], object]


def measure_and_store(
    db: Database, round_id: int, embed: Embed | None = None, tell: Tell = lambda done, of: None
) -> None:
    """Measure a round and store the results; `tell` gets the number of finished measures and of all."""

    def read(session: Session) -> tuple[str, Sample]:
        round_ = session.get_one(Round, round_id)
        return service.round_state(session, round_), round_sample.read_sample(session, round_, embed)

    state, sample = db.read(read)
    records = apply_measures(sample, tell)
    db.write(service.store_measurement, round_id, state, records, len(sample.rows), sample.total)


def apply_measures(sample: Sample, tell: Tell = lambda done, of: None) -> dict[str, Any]:
    """Return the results of all measures that apply, as records by name."""
    records, all_measures = {}, measures()
    for done, (name, measure) in enumerate(all_measures.items(), start=1):
        result = measure.measure(sample) if sample.rows else None
        if result is not None:
            records[name] = result.record()
        tell(done, len(all_measures))
    return records


def _round_exists(session: Session, round_id: int) -> bool:
    return session.get(Round, round_id) is not None


@DBOS.step(name="measure_round.measure", retries_allowed=True)
def _measure_in_job(round_id: int) -> bool:
    """Measure a round, once more after a crash; false where it does not exist any more."""
    db = jobs.database()
    if not db.read(_round_exists, round_id):
        return False
    measure_and_store(db, round_id, embedding.embed())
    return True


def measure_round(payload: dict[str, Any]) -> dict[str, Any]:
    """Run the workflow; `payload` has the id of the `round`."""
    return {"measured": _measure_in_job(payload["round"])}
