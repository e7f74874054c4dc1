"""Queueing of evaluations: every ready submission on the newest version of every dataset, each once."""

from typing import Any

from sqlalchemy import Select, delete
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from dynabench.benchmark.evaluations import queries
from dynabench.benchmark.evaluations.measures import formula_version
from dynabench.benchmark.evaluations.tables import Evaluation, EvaluationState, Record, Shard
from dynabench.benchmark.registry import predictions
from dynabench.benchmark.registry.tables import Submission
from dynabench.datasets import twins
from dynabench.datasets.tables import DatasetVersion, Twin
from dynabench.kit import jobs
from dynabench.kit.db import now
from dynabench.kit.settings import get_settings


def queue_evaluations(session: Session, payload: dict[str, Any]) -> int:
    """Queue the evaluations that a new object needs, and return their number; a second call queues none.

    `payload` names a `submission`, `dataset`, `twin` or `metric`, or a `task` whose metrics changed, for whose
    datasets missing twins are requested as well; open evaluations of a `withdrawn` submission are ended.
    """
    if "withdrawn" in payload:
        return _withdrawn(session, payload["withdrawn"])
    if "twin" in payload:
        return _new_part(session, payload["twin"])
    if "metric" in payload:
        return _score_anew(session, queries.outdated_evaluations(payload["metric"], formula_version(payload["metric"])))
    if "task" in payload:
        return _new_metrics(session, payload["task"])
    missing = session.execute(queries.missing_evaluations(payload.get("submission"), payload.get("dataset"))).all()
    return sum(_add(session, submission, version) for submission, version in missing)


def run_again(session: Session, evaluation: Evaluation) -> None:
    """Run an evaluation again: stored answers stay, the rest is answered."""
    evaluation.attempt += 1
    evaluation.state, evaluation.code, evaluation.reason, evaluation.ended_at = EvaluationState.QUEUED, "", "", None
    enqueue_job(session, evaluation)


def enqueue_job(session: Session, evaluation: Evaluation) -> None:
    """Enqueue the job of an evaluation that has an id."""
    submission = session.get_one(Submission, evaluation.submission_id)
    payload = {"evaluation": evaluation.id, "attempt": evaluation.attempt}
    evaluation.job_id = jobs.enqueue(session, "evaluate", payload, submission.person_id).id


def queue_outdated_metrics(session: Session) -> int:
    """Request new scores for all metrics whose formula has changed; return the number of these metrics."""
    old = [name for name, version in session.execute(queries.scored_metrics()) if version < formula_version(name)]
    for name in old:
        jobs.enqueue(session, "queue_evaluations", {"metric": name})
    return len(old)


def _add(session: Session, submission: Submission, version: DatasetVersion) -> int:
    if submission.kind == "predictions" and not predictions.has_predictions(get_settings(), submission, version):
        return 0
    evaluation = Evaluation(submission_id=submission.id, version_id=version.id, rows=version.rows)
    try:
        with session.begin_nested():
            session.add(evaluation)
            session.flush()
    except IntegrityError:  # somebody else queued it at the same time
        return 0
    enqueue_job(session, evaluation)
    return 1


def _new_part(session: Session, twin_id: int) -> int:
    """Evaluations of the twin's version answer its rows anew; those that run see to it themselves when they end."""
    twin = session.get_one(Twin, twin_id)
    ended = [
        evaluation_row
        for evaluation_row in session.scalars(queries.evaluations_of_version(twin.version_id))
        if evaluation_row.state == EvaluationState.DONE
    ]
    for evaluation in ended:
        submission = session.get_one(Submission, evaluation.submission_id)
        if submission.kind == "predictions" or submission.withdrawn_at:
            continue
        drop_part(session, evaluation, twin.axis)
        run_again(session, evaluation)
    return len(ended)


def drop_part(session: Session, evaluation: Evaluation, part: str) -> None:
    """Delete the stored answers of a part that has changed."""
    session.execute(delete(Shard).where(Shard.evaluation_id == evaluation.id, Shard.part == part))
    evaluation.rows_done = sum(shard.rows for shard in session.scalars(queries.finished_shards(evaluation.id)))


def _withdrawn(session: Session, submission: int) -> int:
    """End the open evaluations of a withdrawn submission; earlier scores stay."""
    going = session.scalars(queries.open_evaluations(submission)).all()
    for evaluation in going:
        scored = session.get(Record, evaluation.id) is not None
        evaluation.state, evaluation.code = ("done", "") if scored else ("cancelled", "cancelled")
        evaluation.ended_at = now()
    return len(going)


def _new_metrics(session: Session, task: str) -> int:
    """Score stored answers anew, and ask for missing twins, whose rows are answered once they are ready."""
    for version in session.scalars(queries.versions_in_use(task)).all():
        twins.request_twins(session, version)
    return _score_anew(session, queries.scored_evaluations(task))


def _score_anew(session: Session, statement: Select[Evaluation]) -> int:
    evaluations = session.scalars(statement).all()
    for evaluation in evaluations:
        run_again(session, evaluation)
    return len(evaluations)
