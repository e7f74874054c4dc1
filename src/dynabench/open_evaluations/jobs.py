"""An open evaluation as a durable job: rows are read, each model answers in shards, scores follow. After a crash the
next shard follows. Rows of a dataset of another hub are downloaded by a job before it."""

import logging
import time
from collections.abc import Callable
from typing import Any

from dbos import DBOS
from dbos import error as engine
from sqlalchemy.orm import Session

from dynabench.benchmark.evaluations.model_process import EvaluationStopped
from dynabench.datasets import stored
from dynabench.datasets.stored import WrittenRows
from dynabench.intake.rows import BadRowReport
from dynabench.intake.sources import HubRequest
from dynabench.kit import errors, jobs
from dynabench.kit.compute_lock import TURNS
from dynabench.kit.db import now
from dynabench.kit.disk import has_disk_room
from dynabench.kit.language import _
from dynabench.kit.settings import get_settings
from dynabench.open_evaluations import card_results, planning, queries, records, repository_cards, scoring, service
from dynabench.open_evaluations.choices import OpenChoices
from dynabench.open_evaluations.kinds import OPEN_TASKS
from dynabench.open_evaluations.model_runs import ModelRun, first_rows, owned_evaluation, planned_shards
from dynabench.open_evaluations.remote_downloads import run_download
from dynabench.open_evaluations.remote_source import fetch_chosen
from dynabench.open_evaluations.row_source import RowSource
from dynabench.open_evaluations.rows import OpenRowReader
from dynabench.open_evaluations.sources import open_source
from dynabench.open_evaluations.tables import OPEN_STATES, OpenEvaluation, OpenEvaluationModel, OpenState
from dynabench.people.accounts.tables import Person
from dynabench.people.notices import service as notices

log = logging.getLogger(__name__)
ROOM_SECONDS = 5.0
"""Seconds between two looks at a disk without room."""
Result = dict[str, Any]


def evaluate_openly(payload: dict[str, Any]) -> Result:
    """Run the workflow; `payload` names the `evaluation`."""
    job_id, evaluation = str(DBOS.workflow_id), int(payload["evaluation"])
    try:
        return _run(job_id, evaluation)
    except engine.DBOSMaxStepRetriesExceeded as error:
        log.exception("open evaluation %s", evaluation)
        return end_step(job_id, evaluation, {"stopped": "failed", "reason": type(error.errors[-1]).__name__})


def _run(job_id: str, evaluation: int) -> Result:
    plan = read_step(job_id, evaluation)
    if "stopped" in plan:
        return end_step(job_id, evaluation, plan)
    for number in range(plan["models"]):
        run = ModelRun(get_settings(), job_id, evaluation, number, plan["digest"])
        try:
            ended = _answer_and_score(run, plan)
        finally:
            run.close()
        if ended.get("stopped") in ("cancelled", "superseded"):
            return end_step(job_id, evaluation, ended)
    return end_step(job_id, evaluation, {})


def _answer_and_score(run: ModelRun, plan: Result) -> Result:
    for shard, (first, rows) in enumerate(planned_shards(plan["rows"])):
        if "stopped" in (result := shard_step(run, shard, first, rows)):
            return end_model_step(run, result)
    return end_model_step(run, score_step(run))


def _stopped(work: Callable[[], Result]) -> Result:
    """Run a step; what stops it becomes its result."""
    try:
        return work()
    except EvaluationStopped as stopped:
        return {"stopped": stopped.code, "reason": stopped.reason}
    except errors.Problem as problem:
        fields = problem.extra.get("fields") or {}
        return {"stopped": "refused", "reason": "; ".join(fields.values()) or problem.detail}


@DBOS.step(name="evaluate_openly.read", retries_allowed=True)
def read_step(job_id: str, evaluation: int) -> Result:
    """Read the rows of the dataset into a file of prepared rows; return how many there are, and of how many models."""
    return _stopped(lambda: _read(job_id, evaluation))


@DBOS.step(name="evaluate_openly.shard", retries_allowed=True)
def shard_step(run: ModelRun, shard: int, first: int, rows: int) -> Result:
    """Answer and store one shard of one model, unless it is stored."""

    def work() -> Result:
        run.answer_shard(shard, first, rows)
        return {}

    return _stopped(work)


@DBOS.step(name="evaluate_openly.score", retries_allowed=True)
def score_step(run: ModelRun) -> Result:
    """Compute and store the scores of one model, in place of earlier ones."""

    def work() -> Result:
        run.close()
        with TURNS.shared(run.check_wanted):
            errors_by_metric = scoring.score_model(jobs.database(), run.settings, run.job_id, run.evaluation, run.model)
        return {"unscored": errors_by_metric}

    return _stopped(work)


@DBOS.step(name="evaluate_openly.end_model", retries_allowed=True)
def end_model_step(run: ModelRun, result: Result) -> Result:
    """Store how one model ended."""
    jobs.database().write(_end_model, run, result)
    return result


@DBOS.step(name="evaluate_openly.end", retries_allowed=True)
def end_step(job_id: str, evaluation: int, result: Result) -> Result:
    """Store the final state with a signed record, and notify the author."""
    ended: Result = jobs.database().write(_end, job_id, evaluation, result)
    _add_to_repositories(evaluation)
    return ended


