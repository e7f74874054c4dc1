"""One run of an evaluation's job: what it may go on with, its model, and its shards, each stored once."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from sqlalchemy.orm import Session

from dynabench.benchmark.evaluations import answers, queries, service
from dynabench.benchmark.evaluations.model_process import EvaluationStopped, ModelLimits, ModelProcess
from dynabench.benchmark.evaluations.tables import Evaluation, Shard
from dynabench.benchmark.registry import predictions
from dynabench.benchmark.registry.tables import Submission
from dynabench.datasets import stored
from dynabench.datasets.stored import StoredRow
from dynabench.datasets.tables import Dataset, DatasetVersion, Twin
from dynabench.kit import jobs
from dynabench.kit.compute_lock import TURNS
from dynabench.kit.db import now
from dynabench.kit.errors import NotFound
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.models import catalog
from dynabench.models.protocol import ModelOutput

MIN_SHARD_ROWS, MAX_SHARD_ROWS = 64, 2000
"""Rows of a shard."""
SHARD_SECONDS = 30.0
"""How long a shard should take, which is what a crash may cost."""
DEFAULT_SHARD_ROWS = 256
"""Rows of a shard of a model whose speed nobody knows yet."""
ROWS = "rows"
"""The part that is the dataset itself; the others are named after the axes of its twins."""


@dataclass(frozen=True)
class EvaluationPart:
    """Rows to be answered: those of the file named by `digest`."""

    name: str
    digest: str
    rows: int


@dataclass(frozen=True)
class PlannedShard:
    """Rows `first` to `first + rows` of a part, answered together."""

    part: str
    digest: str
    number: int
    first: int
    rows: int


def evaluation_parts(
    session: Session, submission: Submission, version: DatasetVersion, axes: Sequence[str]
) -> list[EvaluationPart]:
    """The version's rows, and those of its newest twins along the task's axes; files of predictions have no twins."""
    all_parts = [EvaluationPart(ROWS, version.digest, version.rows)]
    if submission.kind == "predictions":
        return all_parts
    newest: dict[str, Twin] = {}
    for twin in session.scalars(queries.current_twins(version.id)):
        newest.setdefault(twin.axis, twin)
    return all_parts + [EvaluationPart(axis, newest[axis].digest, newest[axis].rows) for axis in axes if axis in newest]


def planned_shards(
    all_parts: Sequence[EvaluationPart], done: Sequence[Shard], rate: float | None
) -> list[PlannedShard]:
    """Return all parts in shards: finished ones as they are, the rest sized by `rate`, in rows a second."""
    size = min(max(int((rate or 0) * SHARD_SECONDS), MIN_SHARD_ROWS), MAX_SHARD_ROWS) if rate else DEFAULT_SHARD_ROWS
    planned = []
    for part in all_parts:
        old = sorted((shard for shard in done if shard.part == part.name), key=lambda shard: shard.first)
        planned += [PlannedShard(part.name, part.digest, shard.number, shard.first, shard.rows) for shard in old]
        at, number = max((s.first + s.rows for s in old), default=0), max((s.number + 1 for s in old), default=0)
        for first in range(at, part.rows, size):
            planned.append(PlannedShard(part.name, part.digest, number, first, min(size, part.rows - first)))
            number += 1
    return planned


def settle_changes(
    session: Session, evaluation: Evaluation, all_parts: Sequence[EvaluationPart], planned: dict[str, str]
) -> bool:
    """Return True if the planned parts (digest by name) are still complete; otherwise queue the evaluation again."""
    now = {part.name: part.digest for part in all_parts}
    changed = [name for name in now if now[name] != planned.get(name)]
    if changed:
        for name in changed:
            service.drop_part(session, evaluation, name)
        service.run_again(session, evaluation)
    return not changed


def shard_fields(piece: PlannedShard) -> dict[str, Any]:
    """Return a planned shard as JSON."""
    return vars(piece)


def load_evaluation(session: Session, evaluation: int) -> tuple[Evaluation, Submission, DatasetVersion, Dataset]:
    """Return an evaluation with its submission, dataset version and dataset."""
    row = session.execute(queries.evaluation_with_dataset(evaluation)).one()
    return row[0], row[1], row[2], row[3]


BATCH = 256
"""Rows that a model is given at a time: enough to sort by length, few enough to be watched."""
FIRST_BATCH = 16
"""Rows of the first question, after which the speed is known."""
BATCH_SECONDS = 10.0
"""Seconds that a question should take."""
CHECK_SECONDS = 1.0
"""Seconds between two looks at whether the evaluation was cancelled."""
RETRIED_CODES = ("crashed", "unreachable")
"""Codes after which a shard is tried once more."""


@dataclass(frozen=True)
class AnswerSource:
    """The source of answers: a model's folder, or a file of predictions."""

    submission: int
    model: str = ""
    version: str = ""
    predictions: bool = False


