"""Durable jobs: imports of contexts, rounds that open and close by their plans, mailed invitations."""

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from dbos import DBOS
from sqlalchemy.orm import Session

from dynabench.intake.rows import BadRow, FileRow
from dynabench.kit import errors, jobs
from dynabench.kit.db import Database, now
from dynabench.kit.jobs import Job
from dynabench.kit.settings import Settings, get_settings
from dynabench.models import serving
from dynabench.people import may
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.rounds import context_files, contexts, planning, queries, round_models, service
from dynabench.rounds.invitations import try_mailing
from dynabench.rounds.tables import Round, RoundState
from dynabench.rounds.uploaded_files import store_bad_rows

MOST_NAMED_ROWS = 1_000  # bad rows that the result names; all of them are in `refused_rows`
NO_COUNTS: dict[str, Any] = {"batches": 0, "finished": False, "created": 0, "duplicates": 0, "failed": 0}
COUNTED = ("created", "duplicates", "failed")


def _store_batch(session: Session, job_id: str, number: int, task: str, rows: list[FileRow]) -> dict[str, Any]:
    job = session.get_one(jobs.Job, job_id, with_for_update=True)
    total = NO_COUNTS | (job.done or {})
    if total["batches"] < number:  # else this batch was committed before a crash, and counted
        mapping = context_files.job_mapping(job.payload)
        config = service.newest_config(session, task)
        converted = [context_files.context_row(config, row, mapping) for row in rows]
        result = contexts.add_contexts(session, task, config, converted)
        values_by_number = {row.number: row.values or {} for row in rows}
        store_bad_rows(
            session, job_id, [BadRow(number, message, values_by_number[number]) for number, message in result.errors]
        )
        total["batches"] = number
        total["created"] += result.created
        total["duplicates"] += result.duplicates
        total["failed"] += len(result.errors)
        job.done = total
    return {name: total[name] for name in COUNTED}


@DBOS.step(name="import_contexts.batch", retries_allowed=True)
def store_batch(job_id: str, number: int, task: str, rows: list[FileRow]) -> dict[str, Any]:
    """Store batch `number` (from 1) and count it, in one transaction; the counts so far."""
    return jobs.database().write(_store_batch, job_id, number, task, rows)


def _finish_import(session: Session, job_id: str, task: str, person_id: int | None) -> dict[str, Any]:
    job = session.get_one(jobs.Job, job_id, with_for_update=True)
    total = NO_COUNTS | (job.done or {})
    if not total["finished"]:
        actor = session.get(Person, person_id) if person_id else None
        service.record_act(session, actor, "contexts.uploaded", task=task, created=total["created"])
        job.done = total = total | {"finished": True}
    named = [
        {"row": row.row, "message": row.message}
        for row in session.scalars(queries.refused_rows(job_id, 0, MOST_NAMED_ROWS))
    ]
    return {**{name: total[name] for name in COUNTED}, "errors": named}


@DBOS.step(name="import_contexts.finish", retries_allowed=True)
def finish_import(job_id: str, payload: dict[str, Any]) -> dict[str, Any]:
    """Note the import in the audit log and delete the uploaded file; what became of its rows."""
    result = jobs.database().write(_finish_import, job_id, payload["task"], payload["person"])
    Path(payload["file"]).unlink(missing_ok=True)
    return result


def import_contexts(payload: dict[str, Any]) -> dict[str, Any]:
    """The workflow: `payload` names the `task`, the `person`, the stored `file` and, if need be, its `mapping`;
    batches are its steps.

    Which rows make a batch follows from the file alone, so that after a crash batches that are done are passed over.
    Rows of a file that cannot be read to its end are kept up to there; the file is deleted in any case.
    """
    job_id, path = str(DBOS.workflow_id), Path(payload["file"])
    if jobs.database().read(jobs.has_finished, job_id):  # the crash came after the last step, and the file is gone
        return jobs.database().write(_finish_import, job_id, payload["task"], payload["person"])
    try:
        position = 0

        def progress(at: int) -> None:
            nonlocal position
            position = at

        size = path.stat().st_size
        for number, batch in enumerate(contexts.split_batches(context_files.read_fields(path, progress)), start=1):
            counts = store_batch(job_id, number, payload["task"], batch)
            DBOS.set_event("progress", {"bytes": position, "of": size, **counts})
    except (errors.Problem, OSError):
        path.unlink(missing_ok=True)
        raise
    return finish_import(job_id, payload)


AGAIN_SECONDS = 60
"""After which an opening is tried again whose models were not served."""


def turn_if_planned(session: Session, payload: dict[str, Any]) -> str:
    """Open or close a round, where its plan still says so; what became of it. Done twice it is done once.

    A round that finds another one open waits for its end: see `timing.next_in_line`.
    """
    round_, event = session.get(Round, payload["round"]), payload["event"]
    if round_ is None:
        return "gone"
    moment = getattr(planning.plan_of(round_), event)
    if moment is None or moment.isoformat() != payload["at"]:
        return "planned anew"
    if round_.state != (RoundState.DRAFT if event == "opens_at" else RoundState.OPEN):
        return round_.state
    by = _planner(session, payload["person"], round_.task_id)
    if event == "closes_at":
        return service.close_round(session, by, round_.task_id, round_.number).state
    try:
        with session.begin_nested():
            return service.open_round(session, by, round_.task_id, round_.number).state
    except errors.Conflict as problem:
        service.record_act(session, by, "round.waits", task=round_.task_id, round=round_.number, reason=problem.detail)
        return "waits"


