"""Evaluations as durable jobs: checked, answered in shards, measured, scored. After a crash the next shard follows."""

import logging
from collections.abc import Callable
from typing import Any

from dbos import DBOS
from dbos import error as engine
from sqlalchemy.orm import Session

from dynabench.benchmark.evaluations import costs, evaluation_run, queries, records, score_computation, service
from dynabench.benchmark.evaluations.evaluation_run import (
    AnswerSource,
    EvaluationRun,
    PlannedShard,
    owned_evaluation,
    stopped_result,
)
from dynabench.benchmark.evaluations.model_process import EvaluationStopped
from dynabench.benchmark.evaluations.tables import EvaluationState
from dynabench.datasets import stored
from dynabench.kit import errors, jobs
from dynabench.kit.db import now
from dynabench.kit.settings import Settings, get_settings
from dynabench.models import catalog
from dynabench.people.disclosure import Disclosure
from dynabench.rounds import service as rounds

log = logging.getLogger(__name__)
Result = dict[str, Any]
_read_through: set[tuple[str, int, int]] = set()


def evaluate(payload: dict[str, Any]) -> Result:
    """Run the workflow: `payload` names the `evaluation` and the `attempt`.

    The first step lists the shards; those that are done are skipped.
    """
    job_id, evaluation = str(DBOS.workflow_id), int(payload["evaluation"])
    try:
        return run_job(job_id, evaluation)
    except engine.DBOSMaxStepRetriesExceeded as error:  # a fault of ours: it may not look as if it went on for ever
        log.exception("evaluation %s", evaluation)
        return end_evaluation(job_id, evaluation, {"stopped": "failed", "reason": type(error.errors[-1]).__name__}, "")


def run_job(job_id: str, evaluation: int) -> Result:
    """Run the steps of an evaluation, one after the other; the result says how it ended."""
    plan = begin_evaluation(job_id, evaluation)
    if "stopped" in plan:
        return end_evaluation(job_id, evaluation, plan, "")
    run = EvaluationRun(job_id, evaluation, AnswerSource(**plan["source"]), get_settings())
    try:
        result = _answered(run, plan)
        return end_evaluation(job_id, evaluation, result, run.log())
    finally:
        run.close()


def _answered(run: EvaluationRun, plan: Result) -> Result:
    for piece in plan["pieces"]:
        if "stopped" in (result := answer_shard(run, PlannedShard(**piece))):
            return result
    measured = measure_costs(run, plan)
    if "stopped" in measured:
        return measured
    run.close()
    result = score_answers(run, plan, measured)
    return result if "stopped" in result else {"planned": plan["planned"]}


def _run_step(work: Callable[[], Result]) -> Result:
    """Run a step; an `EvaluationStopped` becomes its result."""
    try:
        return work()
    except EvaluationStopped as stopped:
        return stopped_result(stopped)


@DBOS.step(name="evaluate.begin", retries_allowed=True)
def begin_evaluation(job_id: str, evaluation: int) -> Result:
    """Check that dataset and model are unchanged; return the plan."""
    return _run_step(lambda: _begin(get_settings(), job_id, evaluation))


@DBOS.step(name="evaluate.shard", retries_allowed=True)
def answer_shard(run: EvaluationRun, piece: PlannedShard) -> Result:
    """Answer and store one shard."""

    def work() -> Result:
        run.shard(piece)
        return {}

    return _run_step(work)


@DBOS.step(name="evaluate.measure", retries_allowed=True)
def measure_costs(run: EvaluationRun, plan: Result) -> Result:
    """Measure throughput, latency and memory with nothing else running; empty where that is known or impossible."""
    return _run_step(lambda: {"costs": costs.measure_costs(run, plan)})


@DBOS.step(name="evaluate.score", retries_allowed=True)
def score_answers(run: EvaluationRun, plan: Result, measured: Result) -> Result:
    """Compute scores from the stored answers, and store them with the signed record in one transaction."""

    def work() -> Result:
        jobs.database().write(_set_state, run.job_id, run.evaluation, "scoring")
        new_scores = score_computation.compute_scores(jobs.database(), run.settings, run.evaluation)
        jobs.database().write(_keep, run, new_scores, measured["costs"])
        return {}

    return _run_step(work)


@DBOS.step(name="evaluate.end", retries_allowed=True)
def end_evaluation(job_id: str, evaluation: int, result: Result, log: str) -> Result:
    """Store the final state, and notify the submitter."""
    return jobs.database().write(_end, job_id, evaluation, result, log)


def run_queue_job(payload: dict[str, Any]) -> dict[str, Any]:
    """Run the workflow; `payload` names the new object, as for `queueing.queue_evaluations`."""
    return {"evaluations": queue_missing(payload)}


