"""The page of one submission: its check, then its evaluations, as they go on."""

from datetime import timedelta
from typing import Any

from fastapi import APIRouter, Request
from sqlalchemy.orm import Session
from starlette.responses import Response

from dynabench.benchmark.evaluations import submission_evaluations, submission_queries
from dynabench.benchmark.registry import submission_queries as registry_queries
from dynabench.benchmark.registry import submissions
from dynabench.benchmark.registry.submission_api import Id
from dynabench.benchmark.registry.tables import SubmissionState
from dynabench.kit.db import now
from dynabench.kit.language import _
from dynabench.people.accounts.auth import Member
from dynabench.rounds import service as rounds
from dynabench.web import render

router = APIRouter(include_in_schema=False)
QUEUED_WITHIN = timedelta(minutes=2)
DONE = {
    "cancel": _("The check was cancelled."),
    "retry": _("It is checked once more."),
    "withdraw": _("It is withdrawn. The ledger keeps that it was there."),
    "visibility": _("Saved: who may see it."),
}


@router.get("/submissions/{id}", name="submission")
async def show(request: Request, id: Id, person: Member, done: str = "") -> Response:
    """A submission for its submitter and admins, a public one also for the task's owners."""

    def read(session: Session) -> dict[str, Any]:
        seen = submissions.find_submission(session, person, id)
        return {
            "seen": seen,
            "made": seen.submission,
            "config": rounds.newest_config(session, seen.submission.task_id),
            "evaluations": submission_evaluations.evaluations_of(session, person, seen.submission),
            "lacking": submission_evaluations.missing_datasets(session, request.app.state.settings, seen.submission),
        }

    values = await request.app.state.db.aread(read)
    submission_row = values["made"]
    open_ones = any(evaluation.state in submission_queries.OPEN for evaluation in values["evaluations"])
    going = submission_row.state in registry_queries.GOING or (
        submission_row.state == SubmissionState.READY and (open_ones or _soon(values))
    )
    return render(
        request,
        "evaluations/submission.html",
        fragment="evaluations/_submission.html",
        going=going,
        here=request.url.path,
        notice=DONE.get(done, ""),
        **values,
    )


def _soon(values: dict[str, Any]) -> bool:
    """True if its first evaluations may be about to be queued: the worker does that once it is ready."""
    ready = values["made"].ready_at
    return not values["evaluations"] and ready is not None and now() - ready < QUEUED_WITHIN
