"""Verdicts that follow a decision on a person's votes: a durable job.

A module of its own, since the web process loads no engine of jobs.
"""

from typing import Any

from dbos import DBOS

from dynabench.kit import jobs
from dynabench.validation import exclusion


@DBOS.step(name="recount_votes.some", retries_allowed=True)
def recount_some(job_id: str, task: str, person: int, excluded: bool) -> bool:
    """Make some votes follow, in one transaction with the count of how far it came."""
    return jobs.database().write(exclusion.recount_some, job_id, task, person, excluded)


def recount_votes(payload: dict[str, Any]) -> dict[str, Any]:
    """The workflow: `payload` names the `task`, the `person`, and whether the votes are `excluded`."""
    job_id = str(DBOS.workflow_id)
    while recount_some(job_id, payload["task"], payload["person"], payload["excluded"]):
        pass
    return {}
