"""Open evaluations: started, cancelled and deleted by their author, and uploaded files. Knows no web framework."""

import hashlib
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from sqlalchemy.orm import Session

from dynabench.datasets import stored
from dynabench.intake.rows import FileRow
from dynabench.kit import errors, jobs
from dynabench.kit.db import Database, now
from dynabench.kit.disk import erase_paths
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.models.protocol import ModelCard
from dynabench.open_evaluations import planning, queries, remote_downloads, sources
from dynabench.open_evaluations.choices import OpenChoices
from dynabench.open_evaluations.planning import OpenPlan
from dynabench.open_evaluations.repository_models import is_repository, shown_name
from dynabench.open_evaluations.sources import UploadSource
from dynabench.open_evaluations.tables import (
    OPEN_STATES,
    DatasetFile,
    OpenEvaluation,
    OpenEvaluationModel,
    OpenState,
)
from dynabench.people import may
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.rounds.service import record_act

JOB = "evaluate_openly"
MOST_OPEN = 3
"""Open evaluations of one person that may be waiting or running at a time."""
FILE_DAYS = 30
"""Days for which an uploaded file stays; longer only while an evaluation reads it."""
LOST = _("The job was started many times and never finished. Start the evaluation again.")


def evaluation_folder(settings: Settings, evaluation: int) -> Path:
    """Return the folder with the answers and the folders of external models of an open evaluation."""
    return settings.folder / "open-evaluations" / str(evaluation)


def start_evaluation(
    session: Session, settings: Settings, person: Person, choices: OpenChoices, cards: Sequence[ModelCard]
) -> OpenEvaluation:
    """Start an open evaluation of a person; raises `Invalid` with everything that is missing, by field.

    A request that is sent again gets the evaluation that the first one started, as long as that has not ended.
    """
    may_start = may.may(person, Action.EVALUATE_OPENLY)
    if not may_start:
        raise errors.Forbidden(may_start.reason)
    plan = planning.make_plan(session, settings, person, choices, cards)
    if plan.problems:
        raise errors.Invalid(plan.problems)
    session.get_one(Person, person.id, with_for_update=True)  # two that start at once are counted one after the other
    for going in session.scalars(queries.evaluations_in_progress(person.id)):
        if OpenChoices.model_validate(going.choices) == plan.choices and going.edition == plan.source.edition:
            return going
    if (session.scalar(queries.count_open(person.id)) or 0) >= MOST_OPEN:
        message = _("%(n)s evaluations of yours are running. Wait for one of them, or cancel it.", n=MOST_OPEN)
        raise errors.Conflict(message)
    evaluation = OpenEvaluation(
        person_id=person.id,
        kind=plan.task.name,
        source=plan.choices.dataset,
        title=plan.choices.title,
        edition=plan.source.edition,
        choices=plan.choices.model_dump(),
        listed=plan.choices.listed or plan.choices.cards,
        rows=plan.counted_rows,
    )
    session.add(evaluation)
    session.flush()
    for number, row in enumerate(_model_rows(plan)):
        row.evaluation_id, row.number = evaluation.id, number
        session.add(row)
    evaluation.job_id = jobs.enqueue(session, JOB, {"evaluation": evaluation.id}, person.id).id
    record_act(session, person, "open_evaluation.started", evaluation=evaluation.id, dataset=evaluation.source)
    return evaluation


def _model_rows(plan: OpenPlan) -> list[OpenEvaluationModel]:
    by_reference = {candidate.reference: candidate for candidate in plan.chosen}
    rows = []
    for reference in plan.choices.models:
        if candidate := by_reference.get(reference):
            card = candidate.card
            rows.append(
                OpenEvaluationModel(
                    reference=reference, name=card.name, version=card.version, inputs=dict(candidate.inputs),
                    labels=dict(plan.choices.labels.get(reference, {})),
                )
            )  # fmt: skip
        else:
            name = shown_name(reference) if is_repository(reference) else reference
            labels = dict(plan.choices.labels.get(reference, {}))
            rows.append(OpenEvaluationModel(reference=reference, name=name, labels=labels))
    return rows


@dataclass(frozen=True)
class VisibleEvaluation:
    """An open evaluation as one viewer sees it; `author` is empty where the person left or the viewer may not know."""

    evaluation: OpenEvaluation
    models: Sequence[OpenEvaluationModel]
    author: str
    own: bool

    @property
    def open(self) -> bool:
        """True while it goes on."""
        return self.evaluation.state in OPEN_STATES

    @property
    def share(self) -> float:
        """The share of all answers that are there."""
        all_answers = max(self.evaluation.rows * len(self.models), 1)
        return min(sum(model.rows_done for model in self.models) / all_answers, 1.0)


