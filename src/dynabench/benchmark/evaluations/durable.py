"""Queueing as a durable job; the rules are in `queueing`, which pages use too."""

from typing import Any

from dbos import DBOS

from dynabench.benchmark.evaluations import queueing
from dynabench.kit import jobs


def run_queue_job(payload: dict[str, Any]) -> dict[str, Any]:
    """Run the workflow; `payload` names the new object, as for `queueing.queue`."""
    return {"evaluations": queue_missing(payload)}


@DBOS.step(name="queue_evaluations.queue", retries_allowed=True)
def queue_missing(payload: dict[str, Any]) -> int:
    """Queue the missing evaluations and return their number."""
    return jobs.database().write(queueing.queue_evaluations, payload)
