"""A model in a process of its own, with limits of time for each answer and of memory."""

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dynabench.kit.child_process import LINE_LENGTH, LOG_LINES, ChildProcess, MessageTooLarge
from dynabench.kit.language import _
from dynabench.kit.process_memory import MIB
from dynabench.models.protocol import Inputs, Output, as_text

MODULE = "dynabench.benchmark.evaluations.child"
OPEN_SECONDS = 300.0
"""Seconds that opening a model may take."""


class EvaluationStopped(Exception):
    """Raised when an evaluation cannot go on: `code` is one of `service.CODES`, `reason` explains it."""

    def __init__(self, code: str, reason: str = "") -> None:
        super().__init__(f"{code}: {reason}")
        self.code, self.reason = code, reason


@dataclass(frozen=True)
class BatchAnswers:
    """Outputs in the rows' order, seconds of each batch, and the peak memory in bytes."""

    outputs: list[Output]
    seconds: list[float]
    peak: int


@dataclass
class ModelLimits:
    """MiB of memory, and seconds for each row of a request."""

    memory_mb: int
    answer_seconds: float
    deadline: float = field(default_factory=lambda: time.monotonic() + 24 * 3600)


class ModelProcess:
    """The model of a folder, opened in a child process at the first request. Used by one thread at a time."""

    def __init__(self, folder: Path, limits: ModelLimits, check_wanted: Callable[[], None]) -> None:
        """Take a callback that is called often while the model computes.

        It raises `EvaluationStopped` once the answers are not needed any more.
        """
        self._folder, self._limits, self._check_wanted = folder, limits, check_wanted
        self._log: deque[str] = deque(maxlen=LOG_LINES)
        self._child: ChildProcess | None = None
        self.opened = ""

    def ask(self, rows: Sequence[Inputs], batch: int, forget: bool = False, single: bool = False) -> BatchAnswers:
        """Return the answers to the rows, `batch` at a time. Raises `EvaluationStopped`.

        `forget` measures the peak memory anew, `single` uses one process even on a cluster.
        """
        child = self._start()
        child.peak = 0
        request = {
            "rows": [{name: as_text(value) for name, value in row.items()} for row in rows],
            "batch": batch,
            "forget": forget,
            "single": single,
        }
        reply = self._exchange(child, request, self._limits.answer_seconds * len(rows))
        self._log.extend(str(line)[:LINE_LENGTH] for line in reply["log"] if line not in self._log)
        outputs = [Output(o["answer"], o["probabilities"], _cost(o["cost"])) for o in reply["outputs"]]
        return BatchAnswers(
            outputs, reply["seconds"], reply["peak"] if reply["elsewhere"] else max(child.peak, reply["peak"])
        )

    def open(self) -> None:
        """Start the process and wait until the model is loaded; raises `Stopped`."""
        self._start()

    @property
    def process(self) -> int:
        """The id of the process, which must be running."""
        assert self._child is not None
        return self._child.pid

    def log(self) -> str:
        """The last lines that the model wrote."""
        return "\n".join([*self._log, *(self._child.log if self._child else [])][-LOG_LINES:])

    def close(self) -> None:
        """End the process, if there is one."""
        child, self._child = self._child, None
        if child is not None:
            child.end()
            self._log.extend(child.log)

    def _start(self) -> ChildProcess:
        if self._child is None:
            memory = self._limits.memory_mb * MIB
            self._child = ChildProcess(MODULE, str(self._folder), str(memory), memory=memory)
            card = self._exchange(self._child, None, OPEN_SECONDS)["card"]
            self.opened = f"{card['name']}@{card['version']}"
        return self._child

    def _exchange(self, child: ChildProcess, request: dict[str, Any] | None, seconds: float) -> Any:
        until = min(time.monotonic() + seconds, self._limits.deadline)
        try:
            if request is not None:
                child.send(request)
            answer = child.receive(until, self._check_wanted)
        except TimeoutError:
            self.close()
            raise EvaluationStopped("time", _("No answer within %(seconds)s s.", seconds=f"{seconds:.0f}")) from None
        except (OSError, EOFError):
            death = child.death()
            self.close()
            raise EvaluationStopped(death.code, death.reason) from None
        except MessageTooLarge as large:
            self.close()
            message = _("The answer has %(size)s bytes; the limit is %(most)s.", size=large.size, most=large.most)
            raise EvaluationStopped("wrong_output", message) from None
        except EvaluationStopped:
            self.close()
            raise
        if "code" in answer:
            raise EvaluationStopped(answer["code"], answer["reason"])
        return answer


def _cost(cost: float | None) -> dict[str, Any]:
    return {} if cost is None else {"cost": cost}
