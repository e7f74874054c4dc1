"""Runs one handler within limits. `process.py` gives this file's text to a Python in the sandbox; nothing imports it.

Requests come through standard input, answers go to standard output, each as four bytes of length (big endian), eight
that an answer has from its request, and JSON. What the handler prints goes to standard error. The limits are the first
argument.
"""

import contextlib
import ctypes
import importlib
import json
import os
import resource
import sys
import traceback
from collections.abc import Callable
from typing import Any

HOME = "/model"
DUMPABLE, NO_NEW_PRIVILEGES = 4, 38  # prctl(2)
LIBRARIES = 4 << 30  # bytes of address space for mapped libraries and weights, which cost memory only when read
LONGEST_ERROR = 4000  # characters of an error


def leave_root(users: list[int]) -> None:
    """Becomes the first of these users that this machine knows: limits on processes do not hold for root."""
    library = ctypes.CDLL(None)
    library.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    if os.getuid() != 0:
        return
    os.setgroups([])
    for user in users:
        with contextlib.suppress(OSError):
            os.setresgid(user, user, user)
            os.setresuid(user, user, user)
            break
    if 0 in (*os.getresuid(), *os.getresgid()):
        sys.exit("root cannot become an ordinary user here")
    library.prctl(DUMPABLE, 1, 0, 0, 0)  # lets the process see its own /proc/self


def limit(limits: dict[str, int]) -> None:
    """Memory, processes and threads, open files, size of a file; of each process, and for good."""
    for kind, most in (
        (resource.RLIMIT_DATA, limits["memory"]),
        (resource.RLIMIT_AS, limits["memory"] + LIBRARIES),
        (resource.RLIMIT_FSIZE, limits["disk"]),
        (resource.RLIMIT_NOFILE, limits["files"]),
        (resource.RLIMIT_NPROC, limits["processes"]),
        (resource.RLIMIT_MEMLOCK, 0),
        (resource.RLIMIT_MSGQUEUE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard_limit = resource.getrlimit(kind)
        # the limit of the process that started this one holds for good
        bound = most if hard_limit == resource.RLIM_INFINITY else min(most, hard_limit)
        resource.setrlimit(kind, (bound, bound))


def plain(value: Any) -> Any:
    """Numbers and arrays of numpy, torch and the like as numbers and lists."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"predict returned a {type(value).__name__}, which is no value of JSON")


def problem(error: BaseException) -> dict[str, str]:
    """Return the report of an error: its kind, its message and the place in the handler."""
    frame = error.__traceback__
    while frame and not frame.tb_frame.f_code.co_filename.startswith(HOME):
        frame = frame.tb_next
    lines = "".join(traceback.format_exception(type(error), error, frame))
    return {
        "error": f"{type(error).__name__}: {error}".removesuffix(": ")[:LONGEST_ERROR],
        "trace": lines[-LONGEST_ERROR:],
    }


def answered(ask: Callable[[], Any]) -> bytes:
    """Return the result of a call of the handler, or its error, as JSON."""
    try:
        answer = ask()
        return json.dumps({"ok": answer}, default=plain).encode()
    except BaseException as error:
        return json.dumps(problem(error)).encode()


def read(source: int, size: int) -> bytes:
    """So many bytes; ends the process where no more are to come."""
    parts = []
    while size:
        part = os.read(source, min(size, 1 << 20))
        if not part:
            os._exit(0)
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def write(target: int, mark: bytes, content: bytes) -> None:
    """All of it, after its length and the mark of its request."""
    rest = memoryview(len(content).to_bytes(4, "big") + mark + content)
    while rest:
        rest = rest[os.write(target, rest) :]


def own_streams() -> tuple[int, int]:
    """Return the streams that requests come from and answers go to.

    From then on prints go to the log, and nothing is read by accident.
    """
    requests, answers = os.dup(0), os.dup(1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    return requests, answers


def main() -> None:
    """See the module."""
    limits = json.loads(sys.argv.pop())
    requests, answers = own_streams()
    leave_root(limits["users"])
    limit(limits)
    os.chdir("/tmp")  # noqa: S108 - inside
    sys.path.insert(0, HOME)
    model: list[Any] = []

    def load() -> str:
        model.append(importlib.import_module("handler").Model(HOME))
        return "loaded"

    write(answers, bytes(8), answered(load))
    while model:
        size, mark = int.from_bytes(read(requests, 4), "big"), read(requests, 8)
        batch = json.loads(read(requests, size))
        write(answers, mark, answered(lambda batch=batch: model[0].predict(batch)))  # type: ignore[misc]


if __name__ == "__main__":
    main()
