"""Queueing as a durable job; the rules are in `queueing`, which pages use too."""

from typing import Any

from dbos import DBOS

from dynabench import jobs
from dynabench.scoring import queueing


def queue_evaluations(payload: dict[str, Any]) -> dict[str, Any]:
    """Run the workflow; `payload` names what is new, as `queueing.queue` has it."""
    return {"evaluations": queued(payload)}


@DBOS.step(name="queue_evaluations.queue", retries_allowed=True)
def queued(payload: dict[str, Any]) -> int:
    """Queue what is missing; how many evaluations that are."""
    return jobs.database().write(queueing.queue, payload)
