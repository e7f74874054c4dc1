"""One process in a sandbox: asked over a socket, watched and, where it exceeds its limits, killed."""

import os
import secrets
import select
import signal
import socket
import subprocess
import threading
import time
from collections import deque
from contextlib import suppress
from pathlib import Path

from dynabench.models.sandbox import usage
from dynabench.models.sandbox.box import Box
from dynabench.models.sandbox.limits import ANSWER, Options

LINES, WIDTH = 200, 500
"""Of the log: how many lines are kept, and how many characters of each."""
CHUNK = 1 << 16
EVERY = 0.1
"""Seconds between two looks at what the processes use."""
REST = 0.005
"""Seconds of not reading after a full chunk, so that a handler that prints without end costs us little."""
GOES = 10.0
"""Seconds that ending may take."""


class Ended(Exception):
    """The process is gone, or had to be; says why."""


class Process:
    """A handler's process. Asked by one thread at a time, closed by any."""

    def __init__(self, box: Box, folder: Path, options: Options, log: deque[str]) -> None:
        self._box, self._folder, self._options, self._log = box, folder, options, log
        self._name = f"dynabench-{os.getpid()}-{secrets.token_hex(6)}"
        self._stream, self._inner = socket.socketpair()
        self._child: subprocess.Popen[bytes] | None = None
        self._reason = ""
        self._started = threading.Event()
        self._thread = threading.Thread(target=self._live, name=self._name, daemon=True)
        self._thread.start()
        self._started.wait()

    @property
    def alive(self) -> bool:
        """True as long as nothing has ended the process, nor begun to."""
        return self._thread.is_alive() and not self._reason

    def ask(self, request: bytes, seconds: float) -> bytes:
        """The answer to one request; raises `Ended`, after which the process is gone."""
        until, mark = time.monotonic() + seconds, secrets.token_bytes(8)
        try:
            self._stream.settimeout(seconds)
            self._stream.sendall(len(request).to_bytes(4, "big") + mark + request)
            return self._answer(mark, until)
        except TimeoutError:
            self.close(f"it took longer than {seconds:g} s")
        except OSError:
            pass
        raise Ended(self._why())

    def first(self, seconds: float) -> bytes:
        """Return what the process says of itself once it has loaded; raises `Ended`."""
        try:
            return self._answer(bytes(8), time.monotonic() + seconds)
        except TimeoutError:
            self.close(f"loading took longer than {seconds:g} s")
        except OSError:
            pass
        raise Ended(self._why())

    def close(self, reason: str = "it was closed") -> None:
        """Kill it and all its processes; returns when they are gone."""
        self._reason = self._reason or reason
        if self._child is not None:
            self._box.end(self._name, self._child)
        if self._thread is not threading.current_thread():
            self._thread.join(GOES)
            self._stream.close()

    def _answer(self, mark: bytes, until: float) -> bytes:
        """The answer to the request of this mark; raises TimeoutError, and another OSError when there is none."""
        size = int.from_bytes(self._receive(4, until), "big")
        if self._receive(8, until) != mark:
            self.close("it answered what it was not asked")
        elif size > ANSWER:
            self.close(f"it answered with {size} bytes, of {ANSWER} at most")
        if self._reason:
            raise ConnectionError
        return self._receive(size, until)  # whole, though the process may have said it and gone

    def _receive(self, size: int, until: float) -> bytes:
        parts = []
        while size:
            left = until - time.monotonic()
            if left <= 0:
                raise TimeoutError
            self._stream.settimeout(left)
            part = self._stream.recv(min(size, CHUNK))
            if not part:
                raise ConnectionError
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def _why(self) -> str:
        """Why there is no answer, once nothing is left of the process."""
        self._thread.join(EVERY * 5)
        if self._thread.is_alive():
            self.close("it closed what it answers on")
        self._stream.close()
        if self._reason or self._child is None:
            return self._reason or "it could not be started"
        code = self._child.returncode
        number = -code if code < 0 else code - 128
        if number == signal.SIGKILL:
            return "the system killed it, most likely because memory ran out"
        return f"it was ended by signal {number}" if number > 0 else f"it ended with exit status {code}"

    def _live(self) -> None:
        """From start to end, in the thread that bubblewrap's life depends on."""
        source, target = os.pipe()
        try:
            self._child = self._box.start(self._name, self._folder, self._options, self._inner.fileno(), target)
        except (OSError, subprocess.SubprocessError) as error:
            self._reason = f"it could not be started: {error}"
        finally:
            os.close(target)
            self._inner.close()
            self._started.set()
        with os.fdopen(source, "rb", buffering=0) as printed:
            if self._child is not None:
                self._watch(self._child, printed.fileno())
                self._box.end(self._name, self._child)
                self._child.wait()

    def _watch(self, child: subprocess.Popen[bytes], printed: int) -> None:
        """Keeps the log and looks at what is used, until the last process is gone."""
        rest, due = b"", 0.0
        while True:
            if select.select([printed], [], [], EVERY)[0]:
                chunk = os.read(printed, CHUNK)
                if not chunk:
                    break
                *lines, rest = (rest + chunk).split(b"\n")
                rest = rest[:WIDTH]
                self._log.extend(line[:WIDTH].decode(errors="replace") for line in lines[-LINES:])
                time.sleep(REST if len(chunk) == CHUNK else 0)
            if time.monotonic() > due:
                due = time.monotonic() + EVERY
                if told := usage.excess(child.pid, self._options):
                    self._reason = self._reason or told
                    self._box.end(self._name, child)
        if rest:
            self._log.append(rest.decode(errors="replace"))
        with suppress(subprocess.TimeoutExpired):
            child.wait(GOES)