def find_evaluation(session: Session, viewer: Person | None, id: int, lock: bool = False) -> VisibleEvaluation:
    """Return an open evaluation that the viewer may see; `NotFound` for all others."""
    evaluation = session.get(OpenEvaluation, id, with_for_update=lock or None)
    own = evaluation is not None and bool(may.may(viewer, Action.SEE_OPEN_EVALUATION, author=evaluation.person_id))
    if viewer is None and (evaluation is None or not evaluation.listed):
        raise errors.Unauthenticated(_("Log in to see this evaluation, if it is yours."))
    if evaluation is None or not (evaluation.listed or own):
        raise errors.NotFound(_("There is no open evaluation %(id)s that you can see.", id=id))
    models = session.scalars(queries.models_of([id])).all()
    author = session.get(Person, evaluation.person_id) if evaluation.person_id else None
    return VisibleEvaluation(evaluation, models, author.username if author else "", own)


def list_evaluations(session: Session, viewer: Person | None, before: int, limit: int) -> list[VisibleEvaluation]:
    """Return the open evaluations that the viewer may see, newest first, from below the id `before`."""
    everything = bool(may.may(viewer, Action.SEE_OPEN_EVALUATION))
    person_id = viewer.id if viewer else None
    rows = session.execute(queries.visible_evaluations(person_id, everything, before, limit)).all()
    by_evaluation: dict[int, list[OpenEvaluationModel]] = {evaluation.id: [] for evaluation, _name in rows}
    for model in session.scalars(queries.models_of(list(by_evaluation))):
        by_evaluation[model.evaluation_id].append(model)
    return [
        VisibleEvaluation(
            evaluation, by_evaluation[evaluation.id], username or "", everything or evaluation.person_id == person_id
        )
        for evaluation, username in rows
    ]


def find_changeable(session: Session, person: Person, id: int) -> VisibleEvaluation:
    """Return an open evaluation that a person may change, locked. Raises `NotFound` or `Forbidden`."""
    seen = find_evaluation(session, person, id, lock=True)
    allowed = may.may(person, Action.CHANGE_OPEN_EVALUATION, author=seen.evaluation.person_id)
    if not allowed:
        raise errors.Forbidden(allowed.reason)
    return seen


def cancel_evaluation(session: Session, person: Person, id: int) -> None:
    """Cancel an open evaluation (its author); scores of models that are done stay."""
    seen = find_changeable(session, person, id)
    if not seen.open:
        raise errors.Conflict(_("This evaluation has ended."))
    end_evaluation(session, seen.evaluation, OpenState.CANCELLED)
    record_act(session, person, "open_evaluation.cancelled", evaluation=id)


def end_evaluation(session: Session, evaluation: OpenEvaluation, state: OpenState, reason: str = "") -> None:
    """End an open evaluation, and those of its models that have not ended."""
    evaluation.state, evaluation.reason, evaluation.ended_at = state, reason[:2000], now()
    for model in session.scalars(queries.models_of([evaluation.id])):
        if model.state in OPEN_STATES:
            model.state = state


def list_publicly(session: Session, person: Person, id: int, listed: bool) -> None:
    """Show the scores to everybody, or to the author alone again. Raises `Conflict` while they are on cards."""
    seen = find_changeable(session, person, id)
    if not listed:
        refuse_on_cards(session, id)
    seen.evaluation.listed = listed
    record_act(session, person, "open_evaluation.listed", evaluation=id, listed=listed)


def delete_evaluation(session: Session, settings: Settings, person: Person, id: int) -> list[Path]:
    """Delete an open evaluation with its answers and scores (its author), once it has ended.

    Return the paths to erase once that is committed.
    """
    seen = find_changeable(session, person, id)
    if seen.open:
        raise errors.Conflict(_("This evaluation is running. Cancel it first."))
    refuse_on_cards(session, id)
    paths = remove_evaluation(session, settings, seen.evaluation)
    record_act(session, person, "open_evaluation.deleted", evaluation=id)
    return paths


def refuse_on_cards(session: Session, id: int) -> None:
    """Raise `Conflict` while results are on cards of models, whose readers check them by the record."""
    if session.scalars(queries.card_entries(id)).first() is not None:
        raise errors.Conflict(_("Results of this evaluation are on cards of models. Take them off there first."))


def remove_evaluation(session: Session, settings: Settings, evaluation: OpenEvaluation) -> list[Path]:
    """Remove an open evaluation; return the paths to erase afterwards."""
    paths = private_paths(session, settings, evaluation)
    session.delete(evaluation)
    return paths


def private_paths(session: Session, settings: Settings, evaluation: OpenEvaluation) -> list[Path]:
    """Return the paths of an evaluation's answers, and of its rows where no dataset or evaluation has the same rows."""
    paths = [evaluation_folder(settings, evaluation.id)]
    if evaluation.digest and not session.scalar(queries.users_of_rows(evaluation.digest, evaluation.id)):
        paths.append(stored.rows_path(settings, evaluation.digest))
    return paths


# Uploaded files


def new_file_path(settings: Settings, id: str) -> Path:
    """Return where a new upload is stored."""
    return sources.files_folder(settings) / id


def plain_name(name: str) -> str:
    """Return the last part of a file's name with plain characters."""
    return re.sub(r"[^\w.() -]", "_", name.replace("\\", "/").rpartition("/")[2])[-120:] or "file"


