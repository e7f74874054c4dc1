"""Rounds measured by the worker."""

from typing import Any

from dbos import DBOS
from sqlalchemy.orm import Session

from dynabench import jobs
from dynabench.measuring import embedding, running
from dynabench.rounds.tables import Round


def _there(session: Session, round_id: int) -> bool:
    return session.get(Round, round_id) is not None


@DBOS.step(name="measure_round.measure", retries_allowed=True)
def measure(round_id: int) -> bool:
    """Measure a round, once more after a crash; whether it is still there."""
    db = jobs.database()
    if not db.read(_there, round_id):
        return False
    running.measure(db, round_id, embedding.embed())
    return True


def measure_round(payload: dict[str, Any]) -> dict[str, Any]:
    """The workflow: `payload` names the `round` by its id."""
    return {"measured": measure(payload["round"])}
