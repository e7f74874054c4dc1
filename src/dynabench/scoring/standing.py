"""How the evaluations of one submission stand, and what its submitter may know of each."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy.orm import Session

from dynabench.accounts.tables import Person
from dynabench.benchmark.disclosure import Disclosure
from dynabench.db import now
from dynabench.registry import predictions
from dynabench.registry import submission_queries as registry_queries
from dynabench.registry.tables import Submission, SubmissionState
from dynabench.scoring import submission_queries
from dynabench.scoring.tables import Evaluation, EvaluationState
from dynabench.settings import Settings

RECENT = 50


@dataclass(frozen=True)
class Standing:
    """One evaluation. Of a hidden dataset only its state, share and code are known: no reason, no log, no rows.

    `place` is how many end before one that waits, `finish` when it may be done by the pace of the last ones; None
    where nothing is known. `spent` is what the answers of one that is done cost, None where they have no price.
    """

    id: int
    dataset: str
    number: int
    disclosure: Disclosure
    state: str
    share: float
    code: str
    reason: str
    log: str
    rows: int | None
    place: int | None
    finish: datetime | None
    spent: float | None


def standing(session: Session, viewer: Person, submission: Submission) -> list[Standing]:
    """The submission's evaluations by dataset, as `viewer` sees them."""
    pace, spent = _pace(session), dict(session.execute(submission_queries.spent(submission.id)).all())
    found = []
    for each, version, dataset in session.execute(submission_queries.of(submission.id)):
        disclosure = Disclosure.of(viewer, dataset, submission)
        place, finish = _expected(session, each, pace)
        share = 1.0 if each.state == EvaluationState.DONE else each.rows_done / each.rows if each.rows else 0.0
        texts = (each.reason, each.log) if disclosure.log else ("", "")
        rows = each.rows or version.rows if disclosure.counts else None
        found.append(
            Standing(
                each.id, dataset.title or dataset.name, version.number, disclosure, each.state, share, each.code,
                *texts, rows, place, finish, spent.get(each.id),
            )
        )  # fmt: skip
    return found


def lacking(session: Session, settings: Settings, submission: Submission) -> list[tuple[str, int]]:
    """Datasets, each with its newest version, that a ready file of predictions says nothing of: they came later."""
    if submission.kind != "predictions" or submission.state != SubmissionState.READY:
        return []
    wanted = session.execute(registry_queries.wanted(submission.task_id))
    return [
        (dataset.title or dataset.name, version.number)
        for dataset, version in wanted
        if not predictions.covers(settings, submission, version)
    ]


def _pace(session: Session) -> float | None:
    """Seconds a row took in the last evaluations; None before there were any."""
    rows, seconds = 0, 0.0
    for count, started, ended in session.execute(submission_queries.lately(RECENT)):
        if started is not None and ended is not None:
            rows, seconds = rows + count, seconds + (ended - started).total_seconds()
    return seconds / rows if rows else None


def _expected(session: Session, each: Evaluation, pace: float | None) -> tuple[int | None, datetime | None]:
    if each.state not in submission_queries.OPEN:
        return None, None
    left = each.rows - each.rows_done
    place = None
    if each.state == EvaluationState.QUEUED:
        place, ahead = session.execute(submission_queries.ahead(each.created_at, each.id)).one()
        left += ahead or 0
    return place, now() + timedelta(seconds=pace * left) if pace is not None and left else None
