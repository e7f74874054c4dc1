"""The evaluations of one submission, as far as its submitter may know of each."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy.orm import Session

from dynabench.benchmark.evaluations import submission_queries
from dynabench.benchmark.evaluations.tables import Evaluation, EvaluationState
from dynabench.benchmark.registry import predictions
from dynabench.benchmark.registry import submission_queries as registry_queries
from dynabench.benchmark.registry.tables import Submission, SubmissionState
from dynabench.kit.db import now
from dynabench.kit.settings import Settings
from dynabench.people.accounts.tables import Person
from dynabench.people.disclosure import Disclosure

RECENT_EVALUATIONS = 50


@dataclass(frozen=True)
class SubmissionEvaluation:
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


def evaluations_of(session: Session, viewer: Person, submission: Submission) -> list[SubmissionEvaluation]:
    """Return the submission's evaluations by dataset."""
    pace, spent = _pace(session), dict(session.execute(submission_queries.evaluation_prices(submission.id)).all())
    evaluations = []
    for evaluation, version, dataset in session.execute(submission_queries.evaluations_of_submission(submission.id)):
        disclosure = Disclosure.of(viewer, dataset, submission)
        place, finish = _expected(session, evaluation, pace)
        share = (
            1.0
            if evaluation.state == EvaluationState.DONE
            else evaluation.rows_done / evaluation.rows
            if evaluation.rows
            else 0.0
        )
        texts = (evaluation.reason, evaluation.log) if disclosure.log else ("", "")
        rows = evaluation.rows or version.rows if disclosure.counts else None
        evaluations.append(
            SubmissionEvaluation(
                evaluation.id,
                dataset.title or dataset.name,
                version.number,
                disclosure,
                evaluation.state,
                share,
                evaluation.code,
                *texts,
                rows,
                place,
                finish,
                spent.get(evaluation.id),
            )
        )
    return evaluations


def missing_datasets(session: Session, settings: Settings, submission: Submission) -> list[tuple[str, int]]:
    """Return the datasets, by title and version, that a ready file of predictions does not cover, since they are
    newer."""
    if submission.kind != "predictions" or submission.state != SubmissionState.READY:
        return []
    needed = session.execute(registry_queries.evaluated_datasets(submission.task_id))
    return [
        (dataset.title or dataset.name, version.number)
        for dataset, version in needed
        if not predictions.has_predictions(settings, submission, version)
    ]


def _pace(session: Session) -> float | None:
    """Seconds a row took in the last evaluations; None before there were any."""
    rows, seconds = 0, 0.0
    for count, started, ended in session.execute(submission_queries.recent_evaluations(RECENT_EVALUATIONS)):
        if started is not None and ended is not None:
            rows, seconds = rows + count, seconds + (ended - started).total_seconds()
    return seconds / rows if rows else None


def _expected(session: Session, evaluation: Evaluation, pace: float | None) -> tuple[int | None, datetime | None]:
    if evaluation.state not in submission_queries.OPEN:
        return None, None
    rows_left = evaluation.rows - evaluation.rows_done
    place = None
    if evaluation.state == EvaluationState.QUEUED:
        place, ahead = session.execute(submission_queries.waiting_ahead(evaluation.created_at, evaluation.id)).one()
        rows_left += ahead or 0
    return place, now() + timedelta(seconds=pace * rows_left) if pace is not None and rows_left else None
