"""One model of an open evaluation: its process, and its shards, each answered and stored once."""

import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TypeVar

from sqlalchemy.orm import Session

from dynabench.benchmark.evaluations import answers
from dynabench.benchmark.evaluations.evaluation_run import CHECK_SECONDS
from dynabench.benchmark.evaluations.model_process import EvaluationStopped
from dynabench.datasets import stored
from dynabench.kit import jobs
from dynabench.kit.compute_lock import TURNS
from dynabench.kit.errors import NotFound
from dynabench.kit.settings import Settings
from dynabench.models import catalog
from dynabench.open_evaluations import external_models, repository_models, service
from dynabench.open_evaluations.answering import AnsweringModel
from dynabench.open_evaluations.candidates import match_labels
from dynabench.open_evaluations.choices import OpenChoices
from dynabench.open_evaluations.kinds import OPEN_TASKS
from dynabench.open_evaluations.tables import (
    OPEN_STATES,
    OpenEvaluation,
    OpenEvaluationModel,
    OpenShard,
    OpenState,
)
from dynabench.people.accounts.tables import Person
from dynabench.tasks.config import TaskConfig

Item = TypeVar("Item")
SHARD_ROWS = 256
"""Rows of a shard, which is what a crash may cost."""


def planned_shards(rows: int) -> list[tuple[int, int]]:
    """Return the first row and the number of rows of each shard."""
    return [(first, min(SHARD_ROWS, rows - first)) for first in range(0, rows, SHARD_ROWS)]


def first_rows(rows: Iterable[Item], limit: int) -> Iterator[Item]:
    """Yield the first `limit` rows."""
    return islice(rows, limit)


def answers_path(settings: Settings, evaluation: int, model: int, shard: int) -> Path:
    """Return the path of the answers of one shard."""
    return service.evaluation_folder(settings, evaluation) / f"model-{model}" / f"{shard}.parquet"


def owned_evaluation(session: Session, evaluation: int, job_id: str, lock: bool = False) -> OpenEvaluation:
    """Return the open evaluation if this job works on it; otherwise raise `EvaluationStopped`."""
    row = session.get(OpenEvaluation, evaluation, with_for_update=lock or None)
    if row is None or row.job_id != job_id:
        raise EvaluationStopped("superseded")
    if row.state not in OPEN_STATES:
        raise EvaluationStopped("cancelled")
    return row


class ModelRun:
    """The run of one model in a job. Shards that are stored never open the model."""

    def __init__(self, settings: Settings, job_id: str, evaluation: int, model: int, digest: str) -> None:
        self.settings, self.job_id, self.evaluation, self.model = settings, job_id, evaluation, model
        self.digest = digest
        self._model: AnsweringModel | None = None
        self._checked_at = 0.0

    def check_wanted(self) -> None:
        """Raise `EvaluationStopped` where the evaluation was cancelled or another job took over."""
        if time.monotonic() - self._checked_at >= CHECK_SECONDS:
            self._checked_at = time.monotonic()
            jobs.database().read(owned_evaluation, self.evaluation, self.job_id)

    def log(self) -> str:
        """Return the last lines of the model's log."""
        return self._model.log() if self._model else ""

    def close(self) -> None:
        """End the model's process."""
        if self._model is not None:
            self._model.close()

    def answer_shard(self, shard: int, first: int, rows: int) -> None:
        """Answer and store a shard, unless it is stored; raises `EvaluationStopped`."""
        if jobs.database().read(_is_stored, self.evaluation, self.model, shard):
            return
        shard_rows = list(stored.read_rows(self.settings, self.digest, first, rows))
        if len(shard_rows) != rows:
            raise EvaluationStopped("dataset_changed")
        with TURNS.shared(self.check_wanted):
            model = self._open()
            begun = time.perf_counter()
            outputs = model.answer(shard_rows)
            seconds = time.perf_counter() - begun
        waiting = answers.write_answers(self.settings, [row.uid for row in shard_rows], outputs)
        costs = [float(output.extras["cost"]) for output in outputs if output.extras.get("cost") is not None]
        try:
            jobs.database().write(_store_shard, self, shard, first, waiting, seconds, costs)
        finally:
            waiting.path.unlink(missing_ok=True)

    def _open(self) -> AnsweringModel:
        if self._model is None:
            prepared = jobs.database().read(_prepared_facts, self.evaluation)
            task = OPEN_TASKS[prepared.kind]
            model = AnsweringModel(self.settings, self._folder(), task, prepared.roles, self.check_wanted)
            labels = model.card.labels if task.labelled else ()
            jobs.database().write(_begin_model, self, model.card.version, dict(model.inputs), labels, prepared.labels)
            self._model = model
        self._model.open()
        return self._model

    def _folder(self) -> Path:
        reference, version, prepared = jobs.database().read(_reference, self.evaluation, self.model)
        if not external_models.is_external(reference):
            try:
                return catalog.entry(reference, version or None).folder
            except NotFound:
                raise EvaluationStopped("model_gone") from None
        into = service.evaluation_folder(self.settings, self.evaluation) / f"model-{self.model}" / "folder"
        if repository_models.is_repository(reference):
            return self._repository_folder(reference, prepared, into)
        return external_models.make_folder(OPEN_TASKS[prepared.kind], prepared.labels, prepared.roles, reference, into)

    def _repository_folder(self, reference: str, prepared: "PreparedFacts", into: Path) -> Path:
        """The folder of a model in a repository, which the author may read now."""

        def find(session: Session) -> repository_models.RepositoryModel:
            evaluation = session.get_one(OpenEvaluation, self.evaluation)
            person = session.get(Person, evaluation.person_id) if evaluation.person_id else None
            return repository_models.open_repository(session, self.settings, person, reference)

        def describe() -> TaskConfig:
            task = OPEN_TASKS[prepared.kind]
            return external_models.model_config(task, prepared.labels, prepared.roles, writes=False)

        model = jobs.database().read(find)
        return repository_models.finished_folder(into) or repository_models.make_repository_folder(
            self.settings, model, describe, into
        )


