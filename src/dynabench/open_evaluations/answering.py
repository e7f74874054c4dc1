"""A model in a process of its own that answers prepared rows, in batches that take about the same time."""

import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from dynabench.benchmark.evaluations.evaluation_run import BATCH, BATCH_SECONDS, FIRST_BATCH
from dynabench.benchmark.evaluations.model_process import EvaluationStopped, ModelLimits, ModelProcess
from dynabench.datasets.stored import StoredRow
from dynabench.kit.settings import Settings
from dynabench.models import spec
from dynabench.models.protocol import Inputs, ModelOutput
from dynabench.open_evaluations.candidates import describe_misfit, gives_answers, match_inputs
from dynabench.open_evaluations.kinds import OpenTask

PAUSES = {"crashed": (0.0,), "unreachable": (0.0, 12.0, 30.0)}
"""Seconds after which a shard is tried again, by the code of what stopped it: a server may be started meanwhile."""
CHECK_SECONDS = 0.5


class AnsweringModel:
    """The model of a folder, for rows of one kind of problem; `check_wanted` raises once nobody needs the answers."""

    def __init__(
        self,
        settings: Settings,
        folder: Path,
        task: OpenTask,
        roles: Collection[str],
        check_wanted: Callable[[], None],
    ) -> None:
        """Read the card; raises `EvaluationStopped` for a model that does not fit the rows."""
        self.card = spec.card(folder)
        inputs = match_inputs(self.card, task, roles)
        if inputs is None or not gives_answers(self.card, task):
            raise EvaluationStopped("refused", describe_misfit(self.card, task))
        self.inputs = inputs
        seconds = max(self.card.seconds or 0, settings.evaluation_answer_seconds)
        deadline = time.monotonic() + 3600 * settings.evaluation_hours
        self._check_wanted = check_wanted
        self._process = ModelProcess(
            folder, ModelLimits(settings.evaluation_memory_mb, seconds, deadline), check_wanted
        )
        self._size = FIRST_BATCH

    def open(self) -> None:
        """Start the process, if it is not running."""
        self._process.open()

    def log(self) -> str:
        """Return the last lines of the model's log."""
        return self._process.log()

    def close(self) -> None:
        """End the process."""
        self._process.close()

    def answer(self, rows: Sequence[StoredRow]) -> list[ModelOutput]:
        """Return an output for each row; raises `EvaluationStopped` with the first reason if trying again fails."""
        try:
            return self._ask(rows)
        except EvaluationStopped as stopped:
            if stopped.code not in PAUSES:
                raise
            first = stopped
        for pause in PAUSES[first.code]:
            self._wait(pause)
            try:
                return self._ask(rows)
            except EvaluationStopped as stopped:
                if stopped.code not in PAUSES:
                    raise
        raise first

    def _wait(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while (remaining := until - time.monotonic()) > 0:
            time.sleep(min(remaining, CHECK_SECONDS))
            self._check_wanted()

    def _ask(self, rows: Sequence[StoredRow]) -> list[ModelOutput]:
        """Questions of so many rows that each takes about `BATCH_SECONDS`."""
        outputs: list[ModelOutput] = []
        while len(outputs) < len(rows):
            part = [self._model_inputs(row) for row in rows[len(outputs) : len(outputs) + self._size]]
            begun = time.perf_counter()
            outputs += self._process.ask(part, len(part)).outputs
            rate = len(part) / max(time.perf_counter() - begun, 1e-6)
            self._size = int(min(max(rate * BATCH_SECONDS, 1), BATCH))
        return outputs

    def _model_inputs(self, row: StoredRow) -> Inputs:
        return {name: row.inputs.get(role, "") for name, role in self.inputs.items()}
