"""A child process with limits: a Python module that exchanges messages with its parent, watched for time and memory.

A message is its length in 4 bytes, big-endian, and JSON. The parent uses `ChildProcess`, the child `ParentChannel`.
Whatever the child prints goes into its log. It ends when its parent is gone, also in the middle of its work.
"""

import json
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, Any, Self

import orjson

from dynabench.kit.language import _
from dynabench.kit.process_memory import MIB, family_bytes, is_out_of_memory

LOG_LINES, LINE_LENGTH = 200, 500
"""Lines of the log that are kept, and characters of each."""
POLL_SECONDS = 0.25
"""Between two looks at the memory, and between two calls of `tick`."""
PARENT_SECONDS = 0.5
"""Between two looks of the child at whether its parent lives."""
PARENT = "DYNABENCH_PARENT"
"""Names the parent's number to the child, which may come up when its parent is gone already."""
MAX_MESSAGE = 2**30
"""Bytes of a message."""


class MessageTooLarge(Exception):
    """A child announced a message of `size` bytes, which is more than its parent takes."""

    def __init__(self, size: int, most: int) -> None:
        super().__init__(f"{size} bytes, of {most} at most")
        self.size, self.most = size, most


@dataclass(frozen=True)
class Death:
    """The reason why a child ended by itself: `code` is `out_of_memory` or `crashed`, `reason` a sentence."""

    code: str
    reason: str


class ChildProcess:
    """A child that runs `python -m module arguments`, in a session of its own. Used by one thread at a time.

    It is killed once it and its descendants hold more than `memory` bytes. `peak` is the most that they held.
    """

    def __init__(self, module: str, *arguments: str, memory: int, env: Mapping[str, str] | None = None) -> None:
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True,
            env={**os.environ, **(env or {}), PARENT: str(os.getpid())},
        )  # fmt: skip
        self._memory, self._excess = memory, 0
        self._log: deque[str] = deque(maxlen=LOG_LINES)
        self.peak = 0
        self._reader = threading.Thread(target=self._read_log, daemon=True)
        self._reader.start()
        threading.Thread(target=self._watch_memory, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.end()

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    @property
    def log(self) -> list[str]:
        """The last lines that the child printed."""
        return list(self._log)

    def send(self, message: Mapping[str, Any]) -> None:
        """Send a message; raises OSError where the child has ended."""
        assert self._process.stdin is not None
        if self._process.stdin.closed:
            raise BrokenPipeError
        write_message(self._process.stdin, message)

    def receive(self, until: float, tick: Callable[[], None], most: int = MAX_MESSAGE) -> Any:
        """Return the child's next message, of `most` bytes.

        `tick` is called every moment while the child works, and may raise. Raises TimeoutError at `until` of
        `time.monotonic()`, EOFError where the child has ended, and `MessageTooLarge`.
        """
        size = int.from_bytes(self._read(4, until, tick), "big")
        if size > most:
            raise MessageTooLarge(size, most)
        return _unpack(self._read(size, until, tick))

    def death(self) -> Death:
        """Return why the child ended; it is given five seconds to do so after it closed its output."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(5)
        self.end()
        status = self._process.returncode
        if self._excess:
            used, memory = f"{self._excess / MIB:,.0f}", f"{self._memory / MIB:,.0f}"
            message = _(
                "The process used %(used)s MiB of memory; the limit is %(memory)s MiB.", used=used, memory=memory
            )
            return Death("out_of_memory", message)
        if status == -signal.SIGKILL:
            return Death("out_of_memory", _("The system killed the process, most likely for lack of memory."))
        if status == -signal.SIGABRT and is_out_of_memory("\n".join(self._log)):
            return Death("out_of_memory", _("The process asked for more memory than its limit."))
        if status < 0:
            name = signal.strsignal(-status) or str(-status)
            return Death("crashed", _("The process crashed (%(name)s); see the log for details.", name=name))
        message = _("The process ended early with status %(status)s; see the log for details.", status=status)
        return Death("crashed", message)

    def end(self) -> None:
        """Kill the child and all that it started in its session."""
        self._kill()
        self._process.wait()
        self._reader.join(5)  # the log's last lines
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with suppress(BrokenPipeError):  # nobody is there any more for what was not sent yet
                    stream.close()

    def _kill(self) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def _read(self, size: int, until: float, tick: Callable[[], None]) -> bytes:
        assert self._process.stdout is not None
        source, parts, due = self._process.stdout.fileno(), [], 0.0
        while size:
            now = time.monotonic()
            if now > until:
                raise TimeoutError
            if now >= due:
                tick()
                due = now + POLL_SECONDS
            if not select.select([source], [], [], POLL_SECONDS)[0]:
                continue
            part = os.read(source, min(size, 1 << 20))
            if not part:
                raise EOFError
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def _watch_memory(self) -> None:
        while self._process.poll() is None:
            used = family_bytes(self._process.pid) or 0
            self.peak = max(self.peak, used)
            if used > self._memory:
                self._excess = used
                self._kill()
                return
            time.sleep(POLL_SECONDS)

    def _read_log(self) -> None:
        assert self._process.stderr is not None
        with self._process.stderr as stream:
            while line := stream.readline(4096):
                text = line.decode("utf-8", "replace").rstrip()[:LINE_LENGTH]
                self._log.append("".join(letter for letter in text if letter.isprintable() or letter == "\t"))


class ParentChannel:
    """The child's side: messages of the parent from standard input, answers on what was standard output.

    Opening it sends whatever is printed from then on to the log.
    """

    def __init__(self) -> None:
        self._requests, self._answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
        os.dup2(2, 1)
        parent = int(os.environ.pop(PARENT, "") or os.getppid())
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()

    def send(self, message: Mapping[str, Any]) -> None:
        """Send a message to the parent."""
        write_message(self._answers, message)

    def receive(self) -> Any:
        """Return the parent's next message; None once it sends no more."""
        return read_message(self._requests)


def write_message(stream: IO[bytes], message: Mapping[str, Any]) -> None:
    """Write one message."""
    packed = _pack(message)
    stream.write(len(packed).to_bytes(4, "big") + packed)
    stream.flush()


def read_message(stream: IO[bytes]) -> Any:
    """Return the next message; None at the end of the stream."""
    head = stream.read(4)
    return _unpack(stream.read(int.from_bytes(head, "big"))) if len(head) == 4 else None


def _pack(message: Mapping[str, Any]) -> bytes:
    try:
        return orjson.dumps(message, default=str, option=orjson.OPT_NON_STR_KEYS)
    except TypeError:  # half of a surrogate pair, say, which models do write
        return json.dumps(message, default=str).encode()


def _unpack(packed: bytes) -> Any:
    try:
        return orjson.loads(packed)
    except orjson.JSONDecodeError:
        return json.loads(packed)


def _end_with(parent: int) -> None:
    """End this process once its parent is gone."""
    while os.getppid() == parent:
        time.sleep(PARENT_SECONDS)
    os._exit(1)
