"""The candidates of a turn: trained one after the other, each in a process of its own, and entered for the task."""

import contextlib
import shutil
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

from dynabench import errors
from dynabench.cycle import queries, service, sources, telling
from dynabench.cycle.tables import CandidateState, CycleCandidate, CycleTurn
from dynabench.db import Database
from dynabench.language import _
from dynabench.models import catalog, spec
from dynabench.models.protocol import Card
from dynabench.registry import submission_queries, submissions
from dynabench.registry.tables import Submission
from dynabench.registry.trial_process import Limits, run_trial
from dynabench.rounds import queries as round_queries
from dynabench.settings import Settings

MODULE = "dynabench.cycle.learner"
LONGEST = 7 * 24 * 3600.0
"""Seconds that a candidate may be trained at most."""


def folder(settings: Settings, turn: int, position: int) -> Path:
    """Where a candidate is trained."""
    return settings.folder / "cycles" / f"{turn}-{position}"


def waiting(session: Session, turn: int, attempt: int) -> list[int]:
    """The candidates that are not trained yet, by their places."""
    service.mine(session, turn, attempt)
    return [each.position for each in session.scalars(queries.candidates(turn)) if each.state == CandidateState.WAITING]


def train(
    db: Database, settings: Settings, turn: int, attempt: int, position: int, heard: Callable[[str], object]
) -> str:
    """Train a candidate and enter it, or note why that failed; its state. Found done, it is passed over.

    Raises `Stopped` where the turn was paused meanwhile: training goes on from where it was when it is resumed.
    """
    given = db.read(_given, settings, turn, attempt, position)
    if given is None:
        return "ready"
    limits = Limits(LONGEST, settings.check_memory_mb * 2**20)
    env = {"DYNABENCH_HOME": str(settings.home), "DYNABENCH_DATABASE_URL": "", "DYNABENCH_SECRET": ""}
    ended = run_trial(given, limits, heard, lambda: _over(db, turn, attempt), env, MODULE)
    if ended.code == "cancelled":
        raise service.Stopped
    report = ended.report or {"passed": False, "reason": ended.reason}
    if not report["passed"]:
        return db.write(_failed, turn, attempt, position, telling.reread(report["reason"]))
    place = Path(given["folder"])
    card = spec.card(place / "model")
    _put(settings, place / "model", card)
    state = db.write(_entered, turn, attempt, position, card, report)
    shutil.rmtree(place, ignore_errors=True)
    return state


def _over(db: Database, turn: int, attempt: int) -> bool:
    try:
        db.read(service.mine, turn, attempt)
    except service.Stopped:
        return True
    return False


def _given(session: Session, settings: Settings, turn: int, attempt: int, position: int) -> dict[str, Any] | None:
    """What the process needs to know; None where the candidate is trained already."""
    found = service.mine(session, turn, attempt)
    one = session.get_one(CycleCandidate, (turn, position))
    if one.state != CandidateState.WAITING:
        return None
    plan = service.plan_of(found)
    candidate, seed = plan.runs()[position]
    version = session.scalars(round_queries.versions(found.task_id).limit(1)).one()
    released = sources.ancestry(session, settings, found)
    return {
        "config": version.source,
        "released": [asdict(each) for each in released],
        "outside": found.outside,
        "folder": str(folder(settings, turn, position)),
        "name": one.name,
        "method": candidate.method,
        "base": candidate.base,
        "seed": seed,
        "epochs": candidate.epochs,
        "minutes": candidate.minutes,
    }


def _put(settings: Settings, made: Path, card: Card) -> None:
    """Copy a model to where the catalog finds it, whole or not at all."""
    target = settings.folder / "models" / f"{card.name}-{card.version}"
    target.parent.mkdir(mode=0o700, exist_ok=True)
    if target.exists():
        return
    part = target.with_name(f".{target.name}")
    shutil.rmtree(part, ignore_errors=True)
    shutil.copytree(made, part)
    with contextlib.suppress(FileExistsError):
        part.rename(target)


def _failed(session: Session, turn: int, attempt: int, position: int, reason: str) -> str:
    service.mine(session, turn, attempt, lock=True)
    one = session.get_one(CycleCandidate, (turn, position))
    one.state, one.reason = CandidateState.FAILED, telling.short(reason)
    return one.state


def _entered(session: Session, turn: int, attempt: int, position: int, card: Card, report: dict[str, Any]) -> str:
    """Enter a candidate as the task's model."""
    found = service.mine(session, turn, attempt, lock=True)
    one = session.get_one(CycleCandidate, (turn, position))
    one.submission_id = submission(session, found, card)
    one.state, one.version = CandidateState.READY, card.version
    one.rows, one.seconds = report["rows"], report["seconds"]
    return one.state


def submission(session: Session, turn: CycleTurn, card: Card) -> int:
    """The submission of a model for the turn's task, which is entered where it is not yet."""
    known: Submission | None = session.scalar(submission_queries.twin(turn.task_id, card.name, card.version))
    if known is None:
        known = submissions.enter(session, service.actor(session, turn), turn.task_id, card)
    return known.id


def present(session: Session, turn: int, attempt: int) -> dict[str, int]:
    """The submissions of the present targets by `name@version`; those that are not entered yet are. Raises `Conflict`
    for a target that is not installed any more."""
    found = service.mine(session, turn, attempt, lock=True)
    made = {}
    for each in found.present:
        name, _at, version = each.rpartition("@")
        known = session.scalar(submission_queries.twin(found.task_id, name, version))
        made[each] = known.id if known else submission(session, found, _card(name, version))
    return made


def _card(name: str, version: str) -> Card:
    try:
        card = catalog.entry(name, version).card
    except errors.NotFound:
        card = None
    if card is None:
        raise errors.Conflict(
            _("The target %(name)s is not installed any more, so nothing can be compared with it.", name=name)
        )
    return card