def check_file(settings: Settings, id: str, name: str) -> tuple[int, str]:
    """Read an uploaded file once; return how many rows can be read, and its SHA-256. Raises `Invalid` for none."""
    path = new_file_path(settings, id)
    source = UploadSource(path=path, name=name, title=name, edition="", rows=None)
    readable, first = 0, FileRow(0, None)
    try:
        for row in source.read_rows(settings):
            first = first if readable or row.values is not None else row
            readable += row.values is not None
    except errors.Invalid as problem:
        raise errors.Invalid({"file": "; ".join(problem.fields.values())}) from None
    if not readable:
        reason = f" {first.error}" if first.error else ""
        raise errors.Invalid({"file": _("No row of this file can be read.") + reason})
    with path.open("rb") as file:
        return readable, hashlib.file_digest(file, "sha256").hexdigest()


def add_file(session: Session, settings: Settings, person: Person, id: str, name: str, facts: tuple[int, str]) -> str:
    """Note an uploaded file of a person; return what names it as a dataset."""
    rows, digest = facts
    size = new_file_path(settings, id).stat().st_size
    session.add(DatasetFile(id=id, person_id=person.id, name=name, size=size, rows=rows, digest=digest))
    return f"file:{id}"


def find_file(session: Session, viewer: Person, evaluation: OpenEvaluation) -> DatasetFile | None:
    """Return the uploaded file of an evaluation, for its owner; None where it was deleted, or was none."""
    kind, _colon, id = evaluation.source.partition(":")
    file = session.get(DatasetFile, id) if kind == "file" else None
    return file if file is not None and file.person_id == viewer.id else None


def file_end(file: DatasetFile) -> datetime:
    """Return when an uploaded file is deleted."""
    return file.created_at + timedelta(days=FILE_DAYS)


def delete_file(session: Session, settings: Settings, person: Person, id: str) -> list[Path]:
    """Delete an uploaded file (its owner); evaluations of it stay. Return the path to erase once that is committed.

    A file that is gone already needs nothing. Raises `Conflict` while an evaluation reads it.
    """
    file = session.get(DatasetFile, id)
    if file is None:
        return []
    if not may.may(person, Action.CHANGE_OPEN_EVALUATION, author=file.person_id):
        raise errors.NotFound(_("There is no such file of yours."))
    if f"file:{id}" in set(session.scalars(queries.sources_in_use())):
        raise errors.Conflict(_("An evaluation reads this file. Wait for it, or cancel it."))
    session.delete(file)
    record_act(session, person, "open_evaluation.file_deleted", file=file.name)
    return [new_file_path(settings, id)]


def tidy_evaluations(database: Database, settings: Settings) -> None:
    """End open evaluations that no job works on any more, and delete files that nobody needs."""
    going = {job: id for job, id in database.read(lambda s: s.execute(queries.open_jobs()).all()) if job}
    for job in jobs.given_up(database, settings, list(going)):
        database.write(_end_lost, going[job], job)
    for id in database.write(_forget_old_files):
        new_file_path(settings, id).unlink(missing_ok=True)
    remote_downloads.erase_old_downloads(settings)
    # Folders are listed before the evaluations, so that one which begins in between is not erased.
    folders = list(evaluation_folder(settings, 0).parent.glob("[0-9]*"))
    evaluation_ids = set(database.read(lambda s: list(s.scalars(queries.evaluation_ids()))))
    for folder in folders:
        if folder.name.isdecimal() and int(folder.name) not in evaluation_ids:
            erase_paths([folder])
    known_ids = set(database.read(lambda s: list(s.scalars(queries.file_ids()))))
    for path in sources.files_folder(settings).iterdir():
        if path.name not in known_ids and time.time() - path.stat().st_mtime > 24 * 3600:
            path.unlink(missing_ok=True)


def _end_lost(session: Session, id: int, job: str) -> None:
    evaluation = session.get(OpenEvaluation, id, with_for_update=True)
    if evaluation is not None and evaluation.job_id == job and evaluation.state in OPEN_STATES:
        end_evaluation(session, evaluation, OpenState.FAILED, LOST)


def _forget_old_files(session: Session) -> list[str]:
    used = {source.removeprefix("file:") for source in session.scalars(queries.sources_in_use())}
    old = [
        file for file in session.scalars(queries.old_files(now() - timedelta(days=FILE_DAYS))) if file.id not in used
    ]
    for file in old:
        session.delete(file)
    return [file.id for file in old]


def forget_person(session: Session, settings: Settings, person_id: int) -> None:
    """Remove what a person who leaves uploaded and evaluated; listed scores stay, without a name and without rows."""
    for evaluation in session.scalars(queries.own_evaluations(person_id)).all():
        paths = private_paths(session, settings, evaluation)
        if not evaluation.listed:
            session.delete(evaluation)
        session.flush()
        erase_paths(paths)
    session.execute(queries.remove_author(person_id))
    for file in session.scalars(queries.own_files(person_id)).all():
        new_file_path(settings, file.id).unlink(missing_ok=True)
        session.delete(file)
