"""Checks of submissions: a durable job runs each model in a trial, and accepts or refuses it."""

import contextlib
import hashlib
import shutil
import uuid
from pathlib import Path
from typing import Any

from dbos import DBOS
from sqlalchemy.orm import Session

from dynabench.benchmark.registry import future_targets, predictions, queries, submission_sources, submissions
from dynabench.benchmark.registry.tables import Submission, SubmissionState
from dynabench.benchmark.registry.trial_runs import TrialLimits, TrialOutcome, run_trial
from dynabench.datasets.tables import DatasetVersion
from dynabench.kit import errors, jobs
from dynabench.kit.language import _
from dynabench.kit.process_memory import is_out_of_memory
from dynabench.kit.settings import Settings, get_settings
from dynabench.kit.storable import UNSTORABLE
from dynabench.models import catalog, spec
from dynabench.models.check_report import StepState
from dynabench.models.protocol import ModelCard
from dynabench.people.notices import service as notices
from dynabench.rounds import queries as round_queries

CODES = {
    "found": "not_found",
    "rows": "wrong_rows",
    "learns": "not_learned",
    "model.yaml": "invalid",
    "installed": "not_installed",
    "fits the task": "unfit",
    "loads": "not_loaded",
    "answers": "wrong_output",
    "batches": "depends_on_batch",
    "speed": "too_slow",
}
"""Why a check failed, by the first step that did; of predictions it is `wrong_rows`."""
STATUSES = {403: "refused", 404: "not_found", 503: "unreachable"}


def check_submission(payload: dict[str, Any]) -> dict[str, Any]:
    """The workflow: `payload` names the `submission` and which `attempt` this is.

    The check is one step: after a crash it begins anew, in a folder of its own.
    """
    return trial(payload["submission"], payload["attempt"])


@DBOS.step(name="check_submission.trial", retries_allowed=False)
def trial(id: int, attempt: int) -> dict[str, Any]:
    """Try the submission and note what came of it; nothing where it was withdrawn or cancelled meanwhile."""
    db, settings = jobs.database(), get_settings()
    request = db.write(_begin, settings, id, attempt)
    if request is None:
        return {"state": db.read(lambda session: session.get_one(Submission, id).state)}
    limits = TrialLimits(settings.check_seconds, settings.check_memory_mb * 2**20)
    env = {"DYNABENCH_HOME": str(settings.home), "DYNABENCH_DATABASE_URL": "", "DYNABENCH_SECRET": ""}
    scratch = Path(request["into"])
    try:
        ended = run_trial(
            request, limits, lambda name: DBOS.set_event("progress", {"step": name}), lambda: _is_over(id, attempt), env
        )
        state: str = _conclude(settings, request, ended, id, attempt)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return {"state": state}


def _is_over(id: int, attempt: int) -> bool:
    """True if the result of this check is not needed any more."""

    def read(session: Session) -> bool:
        submission = session.get_one(Submission, id)
        return submission.state != SubmissionState.CHECKING or submission.attempt != attempt

    return jobs.database().read(read)


def _begin(session: Session, settings: Settings, id: int, attempt: int) -> dict[str, Any] | None:
    """The request to the trial process; None where the check is not needed any more."""
    submission = session.get_one(Submission, id, with_for_update=True)
    if submission.state not in queries.GOING or submission.attempt != attempt:
        return None
    submission.state = SubmissionState.CHECKING
    version = session.scalars(round_queries.versions(submission.task_id).limit(1)).one()
    source = submission.source
    places = settings.folder / "checks"
    for leftover in places.glob(f"{id}-*"):  # by a worker that crashed
        shutil.rmtree(leftover, ignore_errors=True)
    scratch = places / f"{id}-{uuid.uuid4().hex[:8]}"
    scratch.mkdir(parents=True, mode=0o700)
    request: dict[str, Any] = {
        "kind": submission.kind,
        "name": submission.name,
        "source": source,
        "config": version.source,
        "into": str(scratch),
    }
    others = queries.private_models_of_others(sorted(catalog.names()), submission.person_id)  # which it may not ask
    request |= {"seconds": 1.0, "hidden": list(session.scalars(others)), "readme": submission.readme}
    if submission.kind == "predictions":
        request["datasets"] = _datasets(session, settings, submission)
    elif source.get("file"):
        request["file"] = str(submission_sources.taken_path(settings, source["file"]))
    if submission.kind == "training_set":
        request["pool"] = session.get_one(DatasetVersion, source["version"]).digest
    return request


def _datasets(session: Session, settings: Settings, submission: Submission) -> list[dict[str, Any]]:
    datasets = []
    files = submission.source["files"]
    for dataset, version in session.execute(queries.evaluated_datasets(submission.task_id)):
        if dataset.name in files:
            file = submission_sources.taken_path(settings, files[dataset.name])
            into = predictions.predictions_path(settings, submission.id, version.id)
            called = files[dataset.name].partition("--")[2]
            datasets.append({"name": dataset.name, "file": str(file), "called": called})
            datasets[-1] |= {"digest": version.digest, "into": str(into), "version": version.id}
    return datasets


