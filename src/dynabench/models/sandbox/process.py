"""A watched process in a sandbox, and the keeper that starts it again."""

import fcntl
import json
import os
import secrets
import select
import signal
import socket
import subprocess
import sys
import termios
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from dynabench.kit.errors import Invalid, TooLarge, Unavailable
from dynabench.kit.process_memory import process_family, resident_bytes
from dynabench.models.sandbox.box import ANSWER, MIB, REQUEST, Box, HandlerOptions
from dynabench.models.validity import Broken

LIBRARIES = 256 * MIB
"""Bytes of libraries, which processes share with us, that are not counted."""
FILES = 10_000
"""Files under /tmp, each of which costs the kernel memory even when it is empty."""


def excess(pid: int, options: HandlerOptions) -> str:
    """Return what the process and its descendants use too much of; empty while all is well."""
    family = process_family(pid)
    used = sum(map(resident_bytes, family))
    if used > options.memory_mb * MIB + LIBRARIES:
        return f"it ran out of memory: {used // MIB} MiB used, {options.memory_mb} allowed (options.memory_mb)"
    files = max((_count_files(member, options.disk_mb * MIB) for member in family), default=0)
    return f"it made {files} files, of {FILES} at most" if files > FILES else ""


def _count_files(pid: int, size: int) -> int:
    """Count those in the small /tmp; none before the process is in its sandbox, where /tmp is another."""
    try:
        disk = os.statvfs(f"/proc/{pid}/root/tmp")
    except OSError:
        return 0
    return disk.f_files - disk.f_ffree if disk.f_blocks * disk.f_frsize == size else 0


LINES, WIDTH = 200, 500
"""Of the log: how many lines are kept, and how many characters of each."""
CHUNK = 1 << 16
EVERY = 0.1
"""Seconds between two looks at what the processes use."""
REST = 0.005
"""Seconds of not reading after a full chunk, so that a handler that prints without end costs us little."""
GOES = 10.0
"""Seconds that ending may take."""
LOG_SECONDS = 0.5
"""Seconds that an error message waits at most for the log that ends it."""


class Ended(Exception):
    """The process is gone, or had to be; says why."""


class Process:
    """A handler's process. Asked by one thread at a time, closed by any."""

    def __init__(self, box: Box, folder: Path, options: HandlerOptions, log: deque[str]) -> None:
        self._box, self._folder, self._options, self._log = box, folder, options, log
        self._name = f"dynabench-{os.getpid()}-{secrets.token_hex(6)}"
        self._stream, self._inner = socket.socketpair()
        self._child: subprocess.Popen[bytes] | None = None
        self._reason = ""
        self._log_source, self._reads_log = -1, False
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

    def wait_for_log(self) -> None:
        """Wait until the log has all that the process has printed so far, for `LOG_SECONDS` at most."""
        until = time.monotonic() + LOG_SECONDS
        while self._has_unread_log() and time.monotonic() < until:
            time.sleep(0.005)

    def _has_unread_log(self) -> bool:
        try:
            waiting = int.from_bytes(fcntl.ioctl(self._log_source, termios.FIONREAD, bytes(4)), sys.byteorder)
        except (OSError, ValueError):  # the process is gone, and all that it printed was read
            return False
        return waiting > 0 or self._reads_log

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
            seconds = until - time.monotonic()
            if seconds <= 0:
                raise TimeoutError
            self._stream.settimeout(seconds)
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
                self._log_source = printed.fileno()
                self._watch(self._child, printed.fileno())
                self._log_source = -1
                self._box.end(self._name, self._child)
                self._child.wait()

    def _watch(self, child: subprocess.Popen[bytes], printed: int) -> None:
        """Keeps the log and looks at what is used, until the last process is gone."""
        rest, due = b"", 0.0
        while True:
            if select.select([printed], [], [], EVERY)[0]:
                self._reads_log = True
                chunk = os.read(printed, CHUNK)
                if not chunk:
                    break
                *lines, rest = (rest + chunk).split(b"\n")
                rest = rest[:WIDTH]
                self._log.extend(line[:WIDTH].decode(errors="replace") for line in lines[-LINES:])
                self._reads_log = False
                time.sleep(REST if len(chunk) == CHUNK else 0)
            if time.monotonic() > due:
                due = time.monotonic() + EVERY
                if reason := excess(child.pid, self._options):
                    self._reason = self._reason or reason
                    self._box.end(self._name, child)
        if rest:
            self._log.append(rest.decode(errors="replace"))
        self._reads_log = False
        with suppress(subprocess.TimeoutExpired):
            child.wait(GOES)