@DBOS.step(name="queue_evaluations.queue", retries_allowed=True)
def queue_missing(payload: dict[str, Any]) -> int:
    """Queue the missing evaluations and return their number."""
    return jobs.database().write(service.queue_evaluations, payload)


def _begin(settings: Settings, job_id: str, evaluation: int) -> Result:
    jobs.database().write(_set_state, job_id, evaluation, "checking")
    plan = jobs.database().read(_plan, job_id, evaluation)
    for digest in {piece["digest"] for piece in plan["pieces"]}:
        _same_rows(settings, digest)
    if plan["asks"]:
        try:
            catalog.entry(plan["source"]["model"], plan["source"]["version"])
        except errors.NotFound:
            raise EvaluationStopped("model_gone") from None
    jobs.database().write(_set_state, job_id, evaluation, "running", plan["rows"])
    return plan


def _same_rows(settings: Settings, digest: str) -> None:
    """The file holds the rows that it is named after; raises `Stopped`. A file is read through once for each state."""
    path = stored.rows_path(settings, digest)
    try:
        file_state = path.stat()
        state = (str(path), file_state.st_mtime_ns, file_state.st_size)
        if state not in _read_through and stored.rows_digest(stored.read_rows(settings, digest)) != digest:
            raise EvaluationStopped("dataset_changed")
    except (OSError, ValueError):
        raise EvaluationStopped("dataset_changed") from None
    _read_through.add(state)


def _plan(session: Session, job_id: str, evaluation: int) -> Result:
    owned_evaluation(session, evaluation, job_id)
    _, submission, version, dataset = evaluation_run.load_evaluation(session, evaluation)
    if submission.withdrawn_at:  # while this was being queued
        raise EvaluationStopped("cancelled")
    config = rounds.newest_config(session, dataset.task_id)
    parts = evaluation_run.evaluation_parts(session, submission, version, config.metrics.perturb)
    answered, seconds = session.execute(queries.answering_speed(submission.id)).one()
    rate = answered / seconds if answered and seconds else None
    done = session.scalars(queries.finished_shards(evaluation)).all()
    predictions = submission.kind == "predictions"
    rows = sum(part.rows for part in parts)
    stored_already = sum(shard.rows for shard in done) == rows and costs.has_costs(session, evaluation)
    return {
        "pieces": [evaluation_run.shard_fields(piece) for piece in evaluation_run.planned_shards(parts, done, rate)],
        "planned": {part.name: part.digest for part in parts},
        "rows": rows,
        "asks": not (predictions or stored_already),
        "source": vars(AnswerSource(submission.id, submission.model, submission.version, predictions)),
    }


def _set_state(session: Session, job_id: str, evaluation: int, state: str, rows: int | None = None) -> None:
    evaluation_row = owned_evaluation(session, evaluation, job_id, lock=True)
    if state == EvaluationState.CHECKING:
        evaluation_row.started_at = now()
    evaluation_row.state = state
    evaluation_row.rows = evaluation_row.rows if rows is None else rows


def _keep(
    session: Session, run: EvaluationRun, new_scores: list[score_computation.NewScore], measured: list[Result]
) -> None:
    owned_evaluation(session, run.evaluation, run.job_id, lock=True)
    score_computation.store_scores(session, run.evaluation, new_scores, measured)
    records.store_record(session, run.settings, run.evaluation)


def _end(session: Session, job_id: str, evaluation: int, result: Result, log: str) -> Result:
    try:
        evaluation_row = owned_evaluation(session, evaluation, job_id, lock=True)
    except EvaluationStopped as stopped:
        return {"state": stopped.code}
    _, submission, version, dataset = evaluation_run.load_evaluation(session, evaluation)
    quotable = Disclosure.at_most(dataset.visibility).log
    if code := result.get("stopped", ""):
        evaluation_row.state, evaluation_row.code = (
            EvaluationState.CANCELLED if code == "cancelled" else EvaluationState.FAILED,
            code,
        )
    else:
        config = rounds.newest_config(session, dataset.task_id)
        parts = evaluation_run.evaluation_parts(session, submission, version, config.metrics.perturb)
        if not evaluation_run.settle_changes(session, evaluation_row, parts, result["planned"]):
            return {"state": evaluation_row.state}
        evaluation_row.state, evaluation_row.code = EvaluationState.DONE, ""
    evaluation_row.ended_at = now()
    evaluation_row.reason = (
        result.get("reason", "") if quotable else ""
    )  # of hidden rows nothing is kept that may quote them
    evaluation_row.log = log if quotable else ""
    service.announce_end(session, evaluation_row)
    return {"state": evaluation_row.state, "code": evaluation_row.code}