def _conclude(settings: Settings, request: dict[str, Any], ended: TrialOutcome, id: int, attempt: int) -> str:
    """Note how the trial ended; the model of one that went well lies below `models/` by then."""
    card, placed = None, None
    if ended.report is not None and ended.report["passed"] and request["kind"] != "predictions":
        try:
            card = spec.card(Path(request["into"]) / request["name"])
            placed = _place(settings, Path(request["into"]) / request["name"], card)
        except (errors.Problem, OSError) as error:
            ended.report, ended.code, ended.reason = None, "invalid", str(error)
    state: str = jobs.database().write(_note, settings, request, ended, card, id, attempt)
    if state not in (SubmissionState.READY, "") and placed is not None:
        shutil.rmtree(placed, ignore_errors=True)
    return state


def _place(settings: Settings, folder: Path, card: ModelCard) -> Path | None:
    """Move a model to where the catalog finds it; None where this version lies there already."""
    target = settings.folder / "models" / f"{card.name}-{card.version}"
    target.parent.mkdir(mode=0o700, exist_ok=True)
    if target.exists():
        return None
    with contextlib.suppress(OSError):
        folder.chmod(0o755)
    folder.rename(target)
    return target


def _note(
    session: Session,
    settings: Settings,
    request: dict[str, Any],
    ended: TrialOutcome,
    card: ModelCard | None,
    id: int,
    attempt: int,
) -> str:
    submission = session.get_one(Submission, id, with_for_update=True)
    if submission.state != SubmissionState.CHECKING or submission.attempt != attempt:
        return submission.state
    submission.log = UNSTORABLE.sub("\ufffd", "\n".join(ended.log))
    report = ended.report or {}
    submission.report = _storable(report)
    if not report.get("passed"):
        submission.state = SubmissionState.FAILED
        submission.code, submission.reason = _failure_reason(request, ended)
    elif card is None:
        submission.card = {
            **submission.card,
            "files": {
                dataset["name"]: submission_sources.file_digest(Path(dataset["into"]))
                for dataset in request["datasets"]
            },
        }
        version = hashlib.sha256("".join(sorted(submission.card["files"].values())).encode()).hexdigest()
        submissions.mark_ready(
            session, submission, f"predictions-{submission.id}", version, False, {"kind": "predictions"}
        )
    elif session.scalar(queries.submission_of_model(submission.task_id, card.name, card.version)) is not None:
        submission.state, submission.code = SubmissionState.FAILED, "duplicate"
        submission.reason = _(
            "%(name)s %(version)s was already submitted for this task and has not changed.",
            name=card.name,
            version=card.version,
        )
    else:
        about = submission_sources.board_fields(card) | submission_sources.training_fields(submission.source, report)
        submissions.mark_ready(session, submission, card.name, card.version, card.inside, about)
        future_targets.add_chosen_target(session, submission, card)
    if submission.state == SubmissionState.READY and submission.kind != "training_set":
        submission_sources.delete_files(settings, submission.source)
    _tell(session, submission)
    return submission.state


def _tell(session: Session, submission: Submission) -> None:
    """Let the submitter know where they look next."""
    if submission.person_id is None:
        return
    link, outside = f"/submissions/{submission.id}", ""
    if submission.state == SubmissionState.READY:
        text = _("%(name)s passed its check and is being evaluated.", name=submission.name)
    else:
        text = f"{submission.name} did not pass its check: {submission.reason}"[:500]
        outside = _("%(name)s failed its check (%(code)s).", name=submission.name, code=submission.code)
    notices.notify_person(session, submission.person_id, "submission", text, link=link, outside=outside)


def _failure_reason(request: dict[str, Any], ended: TrialOutcome) -> tuple[str, str]:
    if ended.report is None:
        return ended.code, UNSTORABLE.sub("\ufffd", ended.reason)
    first = next(step for step in ended.report["steps"] if step["state"] == StepState.FAILED)
    code = "wrong_rows" if request["kind"] == "predictions" else CODES.get(first["name"], "failed")
    if first["name"] == "found":
        fields = "fields" in first["details"]
        code = "refused" if fields else STATUSES.get(first["details"].get("status", 0), "not_found")
    if is_out_of_memory(str(first["told"])):
        code = "out_of_memory"
    lines = str(first["told"]).splitlines() or [""]
    return code, UNSTORABLE.sub("\ufffd", f"{first['name']}: {lines[0]}")[:2000]


def _storable(value: Any) -> Any:
    """A report whose texts the database can hold; numbers that JSON lacks become null."""
    if isinstance(value, str):
        return UNSTORABLE.sub("\ufffd", value)[:20_000]
    if isinstance(value, dict):
        return {str(_storable(name)): _storable(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_storable(item) for item in value]
    return None if isinstance(value, float) and value != value else value