PAUSES = (0, 0, 1, 2, 4, 8, 16, 32, 60)
"""Seconds before the next start, by how often it has ended since it last answered."""
TRIES = 2
LAST = 10
"""Lines of the log that end a message."""
HANDLER = "handler.py"


class Keeper:
    """One handler, loaded by a class that is asked by any number of threads, one after the other."""

    def __init__(self, name: str, box: Box, folder: Path, options: HandlerOptions) -> None:
        self._name, self._box, self._folder, self._options = name, box, folder, options
        self._log: deque[str] = deque(maxlen=LINES)
        self._turn = threading.Lock()
        self._process: Process | None = None
        self._ended, self._next, self._reason = 0, 0.0, ""
        self._closed = False

    def load(self) -> None:
        """Start it; raises `Invalid` with what is wrong with the handler and the end of its log."""
        with self._turn:
            try:
                self._start()
            except (Ended, Broken) as failed:
                self.close()
                raise Invalid({HANDLER: self._describe_reason(str(failed))}) from failed

    def predict(self, batch: Sequence[Mapping[str, Any]]) -> Any:
        """Return the handler's answer to a batch.

        Raises `Broken` for an error of the handler's code, `Unavailable` where the handler ended twice.
        """
        request = json.dumps(list(batch)).encode()
        if len(request) > REQUEST:
            raise TooLarge(f"A batch for {self._name} may have {REQUEST} bytes.")
        with self._turn:
            for _ in range(TRIES):
                try:
                    return self._ask(request)
                except Ended as ended:
                    self._count(str(ended))
                except Broken as broken:
                    if self._process is not None:
                        self._process.wait_for_log()
                    raise Broken(self._describe_reason(broken.detail)) from broken
        raise Unavailable(self._describe_reason(self._reason), retry_after=max(1, round(self._next - time.monotonic())))

    def log(self) -> list[str]:
        """The last lines that the handler printed, over all its starts."""
        return list(self._log)

    def close(self) -> None:
        """End it for good."""
        self._closed = True
        if self._process is not None:
            self._process.close()

    def _ask(self, request: bytes) -> Any:
        process = self._process if self._process is not None and self._process.alive else self._start()
        answer = content(process.ask(request, self._options.predict_seconds))
        self._ended = 0
        return answer

    def _start(self) -> Process:
        """Start and load; raises `Ended`, `Unavailable` while a pause lasts, `Broken` when the handler cannot load."""
        seconds = self._next - time.monotonic()
        if self._closed or seconds > 0:
            when = "was unloaded" if self._closed else f"ended {self._ended} times and starts again in {seconds:.0f} s"
            raise Unavailable(
                self._describe_reason(f"it {when}; last time {self._reason}"), retry_after=max(1, round(seconds))
            )
        if self._process is not None:
            self._process.close()
            self._log.append("-- started again --")
        self._process = Process(self._box, self._folder, self._options, self._log)
        if self._closed:  # meanwhile, so that the closer saw another process, or none
            self._process.close()
        content(self._process.first(self._options.load_seconds))
        return self._process

    def _count(self, reason: str) -> None:
        if self._process is not None:
            self._process.close()
        self._reason = reason
        self._ended += 1
        self._next = time.monotonic() + PAUSES[min(self._ended, len(PAUSES) - 1)]

    def _describe_reason(self, reason: str) -> str:
        """The reason, with the end of the log."""
        last = "\n".join(list(self._log)[-LAST:])
        return f"{self._name}: {reason}".rstrip(". \n") + (f". The end of its log:\n{last}" if last else ".")


def content(raw: bytes) -> Any:
    """Return the handler's answer, checked to be text that can be stored.

    Raises `Broken` with the error of the handler's code, and `Ended` where the process must end since it
    answers nonsense.
    """
    try:
        document = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise Ended(f"it answered what is no JSON: {error}") from error
    if not isinstance(document, dict) or not ("ok" in document or isinstance(document.get("error"), str)):
        raise Ended("it answered what is neither an answer nor an error")
    if "ok" not in document:
        raise Broken(f"its code failed. {document.get('trace') or document['error']}")
    try:
        json.dumps(document["ok"], ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise Broken(f"it answered with text that is no Unicode: {error}") from error
    return document["ok"]
