"""Evaluations as durable jobs: checked, answered in shards, measured, scored. After a crash the next shard follows."""

import logging
from collections.abc import Callable
from typing import Any

from dbos import DBOS
from dbos import error as engine
from sqlalchemy.orm import Session

from dynabench import errors, jobs
from dynabench.benchmark.disclosure import Disclosure
from dynabench.datasets import stored
from dynabench.db import now
from dynabench.models import catalog
from dynabench.rounds import service as rounds
from dynabench.scoring import costs, planning, queries, records, scored, service
from dynabench.scoring.asking import Stopped
from dynabench.scoring.planning import Piece
from dynabench.scoring.running import Running, Source, mine, told
from dynabench.scoring.tables import EvaluationState
from dynabench.settings import Settings, get_settings

log = logging.getLogger(__name__)
Result = dict[str, Any]
_read_through: set[tuple[str, int, int]] = set()


def evaluate(payload: dict[str, Any]) -> Result:
    """The workflow: `payload` names the `evaluation` and which `attempt` at it this is.

    What shards there are is said by the first step; those that are done are passed over.
    """
    job_id, evaluation = str(DBOS.workflow_id), int(payload["evaluation"])
    try:
        return run_job(job_id, evaluation)
    except engine.DBOSMaxStepRetriesExceeded as error:  # a fault of ours: it may not look as if it went on for ever
        log.exception("evaluation %s", evaluation)
        return end(job_id, evaluation, {"stopped": "failed", "reason": type(error.errors[-1]).__name__}, "")


def run_job(job_id: str, evaluation: int) -> Result:
    """Run the steps of an evaluation, one after the other; the result says how it ended."""
    plan = begin(job_id, evaluation)
    if "stopped" in plan:
        return end(job_id, evaluation, plan, "")
    run = Running(job_id, evaluation, Source(**plan["source"]), get_settings())
    try:
        result = _answered(run, plan)
        return end(job_id, evaluation, result, run.log())
    finally:
        run.close()


def _answered(run: Running, plan: Result) -> Result:
    for piece in plan["pieces"]:
        if "stopped" in (result := shard(run, Piece(**piece))):
            return result
    measured = measure(run, plan)
    if "stopped" in measured:
        return measured
    run.close()
    result = score(run, plan, measured)
    return result if "stopped" in result else {"planned": plan["planned"]}


def _tried(work: Callable[[], Result]) -> Result:
    """What a step does; where it cannot go on, that is its result."""
    try:
        return work()
    except Stopped as stopped:
        return told(stopped)


@DBOS.step(name="evaluate.begin", retries_allowed=True)
def begin(job_id: str, evaluation: int) -> Result:
    """Check that dataset and model are what they were; the plan."""
    return _tried(lambda: _begin(get_settings(), job_id, evaluation))


@DBOS.step(name="evaluate.shard", retries_allowed=True)
def shard(run: Running, piece: Piece) -> Result:
    """Answer and store one shard."""

    def work() -> Result:
        run.shard(piece)
        return {}

    return _tried(work)


@DBOS.step(name="evaluate.measure", retries_allowed=True)
def measure(run: Running, plan: Result) -> Result:
    """Throughput, latency and memory, with nothing else running; nothing where that is known or cannot be."""
    return _tried(lambda: {"costs": costs.measured(run, plan)})


@DBOS.step(name="evaluate.score", retries_allowed=True)
def score(run: Running, plan: Result, measured: Result) -> Result:
    """Scores from the stored answers, and the signed record, in one transaction."""

    def work() -> Result:
        jobs.database().write(_to, run.job_id, run.evaluation, "scoring")
        made = scored.scores(jobs.database(), run.settings, run.evaluation)
        jobs.database().write(_keep, run, made, measured["costs"])
        return {}

    return _tried(work)


