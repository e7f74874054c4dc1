"""The web process's side of `worker.py`: starts it when it is first needed, and waits for answers within a limit."""

import asyncio
import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import structlog

from dynabench.cards.worker import PATTERN_SECONDS, PATTERNS
from dynabench.errors import Invalid, Unavailable
from dynabench.language import _

SECONDS = 8
AT_ONCE = 2
WAITING = 20  # requests that may wait for their turn
KEPT = ("PATH", "PYTHONPATH", "LANG", "LC_ALL", "TMPDIR", "VIRTUAL_ENV")  # of the environment: no secrets
START = 30  # seconds in which the worker imports its libraries, once
TOO_LONG = (
    "this took more than {} s or more memory than is allowed here; give fewer or shorter rows, leave the "
    "interval out, or compute it from Python"
)

TROUBLE = "this is an input that the module did not expect; that is our mistake, and it is logged"
log = structlog.get_logger("dynabench.web")


class Calculator:
    """Computes modules in another process. One for each application; `close` ends that process."""

    def __init__(self, seconds: int = SECONDS) -> None:
        self._seconds = seconds  # that one request may take
        self.examples: dict[Any, dict[str, Any]] = {}  # what worked examples give, by whoever asked first
        self._turn = asyncio.Semaphore(AT_ONCE)
        self._waiting = 0
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._fresh = True

    async def compute(self, **request: Any) -> dict[str, Any]:
        """What the module says for a request to `worker.computed`.

        Raises Invalid, under the field "", for what it refuses or cannot do in time; Unavailable where too many wait.
        """
        if self._waiting >= WAITING:
            raise Unavailable(_("Many others compute something just now. Try again in a few seconds."), 5)
        self._waiting += 1
        try:
            async with self._turn:
                answer = await self._ask(json.dumps(request).encode())
        finally:
            self._waiting -= 1
        if answer is None:
            seconds = PATTERN_SECONDS if PATTERNS in request.get("options", ()) else self._seconds
            raise Invalid({"": TOO_LONG.format(seconds)})
        if "error" in answer:
            raise Invalid({"": str(answer["error"])})
        if "trouble" in answer:
            log.error("a module failed", module=request.get("name"), traceback=answer["trouble"])
            raise Invalid({"": TROUBLE})
        result: dict[str, Any] = answer["result"]
        return result

    async def _ask(self, request: bytes) -> dict[str, Any] | None:
        reader, writer = await asyncio.open_unix_connection(self._address())
        try:
            writer.write(request)
            writer.write_eof()
            heard = await asyncio.wait_for(reader.read(), self._seconds + 2 + START * self._fresh)
            self._fresh = False
            return json.loads(heard) if heard else None
        except (TimeoutError, ConnectionError, ValueError):
            return None
        finally:
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()

    def _address(self) -> str:
        """Where the worker listens; it is started, or started again, if it does not live."""
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="dynabench-")
        path = Path(self._folder.name) / "worker"
        if self._process is None or self._process.poll() is not None:
            path.unlink(missing_ok=True)
            with socket.socket(socket.AF_UNIX) as listener:
                listener.bind(str(path))
                listener.listen(WAITING)
                self._process = _started(listener, self._seconds)
                self._fresh = True
        return str(path)

    def close(self) -> None:
        """End the worker."""
        if self._process is not None:
            assert self._process.stdin is not None
            self._process.stdin.close()
            self._process.kill()
            self._process.wait()
        if self._folder is not None:
            self._folder.cleanup()


def _started(listener: socket.socket, seconds: int) -> subprocess.Popen[bytes]:
    """A worker for `listener`: it sees nothing of this process's environment that it does not need."""
    number = listener.fileno()
    environment = {name: os.environ[name] for name in KEPT if name in os.environ}
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "dynabench.cards.worker", str(number), str(seconds)],
        pass_fds=[number],
        env=environment | threads,
        stdin=subprocess.PIPE,  # ends with this process, and the worker with it
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
