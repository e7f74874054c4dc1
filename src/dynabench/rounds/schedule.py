"""Rounds that open and close by themselves, as their plans say: a durable job that is due at the very moment."""

from datetime import timedelta
from typing import Any

from dbos import DBOS
from sqlalchemy.orm import Session

from dynabench.kit import errors, jobs
from dynabench.kit.db import now
from dynabench.kit.settings import get_settings
from dynabench.models import serving
from dynabench.people import may
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.rounds import planning, required_models, service
from dynabench.rounds.tables import Round, RoundState

AGAIN_SECONDS = 60
"""After which an opening is tried again whose models were not served."""


def turn(session: Session, payload: dict[str, Any]) -> str:
    """Open or close a round, where its plan still says so; what became of it. Done twice it is done once.

    A round that finds another one open waits for its end: see `timing.next_in_line`.
    """
    of, event = session.get(Round, payload["round"]), payload["event"]
    if of is None:
        return "gone"
    moment = getattr(planning.plan_of(of), event)
    if moment is None or moment.isoformat() != payload["at"]:
        return "planned anew"
    if of.state != (RoundState.DRAFT if event == "opens_at" else RoundState.OPEN):
        return of.state
    by = _planner(session, payload["person"], of.task_id)
    if event == "closes_at":
        return service.close_round(session, by, of.task_id, of.number).state
    try:
        with session.begin_nested():
            return service.open_round(session, by, of.task_id, of.number).state
    except errors.Conflict as problem:
        service.act(session, by, "round.waits", task=of.task_id, round=of.number, reason=problem.detail)
        return "waits"


def _planner(session: Session, person_id: int | None, task_id: str) -> Person | None:
    """Return the person who planned the act, if they still own the task; else None, for the platform itself."""
    person = session.get(Person, person_id) if person_id else None
    return person if may.may_in(session, person, Action.PLAN_ROUND, task_id) else None


def models_awaited(session: Session, payload: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the models of a draft that is to be opened now."""
    of = session.get(Round, payload["round"])
    return (
        required_models.models_of(of)
        if payload["event"] == "opens_at" and of is not None and of.state == RoundState.DRAFT
        else []
    )


def put_off(session: Session, payload: dict[str, Any], reason: str) -> str:
    """Ask for the opening again, a moment later, since models of the round are not served yet."""
    of = session.get_one(Round, payload["round"])
    by = _planner(session, payload["person"], of.task_id)
    service.act(session, by, "round.waits", task=of.task_id, round=of.number, reason=reason)
    due = now() + timedelta(seconds=AGAIN_SECONDS)
    jobs.enqueue(session, "turn_round", payload, payload["person"], due_at=due)
    return "waits"


@DBOS.step(name="turn_round.turn", retries_allowed=True)
def step(payload: dict[str, Any]) -> str:
    """`turn` in one transaction; an opening waits until all hosts serve the round's models."""
    db = jobs.database()
    if refusal := serving.opening_refusal(get_settings(), db.read(models_awaited, payload)):
        return db.write(put_off, payload, refusal.detail)
    return db.write(turn, payload)


def turn_round(payload: dict[str, Any]) -> dict[str, Any]:
    """The workflow: `payload` names the `round`, the `event` (`opens_at` or `closes_at`), the moment `at` which the
    plan must still name, and the `person` who planned it."""
    return {"became": step(payload)}
