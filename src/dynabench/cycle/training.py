"""The training of a turn's candidates, one after the other, each in a process of its own, and their submission."""

import contextlib
import shutil
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

from dynabench.benchmark.registry import queries as submission_queries
from dynabench.benchmark.registry import submissions
from dynabench.benchmark.registry.submission_checks import TrialLimits, run_trial
from dynabench.benchmark.registry.tables import Submission
from dynabench.cycle import queries, service, training_sources
from dynabench.cycle.report import restore_reason, shorten_reason
from dynabench.cycle.tables import CandidateState, CycleCandidate, CycleTurn
from dynabench.kit import errors
from dynabench.kit.db import Database
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.models import catalog, spec
from dynabench.models.protocol import Card
from dynabench.rounds import queries as round_queries

PROCESS_MODULE = "dynabench.cycle.learner"
MAX_TRAINING_SECONDS = 7 * 24 * 3600.0
"""Seconds that a candidate may be trained at most."""


def training_folder(settings: Settings, turn: int, position: int) -> Path:
    """Return the folder in which a candidate is trained."""
    return settings.folder / "cycles" / f"{turn}-{position}"


def waiting_positions(session: Session, turn: int, attempt: int) -> list[int]:
    """Return the positions of the candidates that are not trained yet."""
    service.running_turn(session, turn, attempt)
    return [
        candidate.position
        for candidate in session.scalars(queries.candidates_of_turn(turn))
        if candidate.state == CandidateState.WAITING
    ]


def train_candidate(
    db: Database, settings: Settings, turn: int, attempt: int, position: int, report_step: Callable[[str], object]
) -> str:
    """Train a candidate and submit it, or record the failure; return its state. A trained candidate is skipped.

    Raises `TurnStopped` where the turn was paused meanwhile: training goes on from its checkpoints after a
    resume.
    """
    request = db.read(_training_request, settings, turn, attempt, position)
    if request is None:
        return "ready"
    limits = TrialLimits(MAX_TRAINING_SECONDS, settings.check_memory_mb * 2**20)
    env = {"DYNABENCH_HOME": str(settings.home), "DYNABENCH_DATABASE_URL": "", "DYNABENCH_SECRET": ""}
    trial = run_trial(request, limits, report_step, lambda: _is_stopped(db, turn, attempt), env, PROCESS_MODULE)
    if trial.code == "cancelled":
        raise service.TurnStopped
    report = trial.report or {"passed": False, "reason": trial.reason}
    if not report["passed"]:
        return db.write(_record_failure, turn, attempt, position, restore_reason(report["reason"]))
    workplace = Path(request["folder"])
    card = spec.card(workplace / "model")
    _install_model(settings, workplace / "model", card)
    state = db.write(_record_submission, turn, attempt, position, card, report)
    shutil.rmtree(workplace, ignore_errors=True)
    return state


def _is_stopped(db: Database, turn: int, attempt: int) -> bool:
    try:
        db.read(service.running_turn, turn, attempt)
    except service.TurnStopped:
        return True
    return False


def _training_request(
    session: Session, settings: Settings, turn: int, attempt: int, position: int
) -> dict[str, Any] | None:
    """The request for the training process; None where the candidate is trained already."""
    cycle_turn = service.running_turn(session, turn, attempt)
    row = session.get_one(CycleCandidate, (turn, position))
    if row.state != CandidateState.WAITING:
        return None
    plan = service.turn_plan(cycle_turn)
    candidate, seed = plan.runs()[position]
    version = session.scalars(round_queries.versions(cycle_turn.task_id).limit(1)).one()
    released = training_sources.ancestor_releases(session, settings, cycle_turn)
    return {
        "config": version.source,
        "released": [asdict(ancestor) for ancestor in released],
        "outside": cycle_turn.outside,
        "folder": str(training_folder(settings, turn, position)),
        "name": row.name,
        "method": candidate.method,
        "base": candidate.base,
        "seed": seed,
        "epochs": candidate.epochs,
        "minutes": candidate.minutes,
    }


def _install_model(settings: Settings, model_folder: Path, card: Card) -> None:
    """Copy a model to where the catalog finds it, whole or not at all."""
    target = settings.folder / "models" / f"{card.name}-{card.version}"
    target.parent.mkdir(mode=0o700, exist_ok=True)
    if target.exists():
        return
    part = target.with_name(f".{target.name}")
    shutil.rmtree(part, ignore_errors=True)
    shutil.copytree(model_folder, part)
    with contextlib.suppress(FileExistsError):
        part.rename(target)


def _record_failure(session: Session, turn: int, attempt: int, position: int, reason: str) -> str:
    service.running_turn(session, turn, attempt, lock=True)
    candidate = session.get_one(CycleCandidate, (turn, position))
    candidate.state, candidate.reason = CandidateState.FAILED, shorten_reason(reason)
    return candidate.state


def _record_submission(
    session: Session, turn: int, attempt: int, position: int, card: Card, report: dict[str, Any]
) -> str:
    cycle_turn = service.running_turn(session, turn, attempt, lock=True)
    candidate = session.get_one(CycleCandidate, (turn, position))
    candidate.submission_id = submission_id(session, cycle_turn, card)
    candidate.state, candidate.version = CandidateState.READY, card.version
    candidate.rows, candidate.seconds = report["rows"], report["seconds"]
    return candidate.state


def submission_id(session: Session, turn: CycleTurn, card: Card) -> int:
    """Return the submission id of a model for the turn's task; the model is submitted if it is not yet."""
    entry: Submission | None = session.scalar(
        submission_queries.submission_of_model(turn.task_id, card.name, card.version)
    )
    if entry is None:
        entry = submissions.submit_installed(session, service.acting_owner(session, turn), turn.task_id, card)
    return entry.id


def present_submissions(session: Session, turn: int, attempt: int) -> dict[str, int]:
    """Return the submission ids of the present targets by `name@version`; missing submissions are made.

    Raises `Conflict` for a target that is not installed any more.
    """
    cycle_turn = service.running_turn(session, turn, attempt, lock=True)
    ids = {}
    for target in cycle_turn.present:
        name, _at, version = target.rpartition("@")
        entry = session.scalar(submission_queries.submission_of_model(cycle_turn.task_id, name, version))
        ids[target] = entry.id if entry else submission_id(session, cycle_turn, _card(name, version))
    return ids


def _card(name: str, version: str) -> Card:
    try:
        card = catalog.entry(name, version).card
    except errors.NotFound:
        card = None
    if card is None:
        raise errors.Conflict(
            _("The target %(name)s is no longer installed, so nothing can be compared with it.", name=name)
        )
    return card
