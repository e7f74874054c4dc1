"""A model in a process of its own, with limits of time and memory: the side of the parent, and that of the child."""

import sys
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dynabench.kit import process_memory
from dynabench.kit.child_process import LINE_LENGTH, LOG_LINES, ChildProcess, MessageTooLarge, ParentChannel
from dynabench.kit.distributions import RAY
from dynabench.kit.errors import Invalid, Unavailable
from dynabench.kit.language import _
from dynabench.kit.process_memory import MIB
from dynabench.models.protocol import Inputs, ModelOutput, as_text

MODULE = "dynabench.benchmark.evaluations.model_process"
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

    outputs: list[ModelOutput]
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
        outputs = [ModelOutput(o["answer"], o["probabilities"], _cost(o["cost"])) for o in reply["outputs"]]
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


CODE_BY_MESSAGE = {"out of memory": "out_of_memory", "memory ran out": "out_of_memory", "longer than": "time"}
"""What the sandbox says of a process that had to be ended."""


def main(folder: str, memory: int) -> None:
    """Open the model with a limit of `memory` bytes, report that, and answer requests until the input ends."""
    parent = ParentChannel()
    try:
        model = _open_model(Path(folder), memory)
    except Exception as error:
        parent.send(_error_message(error))
        return
    parent.send({"card": {"name": model.card.name, "version": model.card.version}})
    while (request := parent.receive()) is not None:
        try:
            answer = _answer(model, request)
        except Exception as error:
            answer = _error_message(error, model.card.inside)
        parent.send(answer)
    if close := getattr(model, "close", None):
        close()


def _open_model(folder: Path, memory: int) -> Any:
    from dynabench.kit.settings import get_settings
    from dynabench.models import catalog, spec
    from dynabench.models.clusters import chosen_cluster

    settings = get_settings()
    cluster = chosen_cluster(settings)
    if cluster and spec.card(folder).inside:  # what others serve has its limits and its cache here
        return cluster.open_model(settings, folder)
    process_memory.limit_memory(memory)
    process_memory.keep_freed_memory()
    return catalog.open_model(folder, bulk=True)


def _answer(model: Any, request: dict[str, Any]) -> dict[str, Any]:
    """Checked outputs in batches of `batch` rows, with each batch's seconds and the process's peak memory; of a model
    on a cluster `single` asks one process there, and `elsewhere` says that the memory is that one's."""
    from dynabench.kit.settings import get_settings
    from dynabench.media.store import MediaStore
    from dynabench.models import validity

    files = MediaStore.of(get_settings())
    rows = [files.unfolded(row) for row in request["rows"]]
    size, elsewhere = request["batch"], hasattr(model, "predict_single")
    ask = model.predict_single if elsewhere and request.get("single") else model.predict
    if request.get("forget"):
        (model if elsewhere else process_memory).reset_peak()
    outputs, seconds = [], []
    for start in range(0, len(rows), size):
        batch, begun = rows[start : start + size], time.perf_counter()
        answers = ask(batch)
        seconds.append(time.perf_counter() - begun)
        outputs += validity.check_outputs(model.card, batch, answers)
    outputs_json = [{"answer": o.answer, "probabilities": o.probabilities, "cost": _answer_cost(o)} for o in outputs]
    log = model.log() if callable(getattr(model, "log", None)) else []
    peak = (model if elsewhere else process_memory).peak_bytes()
    return {"outputs": outputs_json, "seconds": seconds, "peak": peak, "elsewhere": elsewhere, "log": list(log)}


def _answer_cost(output: ModelOutput) -> float | None:
    """The cost of an answer, also one from the cache: an answer that is looked up after a crash counts once."""
    return output.extras.get("cost", output.extras.get("price"))


def _error_message(error: Exception, inside: bool = True) -> dict[str, Any]:
    from dynabench.models.backends.served.stores import Spent
    from dynabench.models.validity import Broken

    codes = {Broken: "wrong_output", Spent: "spending", Unavailable: "unreachable", Invalid: "refused"}
    code = next((code for kind, code in codes.items() if isinstance(error, kind)), "crashed")
    if code == "unreachable" and inside:  # a process of the model's own, which ended
        code = next((code for words, code in CODE_BY_MESSAGE.items() if words in str(error)), "crashed")
    if (
        isinstance(error, MemoryError)
        or process_memory.is_out_of_memory(str(error))
        or type(error).__name__ == "OutOfMemoryError"
    ):
        code = "out_of_memory"
    if isinstance(error, Invalid) and RAY in error.fields:
        code = "cluster"
    return {"code": code, "reason": f"{error}"[:2000] or type(error).__name__}


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
