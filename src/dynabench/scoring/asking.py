"""A model in a process of its own: asked with a time limit, watched for memory, ended when it exceeds either."""

import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from dynabench.language import _
from dynabench.models.protocol import Inputs, Output, as_text
from dynabench.models.sandbox import usage
from dynabench.models.sandbox.usage import family, resident
from dynabench.scoring import child

LINES, WIDTH = 200, 500
"""Of the log: how many lines are kept, and how many characters of each."""
OPENS = 300.0
"""Seconds that opening a model may take."""
EVERY = 0.25
"""Seconds between two looks at the memory, and at whether the evaluation is still wanted."""
MOST = 2**30
"""Bytes of a message."""


class Stopped(Exception):
    """The evaluation cannot go on: `code` is one of `service.CODES`, `reason` says it in words."""

    def __init__(self, code: str, reason: str = "") -> None:
        super().__init__(f"{code}: {reason}")
        self.code, self.reason = code, reason


@dataclass(frozen=True)
class Said:
    """Outputs in the rows' order, seconds of each batch, and the most memory held, in bytes."""

    outputs: list[Output]
    seconds: list[float]
    peak: int


@dataclass
class Limits:
    """MiB of memory, and seconds for each row of a request."""

    memory_mb: int
    answer_seconds: float
    deadline: float = field(default_factory=lambda: time.monotonic() + 24 * 3600)


class Asked:
    """The model of a folder, opened in a child process at the first question. Used by one thread at a time."""

    def __init__(self, folder: Path, limits: Limits, wanted: Callable[[], None]) -> None:
        """`wanted` is called every moment while the model thinks, and raises `Stopped` where nobody waits any more."""
        self._folder, self._limits, self._wanted = folder, limits, wanted
        self._log: deque[str] = deque(maxlen=LINES)
        self._process: subprocess.Popen[bytes] | None = None
        self._why = ""
        self._peak = 0
        self.opened = ""

    def ask(self, rows: Sequence[Inputs], batch: int, forget: bool = False, single: bool = False) -> Said:
        """Answers to the rows, `batch` at a time; `forget` measures the peak memory anew, `single` asks one process
        even on a cluster. Raises `Stopped`."""
        self._start()
        self._peak = 0
        request = {
            "rows": [{name: as_text(value) for name, value in row.items()} for row in rows],
            "batch": batch,
            "forget": forget,
            "single": single,
        }
        told = self._exchange(request, self._limits.answer_seconds * len(rows))
        self._log.extend(str(line)[:WIDTH] for line in told["log"] if line not in self._log)
        outputs = [Output(o["answer"], o["probabilities"], _cost(o["cost"])) for o in told["outputs"]]
        return Said(outputs, told["seconds"], told["peak"] if told["elsewhere"] else max(self._peak, told["peak"]))

    def open(self) -> None:
        """Start the process and wait until the model is loaded; raises `Stopped`."""
        self._start()

    @property
    def process(self) -> int:
        """The number of its process, which must be running."""
        assert self._process is not None
        return self._process.pid

    def log(self) -> str:
        """The last lines that the model wrote."""
        return "\n".join(self._log)

    def close(self) -> None:
        """End the process, if there is one."""
        process, self._process = self._process, None
        if process is None:
            return
        _kill(process)
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with suppress(BrokenPipeError):  # what was not sent yet is for nobody
                    stream.close()

    def _start(self) -> None:
        if self._process is not None:
            return
        self._why = ""
        memory = str(self._limits.memory_mb * 2**20)
        command = [sys.executable, "-m", "dynabench.scoring.child", str(self._folder), memory]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True)
        threading.Thread(target=self._read_log, args=(self._process,), daemon=True).start()
        threading.Thread(target=self._watch, args=(self._process,), daemon=True).start()
        card = self._exchange(None, OPENS)["card"]
        self.opened = f"{card['name']}@{card['version']}"

    def _exchange(self, request: dict[str, Any] | None, seconds: float) -> Any:
        process = self._process
        assert process is not None
        assert process.stdin is not None
        until = min(time.monotonic() + seconds, self._limits.deadline)
        try:
            if request is not None:
                child.send(process.stdin, request)  # type: ignore[arg-type]
            answer = self._answer(process, until)
        except TimeoutError:
            self.close()
            raise Stopped("time", _("There was no answer within %(seconds)s s.", seconds=f"{seconds:.0f}")) from None
        except (OSError, EOFError):
            with suppress(subprocess.TimeoutExpired):
                process.wait(5)
            self.close()
            raise self._ended(process.returncode) from None
        except Stopped:
            self.close()
            raise
        if "code" in answer:
            raise Stopped(answer["code"], answer["reason"])
        return answer

    def _answer(self, process: subprocess.Popen[bytes], until: float) -> Any:
        head = self._receive(process, 4, until)
        size = int.from_bytes(head, "big")
        if size > MOST:
            raise Stopped(
                "wrong_output", _("It answered with %(size)s bytes, of %(most)s at most.", size=size, most=MOST)
            )
        return orjson.loads(self._receive(process, size, until))

    def _receive(self, process: subprocess.Popen[bytes], size: int, until: float) -> bytes:
        assert process.stdout is not None
        source, parts = process.stdout.fileno(), []
        while size:
            if time.monotonic() > until:
                raise TimeoutError
            self._wanted()
            if not select.select([source], [], [], EVERY)[0]:
                continue
            part = os.read(source, min(size, 1 << 20))
            if not part:
                raise EOFError
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def _ended(self, code: int) -> Stopped:
        if self._why:
            return Stopped("out_of_memory", self._why)
        if code == -signal.SIGKILL:
            return Stopped("out_of_memory", _("The system killed the process, most likely because memory ran out."))
        if code == -signal.SIGABRT and usage.starved(self.log()):
            return Stopped("out_of_memory", _("It asked for more memory than it may have."))
        return Stopped("crashed", _("The process ended with status %(code)s.", code=code))

    def _watch(self, process: subprocess.Popen[bytes]) -> None:
        """Measure the memory of the process and its children until it ends, and kill it where that is too much."""
        while process.poll() is None:
            used = sum(map(resident, family(process.pid)))
            self._peak = max(self._peak, used)
            if used > self._limits.memory_mb * 2**20:
                self._why = _(
                    "It took %(used)s MiB of memory, of %(memory_mb)s allowed.",
                    used=used >> 20,
                    memory_mb=self._limits.memory_mb,
                )
                _kill(process)
                return
            time.sleep(EVERY)

    def _read_log(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stderr is not None
        with process.stderr as stream:
            while line := stream.readline(4096):
                self._log.append(line.decode("utf-8", "replace").rstrip()[:WIDTH])


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill the process and what it started in its session."""
    if process.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def _cost(cost: float | None) -> dict[str, Any]:
    return {} if cost is None else {"cost": cost}