def _planner(session: Session, person_id: int | None, task_id: str) -> Person | None:
    """Return the person who planned the act, if they still own the task; else None, for the platform itself."""
    person = session.get(Person, person_id) if person_id else None
    return person if may.may_in(session, person, Action.PLAN_ROUND, task_id) else None


def awaited_models(session: Session, payload: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the models of a draft that is to be opened now."""
    round_ = session.get(Round, payload["round"])
    return (
        round_models.models_of(round_)
        if payload["event"] == "opens_at" and round_ is not None and round_.state == RoundState.DRAFT
        else []
    )


def postpone_opening(session: Session, payload: dict[str, Any], reason: str) -> str:
    """Ask for the opening again, a moment later, since models of the round are not served yet."""
    round_ = session.get_one(Round, payload["round"])
    by = _planner(session, payload["person"], round_.task_id)
    service.record_act(session, by, "round.waits", task=round_.task_id, round=round_.number, reason=reason)
    due = now() + timedelta(seconds=AGAIN_SECONDS)
    jobs.enqueue(session, "turn_round", payload, payload["person"], due_at=due)
    return "waits"


@DBOS.step(name="turn_round.turn", retries_allowed=True)
def turn_step(payload: dict[str, Any]) -> str:
    """`turn` in one transaction; an opening waits until all hosts serve the round's models."""
    db = jobs.database()
    if refusal := serving.opening_refusal(get_settings(), db.read(awaited_models, payload)):
        return db.write(postpone_opening, payload, refusal.detail)
    return db.write(turn_if_planned, payload)


def turn_round(payload: dict[str, Any]) -> dict[str, Any]:
    """The workflow: `payload` names the `round`, the `event` (`opens_at` or `closes_at`), the moment `at` which the
    plan must still name, and the `person` who planned it."""
    return {"became": turn_step(payload)}


def _forget_address(session: Session, job_id: str) -> None:
    """Remove the address from the job: sent or not, it is of no more use here."""
    job = session.get_one(jobs.Job, job_id, with_for_update=True)
    job.payload = {"invitation": job.payload["invitation"]}


@DBOS.step(name="mail_invitation.try", retries_allowed=True, max_attempts=6, interval_seconds=30, backoff_rate=3)
def send_step(payload: dict[str, Any]) -> str:
    """Send it; the engine tries again where the server asks for that."""
    return try_mailing(jobs.database(), get_settings(), payload)


@DBOS.step(name="mail_invitation.forget", retries_allowed=True)
def forget_step(job_id: str) -> None:
    """Forget the address."""
    jobs.database().write(_forget_address, job_id)


def mail_invitation(payload: dict[str, Any]) -> dict[str, Any]:
    """The workflow: `payload` names the `invitation`, the `address`, and the `nonce` that its link follows from."""
    try:
        return {"state": send_step(payload)}
    finally:
        forget_step(str(DBOS.workflow_id))


AWAITED_EVENTS = {"draft": "opens_at", "open": "closes_at"}
"""The planned moment that a round in each state waits for."""
LONGEST_PAUSE = timedelta(hours=1)
"""Between two tries of what fails for ever; before, each comes after about as long as the one before it."""


def reschedule_overdue_rounds(database: Database, settings: Settings) -> None:
    """Ask again for openings and closings that are due and that no job will carry out."""
    for round_id, job in database.read(_overdue_rounds).items():
        if job is None or jobs.given_up(database, settings, [job]):
            database.write(_ask_again, round_id, job)


def _overdue_rounds(session: Session) -> dict[int, str | None]:
    """Rounds whose moment has come, with the job that was asked for it last, where that has had its time."""
    overdue = {}
    for round_ in session.scalars(queries.rounds_to_turn()):
        at = _moment(round_)
        if at is None or at > now():
            continue
        job = _last_job(session, round_, at)
        pause = min((now() - at) / 2, LONGEST_PAUSE)
        if job is None or (job.sent_at is not None and now() - job.sent_at >= pause):
            overdue[round_.id] = job.id if job else None
    return overdue


def _moment(round_: Round) -> datetime | None:
    moment: datetime | None = getattr(planning.plan_of(round_), AWAITED_EVENTS[round_.state])
    return moment


def _last_job(session: Session, round_: Round, at: datetime) -> Job | None:
    expected = {"event": AWAITED_EVENTS[round_.state], "at": at.isoformat()}
    turns = session.scalars(queries.turns_of_round(round_.id))
    return next((job for job in turns if expected.items() <= job.payload.items()), None)


def _ask_again(session: Session, round_id: int, job: str | None) -> None:
    round_ = session.get(Round, round_id, with_for_update=True)
    if round_ is None or round_.state not in AWAITED_EVENTS:
        return
    at = _moment(round_)
    if at is None or at > now():
        return
    last = _last_job(session, round_, at)
    if (last.id if last else None) == job:
        service.schedule_turn(session, last.person_id if last else None, round_, AWAITED_EVENTS[round_.state], at)