def _read(job_id: str, evaluation: int) -> Result:
    settings, database = get_settings(), jobs.database()

    def begin(session: Session) -> tuple[OpenChoices, RowSource]:
        row = owned_evaluation(session, evaluation, job_id, lock=True)
        row.state, row.started_at = OpenState.READING, row.started_at or now()
        person = session.get(Person, row.person_id) if row.person_id else None
        if person is None:
            raise EvaluationStopped("cancelled")
        choices = OpenChoices.parse(row.choices)
        return choices, open_source(session, settings, person, choices)

    chosen = database.read(_chosen, evaluation, job_id)
    while not has_disk_room(settings):  # the page of the evaluation says so
        time.sleep(ROOM_SECONDS)
        chosen = database.read(_chosen, evaluation, job_id)
    fetch_chosen(settings, chosen)  # what it downloads may have been erased
    choices, source = database.write(begin)
    with TURNS.shared():
        prepared = OpenRowReader(OPEN_TASKS[choices.task], choices, source.class_names(settings))
        limit = choices.rows or planning.MOST_ROWS
        written = stored.write_rows(settings, first_rows(prepared.read(source.read_rows(settings)), limit))
    if not written.rows:
        reasons = "\n".join(prepared.report.lines()[:5])
        raise EvaluationStopped("no_rows", _("No row fits the chosen columns.") + f"\n{reasons}")
    return database.write(_keep_rows, job_id, evaluation, written, prepared)


def _chosen(session: Session, evaluation: int, job_id: str) -> OpenChoices:
    return OpenChoices.parse(owned_evaluation(session, evaluation, job_id).choices)


def _keep_rows(session: Session, job_id: str, evaluation: int, written: WrittenRows, prepared: OpenRowReader) -> Result:
    row = owned_evaluation(session, evaluation, job_id, lock=True)
    report: BadRowReport = prepared.report
    row.digest, row.rows, row.refused = written.digest, written.rows, report.count
    row.report, row.labels = report.lines()[:20], sorted(prepared.labels)
    row.state = OpenState.RUNNING
    models = session.scalars(queries.models_of([evaluation])).all()
    return {"digest": written.digest, "rows": written.rows, "models": len(models)}


def _end_model(session: Session, run: ModelRun, result: Result) -> None:
    try:
        owned_evaluation(session, run.evaluation, run.job_id, lock=True)
    except EvaluationStopped:
        return
    model = session.get_one(OpenEvaluationModel, (run.evaluation, run.model))
    if code := result.get("stopped", ""):
        model.state = OpenState.CANCELLED if code == "cancelled" else OpenState.FAILED
        model.code, model.reason, model.log = code, result.get("reason", "")[:2000], run.log()
    else:
        model.state, model.code = OpenState.DONE, ""
        model.reason = "\n".join(f"{metric}: {why}" for metric, why in result.get("unscored", {}).items())


def _end(session: Session, job_id: str, evaluation: int, result: Result) -> Result:
    try:
        row = owned_evaluation(session, evaluation, job_id, lock=True)
    except EvaluationStopped as stopped:
        return {"state": stopped.code}
    models = session.scalars(queries.models_of([evaluation])).all()
    scored = [model for model in models if model.state == OpenState.DONE]
    if code := result.get("stopped", ""):
        state = OpenState.CANCELLED if code == "cancelled" else OpenState.FAILED
        service.end_evaluation(session, row, state, result.get("reason", ""))
    elif not scored:
        service.end_evaluation(session, row, OpenState.FAILED, _("No model could be scored."))
    else:
        service.end_evaluation(session, row, OpenState.DONE)
        records.store_record(session, get_settings(), row)
        _add_to_cards(session, row)
    _notify(session, row)
    return {"state": row.state}


def _add_to_cards(session: Session, row: OpenEvaluation) -> None:
    """Put the results on the models' cards in the registry, where the author chose it."""
    person = session.get(Person, row.person_id) if row.person_id else None
    if person is None or not OpenChoices.parse(row.choices).cards:
        return
    session.flush()
    if card_results.registry_entries(session, person, service.find_evaluation(session, person, row.id)):
        card_results.add_to_registry(session, person, row.id)


def _add_to_repositories(evaluation: int) -> None:
    """Put the results on the cards of repositories whose models were evaluated, where the author chose it.

    Tokens name the platform's address, so one without `DYNABENCH_PUBLIC_URL` leaves it to the author.
    """
    database, settings = jobs.database(), get_settings()

    def find_author(session: Session) -> Person | None:
        row = session.get(OpenEvaluation, evaluation)
        done = row is not None and row.state == OpenState.DONE and OpenChoices.parse(row.choices).cards
        return session.get(Person, row.person_id) if row is not None and done and row.person_id else None

    person = database.read(find_author)
    if person is not None and settings.site:
        repository_cards.add_to_own_repositories(database, settings, person, evaluation, settings.site)


def _notify(session: Session, row: OpenEvaluation) -> None:
    """Tell the author that an open evaluation ended."""
    assert row.state not in OPEN_STATES
    if row.person_id and row.state != OpenState.CANCELLED:
        done = row.state == OpenState.DONE
        text = _("The evaluation on %(title)s is done.") if done else _("The evaluation on %(title)s failed.")
        notices.notify_person(
            session, row.person_id, "evaluation", text % {"title": row.title}, link=f"/open-evaluations/{row.id}"
        )


def fetch_remote_rows(payload: dict[str, Any]) -> Result:
    """Run the workflow; `payload` names in `hub` what to download."""
    return fetch_step(str(DBOS.workflow_id), payload)


@DBOS.step(name="fetch_remote_rows.fetch", retries_allowed=True)
def fetch_step(job_id: str, payload: dict[str, Any]) -> Result:
    """Download; a reason why that cannot be is a result, which its document has as well."""
    try:
        return {"bytes": run_download(get_settings(), HubRequest(**payload["hub"]), job_id).size}
    except errors.Problem as problem:
        return {"refused": problem.detail}