@DBOS.step(name="evaluate.end", retries_allowed=True)
def end(job_id: str, evaluation: int, result: Result, log: str) -> Result:
    """Say how it ended, and tell the submitter."""
    return jobs.database().write(_end, job_id, evaluation, result, log)


def _begin(settings: Settings, job_id: str, evaluation: int) -> Result:
    jobs.database().write(_to, job_id, evaluation, "checking")
    plan = jobs.database().read(_plan, job_id, evaluation)
    for digest in {piece["digest"] for piece in plan["pieces"]}:
        _same_rows(settings, digest)
    if plan["asks"]:
        try:
            catalog.entry(plan["source"]["model"], plan["source"]["version"])
        except errors.NotFound:
            raise Stopped("model_gone") from None
    jobs.database().write(_to, job_id, evaluation, "running", plan["rows"])
    return plan


def _same_rows(settings: Settings, digest: str) -> None:
    """The file holds the rows that it is named after; raises `Stopped`. A file is read through once for each state."""
    path = stored.path(settings, digest)
    try:
        at = path.stat()
        state = (str(path), at.st_mtime_ns, at.st_size)
        if state not in _read_through and stored.digest(stored.read(settings, digest)) != digest:
            raise Stopped("dataset_changed")
    except (OSError, ValueError):
        raise Stopped("dataset_changed") from None
    _read_through.add(state)


def _plan(session: Session, job_id: str, evaluation: int) -> Result:
    mine(session, evaluation, job_id)
    _, submission, version, dataset = planning.whole(session, evaluation)
    if submission.withdrawn_at:  # while this was being queued
        raise Stopped("cancelled")
    config = rounds.newest_config(session, dataset.task_id)
    parts = planning.parts(session, submission, version, config.metrics.perturb)
    answered, seconds = session.execute(queries.speed(submission.id)).one()
    rate = answered / seconds if answered and seconds else None
    done = session.scalars(queries.shards(evaluation)).all()
    predictions = submission.kind == "predictions"
    rows = sum(part.rows for part in parts)
    stored_already = sum(shard.rows for shard in done) == rows and costs.known(session, evaluation)
    return {
        "pieces": [planning.described(piece) for piece in planning.pieces(parts, done, rate)],
        "planned": {part.name: part.digest for part in parts},
        "rows": rows,
        "asks": not (predictions or stored_already),
        "source": vars(Source(submission.id, submission.model, submission.version, predictions)),
    }


def _to(session: Session, job_id: str, evaluation: int, state: str, rows: int | None = None) -> None:
    found = mine(session, evaluation, job_id, lock=True)
    if state == EvaluationState.CHECKING:
        found.started_at = now()
    found.state = state
    found.rows = found.rows if rows is None else rows


def _keep(session: Session, run: Running, made: list[scored.Made], measured: list[Result]) -> None:
    mine(session, run.evaluation, run.job_id, lock=True)
    scored.keep(session, run.evaluation, made, measured)
    records.keep(session, run.settings, run.evaluation)


def _end(session: Session, job_id: str, evaluation: int, result: Result, log: str) -> Result:
    try:
        found = mine(session, evaluation, job_id, lock=True)
    except Stopped as stopped:
        return {"state": stopped.code}
    _, submission, version, dataset = planning.whole(session, evaluation)
    quotable = Disclosure.at_most(dataset.visibility).log
    if code := result.get("stopped", ""):
        found.state, found.code = EvaluationState.CANCELLED if code == "cancelled" else EvaluationState.FAILED, code
    else:
        config = rounds.newest_config(session, dataset.task_id)
        parts = planning.parts(session, submission, version, config.metrics.perturb)
        if not planning.settle(session, found, parts, result["planned"]):
            return {"state": found.state}
        found.state, found.code = EvaluationState.DONE, ""
    found.ended_at = now()
    found.reason = result.get("reason", "") if quotable else ""  # of hidden rows nothing is kept that may quote them
    found.log = log if quotable else ""
    service.announce(session, found)
    return {"state": found.state, "code": found.code}