class EvaluationRun:
    """The run of one evaluation in a job. Steps that are skipped after a crash never open the model."""

    def __init__(self, job_id: str, evaluation: int, source: AnswerSource, settings: Settings) -> None:
        self.job_id, self.evaluation, self.source, self.settings = job_id, evaluation, source, settings
        self._checked_at = 0.0
        self._model: ModelProcess | None = None
        self._size = FIRST_BATCH
        self._file: tuple[int, Iterator[ModelOutput]] | None = None

    def check_wanted(self) -> None:
        """Raise `EvaluationStopped` where the evaluation was cancelled or another job took over."""
        if time.monotonic() - self._checked_at < CHECK_SECONDS:
            return
        self._checked_at = time.monotonic()
        jobs.database().read(owned_evaluation, self.evaluation, self.job_id)

    def model(self) -> ModelProcess:
        """The model, whose process starts with its first question."""
        if self._model is None:
            entry = catalog.entry(self.source.model, self.source.version)
            seconds = max(entry.card.seconds or 0 if entry.card else 0, self.settings.evaluation_answer_seconds)
            deadline = time.monotonic() + 3600 * self.settings.evaluation_hours
            limits = ModelLimits(self.settings.evaluation_memory_mb, seconds, deadline)
            self._model = ModelProcess(entry.folder, limits, self.check_wanted)
        return self._model

    def log(self) -> str:
        """Return the last lines of the model's log."""
        return self._model.log() if self._model else ""

    def close(self) -> None:
        """End the model's process."""
        if self._model is not None:
            self._model.close()

    def shard(self, piece: PlannedShard) -> None:
        """Answer and store a shard, unless that is done; raises `Stopped`."""
        if jobs.database().read(is_stored, self.evaluation, piece):
            return
        rows = list(stored.read_rows(self.settings, piece.digest, piece.first, piece.rows))
        if len(rows) != piece.rows:
            raise EvaluationStopped("dataset_changed")
        with TURNS.shared(self.check_wanted):
            begun = time.perf_counter()
            outputs = self._predicted(piece) if self.source.predictions else self._answers(rows)
            seconds = time.perf_counter() - begun
        waiting = answers.write_answers(self.settings, [row.uid for row in rows], outputs)
        try:
            jobs.database().write(_store, self, piece, waiting, seconds)
        finally:
            waiting.path.unlink(missing_ok=True)

    def _predicted(self, piece: PlannedShard) -> list[ModelOutput]:
        """The rows of a file of predictions, which is read on from shard to shard."""
        at, source = self._file or (-1, iter(()))
        if at != piece.first:
            submission, version = jobs.database().read(load_evaluation, self.evaluation)[1:3]
            try:
                source = islice(predictions.answers(self.settings, submission, version), piece.first, None)
            except NotFound:
                raise EvaluationStopped("missing_predictions") from None
        outputs = list(islice(source, piece.rows))
        if len(outputs) != piece.rows:
            raise EvaluationStopped(
                "missing_predictions", _("The file ends %(rows)s rows early.", rows=piece.rows - len(outputs))
            )
        self._file = (piece.first + piece.rows, source)
        return outputs

    def _answers(self, rows: Sequence[StoredRow]) -> list[ModelOutput]:
        try:
            return self._ask(rows)
        except EvaluationStopped as stopped:
            if stopped.code not in RETRIED_CODES:
                raise
        return self._ask(rows)

    def _ask(self, rows: Sequence[StoredRow]) -> list[ModelOutput]:
        """Questions of so many rows that each takes about `QUESTION` seconds."""
        outputs: list[ModelOutput] = []
        self.model().open()
        while len(outputs) < len(rows):
            part = [row.inputs for row in rows[len(outputs) : len(outputs) + self._size]]
            begun = time.perf_counter()
            outputs += self.model().ask(part, len(part)).outputs
            rate = len(part) / max(time.perf_counter() - begun, 1e-6)
            self._size = int(min(max(rate * BATCH_SECONDS, 1), BATCH))
        return outputs


def owned_evaluation(session: Session, evaluation: int, job_id: str, lock: bool = False) -> Evaluation:
    """Return the evaluation if this job works on it; otherwise raise `EvaluationStopped`."""
    evaluation_row = session.get_one(Evaluation, evaluation, with_for_update=lock or None)
    if evaluation_row.job_id != job_id:
        raise EvaluationStopped("superseded")
    if evaluation_row.state not in queries.OPEN_STATES:
        raise EvaluationStopped("cancelled")
    return evaluation_row


def is_stored(session: Session, evaluation: int, piece: PlannedShard) -> bool:
    """Return True if a shard is stored."""
    return session.get(Shard, (evaluation, piece.part, piece.number)) is not None


def _store(
    session: Session, run: EvaluationRun, piece: PlannedShard, waiting: answers.UnnamedFile, seconds: float
) -> None:
    """Name the file and count its rows, in the transaction that says that the shard is done."""
    evaluation = owned_evaluation(session, run.evaluation, run.job_id, lock=True)
    if is_stored(session, run.evaluation, piece):
        return
    waiting.keep(answers.answers_path(run.settings, run.evaluation, piece.part, piece.number))
    session.add(
        Shard(
            evaluation_id=run.evaluation, part=piece.part, number=piece.number, first=piece.first, rows=piece.rows,
            digest=waiting.digest, seconds=seconds, done_at=now(),
        )
    )  # fmt: skip
    evaluation.rows_done += piece.rows


def stopped_result(stopped: EvaluationStopped) -> dict[str, Any]:
    """Return the result of a step that cannot go on."""
    return {"stopped": stopped.code, "reason": stopped.reason}
