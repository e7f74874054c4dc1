"""The web process's side of `worker.py`.

It starts the worker when first needed, and waits for answers within limits.
"""

import asyncio
import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import structlog

from dynabench.kit.errors import Invalid, Unavailable
from dynabench.kit.language import _
from dynabench.site.cards.worker import PATTERN_SECONDS, PATTERNS

SECONDS = 8
MAX_PARALLEL = 2
MAX_WAITING = 20  # requests that may wait for their turn
PASSED_VARIABLES = ("PATH", "PYTHONPATH", "LANG", "LC_ALL", "TMPDIR", "VIRTUAL_ENV")  # of the environment: no secrets
START_SECONDS = 30  # seconds in which the worker imports its libraries, once
MAX_START_SECONDS = 120  # seconds after which a worker that has answered nothing yet is replaced, too
TOO_LONG = (
    "this took more than {} s or more memory than is allowed here; give fewer or shorter rows, leave the "
    "interval out, or compute it from Python"
)

TROUBLE = "this is an input that the module did not expect; that is our mistake, and it is logged"
log = structlog.get_logger("dynabench.web")


class NotComputed(Invalid):
    """The module neither gave a result nor refused the input; another attempt may succeed."""


class Calculator:
    """Computes modules in another process. One for each application; `close` ends that process."""

    def __init__(self, seconds: int = SECONDS) -> None:
        self._seconds = seconds  # that one request may take
        self.examples: dict[Any, dict[str, Any]] = {}  # what worked examples give, computed for the first reader
        self._turn = asyncio.Semaphore(MAX_PARALLEL)
        self._waiting = 0
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._fresh = True
        self._started_at = 0.0

    async def compute(self, **request: Any) -> dict[str, Any]:
        """Return the module's result for a request to `worker.compute_request`.

        Raises Invalid, under the field "", for what the module refuses; NotComputed for what it cannot do in time;
        Unavailable where too many requests wait, or the worker does not answer.
        """
        if self._waiting >= MAX_WAITING:
            raise Unavailable(_("Many computations are running. Try again in a few seconds."), 5)
        self._waiting += 1
        try:
            async with self._turn:
                answer = await self._ask(json.dumps(request).encode())
        finally:
            self._waiting -= 1
        if answer is None:
            seconds = PATTERN_SECONDS if PATTERNS in request.get("options", ()) else self._seconds
            raise NotComputed({"": TOO_LONG.format(seconds)})
        if "error" in answer:
            raise Invalid({"": str(answer["error"])})
        if "trouble" in answer:
            log.error("a module failed", module=request.get("name"), traceback=answer["trouble"])
            raise NotComputed({"": TROUBLE})
        result: dict[str, Any] = answer["result"]
        return result

    async def _ask(self, request: bytes) -> dict[str, Any] | None:
        """The worker's answer; None where its child ended without one, which is what limits make it do."""
        process = None
        try:
            address, process = self._worker()
            async with asyncio.timeout(self._seconds + 2 + START_SECONDS * self._fresh):
                reply = await _exchange(address, request)
        except OSError as problem:  # no answer in time, or no connection
            await self._replace(process, problem)
            raise Unavailable(_("Computations are not available right now. Try again in a few seconds."), 5) from None
        self._fresh = False
        with contextlib.suppress(ValueError):  # it was ended while it answered
            answer: dict[str, Any] = json.loads(reply)
            return answer
        return None

    def _worker(self) -> tuple[str, subprocess.Popen[bytes]]:
        """Return the worker's address and process; starts the worker where it does not live."""
        if self._folder is not None and not Path(self._folder.name).is_dir():  # swept away as an old temporary file
            self._folder.cleanup()
            self._folder = None
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="dynabench-", ignore_cleanup_errors=True)
        path = Path(self._folder.name) / "worker"
        if self._process is None or self._process.poll() is not None:
            if self._process is not None:
                _kill(self._process)  # it has ended; this closes its pipe
            path.unlink(missing_ok=True)
            with socket.socket(socket.AF_UNIX) as listener:
                listener.bind(str(path))
                listener.listen(MAX_WAITING)
                self._process = _start_worker(listener, self._seconds)
                self._fresh, self._started_at = True, time.monotonic()
        return str(path), self._process

    async def _replace(self, process: subprocess.Popen[bytes] | None, problem: OSError) -> None:
        """Kill a worker that does not answer, so that the next request starts another; one that starts gets its time.

        The children that it has begun answer all the same.
        """
        if process is None or process is not self._process:
            return
        if (
            isinstance(problem, TimeoutError)
            and self._fresh
            and time.monotonic() - self._started_at < MAX_START_SECONDS
        ):
            return
        log.warning("the process that computes does not answer", problem=repr(problem))
        self._process = None
        _kill(process)
        await asyncio.to_thread(process.wait)

    def close(self) -> None:
        """End the worker."""
        if self._process is not None:
            _kill(self._process)
            self._process.wait()
        if self._folder is not None:
            self._folder.cleanup()


async def _exchange(address: str, request: bytes) -> bytes:
    """Send a request to an address and return the answer."""
    reader, writer = await asyncio.open_unix_connection(address)
    try:
        writer.write(request)
        writer.write_eof()
        return await reader.read()
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()


def _kill(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin is not None
    process.stdin.close()
    process.kill()


def _start_worker(listener: socket.socket, seconds: int) -> subprocess.Popen[bytes]:
    """Start a worker for `listener`: it gets only those environment variables that it needs."""
    number = listener.fileno()
    environment = {name: os.environ[name] for name in PASSED_VARIABLES if name in os.environ}
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "dynabench.site.cards.worker", str(number), str(seconds)],
        pass_fds=[number],
        env=environment | threads,
        stdin=subprocess.PIPE,  # ends with this process, and the worker with it
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