def _is_stored(session: Session, evaluation: int, model: int, shard: int) -> bool:
    return session.get(OpenShard, (evaluation, model, shard)) is not None


@dataclass(frozen=True)
class PreparedFacts:
    """The facts about prepared rows by which a model is chosen to read them."""

    kind: str
    labels: Sequence[str]
    roles: Collection[str]


def _prepared_facts(session: Session, evaluation: int) -> PreparedFacts:
    row = session.get_one(OpenEvaluation, evaluation)
    return PreparedFacts(row.kind, row.labels, OpenChoices.parse(row.choices).roles)


def _reference(session: Session, evaluation: int, model: int) -> tuple[str, str, PreparedFacts]:
    row = session.get_one(OpenEvaluationModel, (evaluation, model))
    return row.reference, row.version, _prepared_facts(session, evaluation)


def _begin_model(
    session: Session, run: ModelRun, version: str, inputs: dict[str, str], model_labels: Sequence[str],
    row_labels: Sequence[str],
) -> None:  # fmt: skip
    """Note what the model is and what its labels mean among those of all rows."""
    owned_evaluation(session, run.evaluation, run.job_id, lock=True)
    row = session.get_one(OpenEvaluationModel, (run.evaluation, run.model))
    row.version, row.inputs, row.state = version, inputs, OpenState.RUNNING
    row.labels = dict(match_labels(model_labels, row_labels, row.labels).meanings)


def _store_shard(
    session: Session, run: ModelRun, shard: int, first: int, waiting: answers.UnnamedFile, seconds: float,
    costs: Sequence[float],
) -> None:  # fmt: skip
    """Name the file and count its rows, in the transaction that says that the shard is done."""
    owned_evaluation(session, run.evaluation, run.job_id, lock=True)
    if _is_stored(session, run.evaluation, run.model, shard):
        return
    path = answers_path(run.settings, run.evaluation, run.model, shard)
    waiting.keep(path)
    rows = sum(1 for _answer in answers.read_answers(path))
    session.add(
        OpenShard(
            evaluation_id=run.evaluation, model=run.model, number=shard, first=first, rows=rows,
            digest=waiting.digest, seconds=seconds,
        )
    )  # fmt: skip
    model = session.get_one(OpenEvaluationModel, (run.evaluation, run.model), with_for_update=True)
    model.rows_done += rows
    model.seconds += seconds
    if costs:
        model.cost = (model.cost or 0.0) + sum(costs)
