"""One run of an evaluation's job: what it may go on with, its model, and its shards, each stored once."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from sqlalchemy.orm import Session

from dynabench import jobs
from dynabench.datasets import stored
from dynabench.datasets.stored import Stored
from dynabench.datasets.tables import DatasetVersion
from dynabench.db import now
from dynabench.errors import NotFound
from dynabench.language import _
from dynabench.models import catalog
from dynabench.models.protocol import Output
from dynabench.registry import predictions
from dynabench.registry.tables import Submission
from dynabench.scoring import answers, planning, queries
from dynabench.scoring.asking import Asked, Limits, Stopped
from dynabench.scoring.planning import Piece
from dynabench.scoring.tables import Evaluation, Shard
from dynabench.settings import Settings
from dynabench.turns import TURNS

BATCH = 256
"""Rows that a model is given at a time: enough to sort by length, few enough to be watched."""
FIRST = 16
"""Rows of the first question, after which the speed is known."""
QUESTION = 10.0
"""Seconds that a question should take."""
EVERY = 1.0
"""Seconds between two looks at whether somebody cancelled."""
AGAIN = ("crashed", "unreachable")
"""Codes after which a shard is tried once more."""


@dataclass(frozen=True)
class Source:
    """Where answers come from: the model's folder and how long it may think, or a file of predictions."""

    submission: int
    model: str = ""
    version: str = ""
    predictions: bool = False


class Running:
    """A job at work on an evaluation. Steps that are passed over after a crash never open the model."""

    def __init__(self, job_id: str, evaluation: int, source: Source, settings: Settings) -> None:
        self.job_id, self.evaluation, self.source, self.settings = job_id, evaluation, source, settings
        self._asked = 0.0
        self._model: Asked | None = None
        self._size = FIRST
        self._file: tuple[int, Iterator[Output]] | None = None

    def wanted(self) -> None:
        """Raise `Stopped` where the evaluation was cancelled or another job took over."""
        if time.monotonic() - self._asked < EVERY:
            return
        self._asked = time.monotonic()
        jobs.database().read(mine, self.evaluation, self.job_id)

    def model(self) -> Asked:
        """The model, whose process starts with its first question."""
        if self._model is None:
            entry = catalog.entry(self.source.model, self.source.version)
            seconds = max(entry.card.seconds or 0 if entry.card else 0, self.settings.evaluation_answer_seconds)
            deadline = time.monotonic() + 3600 * self.settings.evaluation_hours
            limits = Limits(self.settings.evaluation_memory_mb, seconds, deadline)
            self._model = Asked(entry.folder, limits, self.wanted)
        return self._model

    def log(self) -> str:
        """The last lines of what the model wrote."""
        return self._model.log() if self._model else ""

    def close(self) -> None:
        """End the model's process."""
        if self._model is not None:
            self._model.close()

    def shard(self, piece: Piece) -> None:
        """Answer and store a shard, unless that is done; raises `Stopped`."""
        if jobs.database().read(known, self.evaluation, piece):
            return
        rows = list(stored.read(self.settings, piece.digest, piece.first, piece.rows))
        if len(rows) != piece.rows:
            raise Stopped("dataset_changed")
        with TURNS.shared(self.wanted):
            begun = time.perf_counter()
            outputs = self._predicted(piece) if self.source.predictions else self._answers(rows)
            seconds = time.perf_counter() - begun
        waiting = answers.write(self.settings, [row.uid for row in rows], outputs)
        try:
            jobs.database().write(_store, self, piece, waiting, seconds)
        finally:
            waiting.path.unlink(missing_ok=True)

    def _predicted(self, piece: Piece) -> list[Output]:
        """The rows of a file of predictions, which is read on from shard to shard."""
        at, source = self._file or (-1, iter(()))
        if at != piece.first:
            submission, version = jobs.database().read(_of, self.evaluation)
            try:
                source = islice(predictions.answers(self.settings, submission, version), piece.first, None)
            except NotFound:
                raise Stopped("missing_predictions") from None
        outputs = list(islice(source, piece.rows))
        if len(outputs) != piece.rows:
            raise Stopped(
                "missing_predictions", _("The file ends %(rows)s rows too early.", rows=piece.rows - len(outputs))
            )
        self._file = (piece.first + piece.rows, source)
        return outputs

    def _answers(self, rows: Sequence[Stored]) -> list[Output]:
        try:
            return self._ask(rows)
        except Stopped as stopped:
            if stopped.code not in AGAIN:
                raise
        return self._ask(rows)

    def _ask(self, rows: Sequence[Stored]) -> list[Output]:
        """Questions of so many rows that each takes about `QUESTION` seconds."""
        outputs: list[Output] = []
        self.model().open()
        while len(outputs) < len(rows):
            part = [row.inputs for row in rows[len(outputs) : len(outputs) + self._size]]
            begun = time.perf_counter()
            outputs += self.model().ask(part, len(part)).outputs
            rate = len(part) / max(time.perf_counter() - begun, 1e-6)
            self._size = int(min(max(rate * QUESTION, 1), BATCH))
        return outputs


def _of(session: Session, evaluation: int) -> tuple[Submission, DatasetVersion]:
    _, submission, version, _ = planning.whole(session, evaluation)
    return submission, version


def mine(session: Session, evaluation: int, job_id: str, lock: bool = False) -> Evaluation:
    """The evaluation, if this job is the one that works on it; raises `Stopped`."""
    found = session.get_one(Evaluation, evaluation, with_for_update=lock or None)
    if found.job_id != job_id:
        raise Stopped("superseded")
    if found.state not in queries.OPEN:
        raise Stopped("cancelled")
    return found


def known(session: Session, evaluation: int, piece: Piece) -> bool:
    """Whether a shard is stored."""
    return session.get(Shard, (evaluation, piece.part, piece.number)) is not None


def _store(session: Session, run: Running, piece: Piece, waiting: answers.Waiting, seconds: float) -> None:
    """Name the file and count its rows, in the transaction that says that the shard is done."""
    evaluation = mine(session, run.evaluation, run.job_id, lock=True)
    if known(session, run.evaluation, piece):
        return
    waiting.keep(answers.path(run.settings, run.evaluation, piece.part, piece.number))
    session.add(
        Shard(
            evaluation_id=run.evaluation, part=piece.part, number=piece.number, first=piece.first, rows=piece.rows,
            digest=waiting.digest, seconds=seconds, done_at=now(),
        )
    )  # fmt: skip
    evaluation.rows_done += piece.rows


def told(stopped: Stopped) -> dict[str, Any]:
    """What a step returns where the evaluation cannot go on."""
    return {"stopped": stopped.code, "reason": stopped.reason}
