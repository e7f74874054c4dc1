"""Signals as moderators read and check them. Nothing here has a consequence for the author."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import delete
from sqlalchemy.orm import Session

from dynabench.collection import writing_facts
from dynabench.collection.tables import Example, Standing
from dynabench.kit import errors, jobs
from dynabench.kit.db import now
from dynabench.kit.language import _
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.quality.signals import queries
from dynabench.quality.signals.tables import Signal, SignalJob, SignalKind, SignalState
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Task

KIND = "compute_signals"
LONGEST = 500
"""Characters of a reason."""


@dataclass(frozen=True)
class SignalFilters:
    """The filters of a list of signals: a kind, a state, a round, the signals about one person; None for all."""

    kind: SignalKind | None = None
    state: SignalState | None = SignalState.OPEN
    round: int | None = None
    person_id: int | None = None

    def conditions(self) -> list[Any]:
        """Return the filters as conditions of a select."""
        chosen: list[Any] = []
        if self.kind is not None:
            chosen.append(Signal.kind == self.kind)
        if self.state is not None:
            chosen.append(Signal.state == self.state)
        if self.person_id is not None:
            chosen.append(Signal.person_id == self.person_id)
        return chosen


@dataclass(frozen=True)
class ShownSignal:
    """A signal with its example, and the name by which moderators know the author."""

    signal: Signal
    example: Example
    standing: Standing
    round: int
    author: str


def list_signals(
    session: Session,
    actor: Person | None,
    task_id: str,
    filters: SignalFilters,
    before: int | None = None,
    limit: int = 50,
) -> list[ShownSignal]:
    """Return the newest signals of a task that meet the filters (owners and moderators)."""
    rounds.require(session, actor, Action.READ_SIGNALS, task_id)
    rows = session.execute(queries.listed(task_id, _conditions(session, task_id, filters), before, limit))
    return [
        ShownSignal(signal, example, standing, number, person.public_name)
        for signal, example, standing, number, person in rows
    ]


@dataclass(frozen=True)
class PersonSignals:
    """The signals of one person that meet the filters: their number by kind, and the newest one."""

    person_id: int
    name: str
    number: int
    newest: int
    at: datetime
    kinds: Mapping[SignalKind, int]


def list_people(
    session: Session,
    actor: Person | None,
    task_id: str,
    filters: SignalFilters,
    before: int | None = None,
    limit: int = 50,
) -> list[PersonSignals]:
    """Return the people with signals that meet the filters, the newest signal first (owners and moderators)."""
    rounds.require(session, actor, Action.READ_SIGNALS, task_id)
    conditions = _conditions(session, task_id, filters)
    rows = session.execute(queries.newest_by_person(task_id, conditions, before, limit)).all()
    kinds: dict[int, dict[SignalKind, int]] = {}
    moments: dict[int, datetime] = {}
    ids = [person.id for person, _number, _newest in rows]
    for person_id, kind, number, at in session.execute(queries.kinds_of_people(task_id, conditions, ids)):
        kinds.setdefault(person_id, {})[SignalKind(kind)] = number
        moments[person_id] = max(at, moments.get(person_id, at))
    return [
        PersonSignals(person.id, person.public_name, number, newest, moments[person.id], kinds[person.id])
        for person, number, newest in rows
    ]


def _conditions(session: Session, task_id: str, filters: SignalFilters) -> list[Any]:
    conditions = filters.conditions()
    if filters.round is not None:
        conditions.append(Signal.round_id == rounds.round_of(session, task_id, filters.round).id)
    return conditions


def read_signal(session: Session, actor: Person | None, task_id: str, signal_id: int) -> ShownSignal:
    """Return one signal of a task (owners and moderators)."""
    rounds.require(session, actor, Action.READ_SIGNALS, task_id)
    row = session.execute(queries.listed(task_id, [Signal.id == signal_id], None, 1)).first()
    if row is None:
        raise errors.NotFound(_("There is no such signal."))
    signal, example, standing, number, person = row
    return ShownSignal(signal, example, standing, number, person.public_name)


def count_signals(session: Session, actor: Person | None, task_id: str) -> dict[SignalKind, dict[SignalState, int]]:
    """Return the numbers of a task's signals by kind and state (owners and moderators)."""
    rounds.require(session, actor, Action.READ_SIGNALS, task_id)
    totals = {kind: dict.fromkeys(SignalState, 0) for kind in SignalKind}
    for kind, state, count in session.execute(queries.counts(task_id)):
        totals[SignalKind(kind)][SignalState(state)] = count
    return totals


def is_running(session: Session, task_id: str) -> bool:
    """Return whether the worker computes the signals of a task now."""
    row = session.get(SignalJob, task_id)
    return row is not None and row.job_id is not None


def check_signal(
    session: Session, actor: Person | None, task_id: str, signal_id: int, state: SignalState, reason: str
) -> Signal:
    """Record that a moderator checked a signal and found nothing wrong, or acted; `OPEN` takes the check back.

    Nothing else changes: what the moderator does about the example or the author is an act of its own.
    """
    rounds.require(session, actor, Action.CHECK_SIGNAL, task_id)
    signal = session.get(Signal, signal_id, with_for_update=True, populate_existing=True)
    if signal is None or signal.task_id != task_id:
        raise errors.NotFound(_("There is no such signal."))
    cleaned = reason.strip()
    if len(cleaned) > LONGEST:
        raise errors.Invalid({"reason": _("Write at most %(most)s characters.", most=LONGEST)})
    if state == SignalState.ACTED and not cleaned:
        raise errors.Invalid({"reason": _("Say what you did and why.")})
    if (signal.state, signal.reason) == (state, cleaned):
        return signal
    if SignalState.OPEN not in (state, signal.state):
        raise errors.Conflict(_("This signal was checked already. Undo the check first."))
    checked = state != SignalState.OPEN
    signal.state, signal.reason = state, cleaned if checked else ""
    signal.checked_by, signal.checked_at = (actor.id if actor else None, now()) if checked else (None, None)
    about: Mapping[str, object] = {"task": task_id, "signal": signal.id, "example": signal.example_id}
    rounds.record_act(session, actor, f"signal.{state}", **about, signal_kind=signal.kind, reason=cleaned)
    return signal


def request_signals(session: Session, actor: Person | None, task_id: str) -> None:
    """Request the signals of earlier examples too, for which no signal was computed so far (owners and moderators)."""
    rounds.require(session, actor, Action.READ_SIGNALS, task_id)
    session.execute(queries.missing_facts(task_id))
    enqueue_signals(session, task_id)


def enqueue_signals(session: Session, task_id: str) -> None:
    """Enqueue the job that computes a task's signals, unless one is under way."""
    session.get_one(Task, task_id, with_for_update={"key_share": True})  # one writer at a time, also of the first row
    row = session.get(SignalJob, task_id, with_for_update=True, populate_existing=True)
    if row is None:
        row = SignalJob(task_id=task_id)
        session.add(row)
    if row.job_id is None:
        row.job_id, row.at = jobs.enqueue(session, KIND, {"task": task_id}).id, now()
        session.flush()


def release_job(session: Session, task_id: str, job_id: str) -> None:
    """Forget a job that ended, so that the next examples get one."""
    row = session.get(SignalJob, task_id, with_for_update=True)
    if row is not None and row.job_id == job_id:
        row.job_id = None


def forget_person(session: Session, person_id: int) -> None:
    """Delete the signals about a person and the digests of their devices, before their account is deleted."""
    session.execute(delete(Signal).where(Signal.person_id == person_id))
    writing_facts.forget_person(session, person_id)
