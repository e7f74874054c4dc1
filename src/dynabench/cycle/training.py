"""Training of candidates in a turn: the releases and datasets that they learn from, and the process that trains."""

import contextlib
import shutil
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

from dynabench.benchmark.registry import queries as submission_queries
from dynabench.benchmark.registry import submissions
from dynabench.benchmark.registry.tables import Submission
from dynabench.benchmark.registry.trial_runs import TrialLimits, run_trial
from dynabench.benchmark.releases import release_reading
from dynabench.benchmark.releases import service as releases
from dynabench.benchmark.releases.release_reading import TrainableRelease
from dynabench.benchmark.releases.tables import Release
from dynabench.cycle import queries, service
from dynabench.cycle.plan import TurnPlan
from dynabench.cycle.report import restore_reason, shorten_reason
from dynabench.cycle.tables import CandidateState, CycleCandidate, CycleTurn
from dynabench.datasets import conversions, library, stored
from dynabench.datasets.stored import StoredRow
from dynabench.datasets.tables import DatasetVersion
from dynabench.kit import errors
from dynabench.kit.db import Database
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.models import catalog, spec
from dynabench.models.protocol import ModelCard
from dynabench.models.training.mixing import Mix, MixPart, Shape
from dynabench.models.training.rows import TrainingQuestion, TrainingRow
from dynabench.people.disclosure import Disclosure
from dynabench.rounds import queries as round_queries
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Round
from dynabench.tasks import TaskConfig
from dynabench.tasks.fields import Text


@dataclass(frozen=True)
class RoundRelease:
    """The release of a round, with the weight of its training rows and the dataset versions that models are scored
    on."""

    number: int
    folder: str
    weight: float
    licence: str
    test: int | None
    hidden: int | None
    test_digest: str
    hidden_digest: str


def ancestor_releases(session: Session, settings: Settings, turn: CycleTurn) -> list[RoundRelease]:
    """Return the releases of the turn's round and of its ancestors, oldest first; rounds without one are left out."""
    plan, number = TurnPlan.model_validate(turn.plan), session.get_one(Round, turn.round_id).number
    task_rounds = list(session.scalars(round_queries.rounds(turn.task_id)))
    parents = queries.parent_numbers(session, turn.task_id, task_rounds)
    ages = queries.generations(parents, number)
    for merged in plan.next.parents:  # what the next round follows besides, its models have learnt from as well
        for item, age in queries.generations(parents, merged).items():
            ages[item] = min(age, ages.get(item, age))
    rows = session.execute(queries.ready_releases([item.id for item in task_rounds if item.number in ages])).all()
    return [_released(session, settings, plan, round_, release, ages[round_.number]) for round_, release in rows]


def _released(
    session: Session, settings: Settings, plan: TurnPlan, round_: Round, release: Release, age: int
) -> RoundRelease:
    weight = plan.train.weights.get(str(round_.number), 1.0) * (1 - plan.train.discount) ** age
    digests = [session.get_one(DatasetVersion, id).digest if id else "" for id in (release.test_id, release.hidden_id)]
    licence = rounds.config_of(session, round_.version_id).data.licence
    folder = str(releases.release_folder(settings, release.id))
    return RoundRelease(round_.number, folder, weight, licence, release.test_id, release.hidden_id, *digests)


def outside_datasets(session: Session, task: str, plan: TurnPlan) -> list[dict[str, Any]]:
    """Return name, weight, licence and digest of each outside dataset of the plan. Raises `Invalid`."""
    datasets = []
    for place, entry in enumerate(plan.train.outside):
        dataset = session.scalar(library.dataset_named(task, entry.dataset))
        version = session.get(DatasetVersion, dataset.version_id) if dataset and dataset.version_id else None
        if dataset is None or version is None or Disclosure.at_most(dataset.visibility).hidden:
            message = _("The task has no dataset %(name)s whose rows models may train on.", name=entry.dataset)
            raise errors.Invalid({f"train.outside.{place}.dataset": message})
        datasets.append(
            {"name": dataset.name, "weight": entry.weight, "licence": dataset.licence, "digest": version.digest}
        )
    return datasets


def build_mix(
    settings: Settings, config: TaskConfig, released: list[RoundRelease], outside: list[dict[str, Any]]
) -> Mix:
    """Build the training mix of a candidate: its train, dev and test rows. Raises `Conflict` without training rows."""
    files_by_release, shape = (
        [(item, release_reading.read_release(Path(item.folder))) for item in released],
        Shape.of(config),
    )
    parts = [
        MixPart(f"round-{item.number}", rows, item.weight, item.licence, item.number)
        for item, files in files_by_release
        if (rows := list(_rows(files, config, shape, "train")))
    ]
    parts += [
        MixPart(item["name"], list(_stored(settings, shape, item["digest"])), item["weight"], item["licence"])
        for item in outside
    ]
    if not parts:
        raise errors.Conflict(_("No round has released training data, and the plan names no other data."))
    spoken = {item.language for item in (*config.model_context, *config.input) if isinstance(item, Text)}
    tests = {f"round-{item.number}": list(_rows(files, config, shape, "test")) for item, files in files_by_release}
    return shape.mix(
        parts,
        dev=[row for _, files in files_by_release for row in _rows(files, config, shape, "dev")],
        tests={name: rows for name, rows in tests.items() if rows},
        held=[row for item in released if item.hidden_digest for row in _stored(settings, shape, item.hidden_digest)],
        languages=tuple(sorted(spoken - {""})) or ("en",),
    )


def _rows(
    files: TrainableRelease, config: TaskConfig, shape: Shape, part: str
) -> Iterator[TrainingRow | TrainingQuestion]:
    """The rows of one part of a release whose answers the task's present config allows."""
    for example in files.examples(part):
        yield from _row(shape, conversions.example_row(example, config))


def _stored(settings: Settings, shape: Shape, digest: str) -> Iterator[TrainingRow | TrainingQuestion]:
    for row in stored.read_rows(settings, digest):
        yield from _row(shape, row)


def _row(shape: Shape, row: StoredRow) -> Iterator[TrainingRow | TrainingQuestion]:
    inputs = {name: row.inputs.get(name) or "" for name in shape.inputs}
    try:
        training_row = shape.row(inputs, [answer[shape.answer] for answer in row.answers])
    except (KeyError, TypeError, IndexError):  # written under another version of the config
        return
    if isinstance(training_row, TrainingQuestion) or training_row.label in shape.labels:
        yield training_row


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
    released = ancestor_releases(session, settings, cycle_turn)
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


def _install_model(settings: Settings, model_folder: Path, card: ModelCard) -> None:
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
    session: Session, turn: int, attempt: int, position: int, card: ModelCard, report: dict[str, Any]
) -> str:
    cycle_turn = service.running_turn(session, turn, attempt, lock=True)
    candidate = session.get_one(CycleCandidate, (turn, position))
    candidate.submission_id = submission_id(session, cycle_turn, card)
    candidate.state, candidate.version = CandidateState.READY, card.version
    candidate.rows, candidate.seconds = report["rows"], report["seconds"]
    return candidate.state


def submission_id(session: Session, turn: CycleTurn, card: ModelCard) -> int:
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


def _card(name: str, version: str) -> ModelCard:
    try:
        card = catalog.entry(name, version).card
    except errors.NotFound:
        card = None
    if card is None:
        raise errors.Conflict(
            _("The target %(name)s is no longer installed, so nothing can be compared with it.", name=name)
        )
    return card
