"""A process that computes modules for the web process: each request in a child of its own, with hard limits.

It imports what modules need once, then forks for each connection to its listening socket: a child starts in
milliseconds, computes one request and ends; all effects on memory and time end with it.
"""

import contextlib
import importlib
import json
import os
import resource
import select
import signal
import socket
import sys
import traceback
from pathlib import Path
from typing import Any

MAX_MEMORY = 2 << 30
PATTERNS, PATTERN_SECONDS = "regexes_to_ignore", 1
"""The option that takes regular expressions, and seconds of the processor for a request that has it: a hostile one
takes as long as it is given, an honest one milliseconds."""
PRELOADED = ("scipy.stats", "rapidfuzz.distance", "sacrebleu", "nltk.tokenize")
READABLE = tuple({f"{Path(part).resolve()}{os.sep}" for part in (sys.prefix, sys.base_prefix, *sys.path) if part})
REFUSED_EVENTS = (
    *("socket.", "subprocess.", "os.system", "os.exec", "os.posix_spawn", "os.fork", "os.kill", "os.remove"),
    *("os.rename", "os.mkdir", "os.rmdir", "os.link", "os.symlink", "shutil.", "urllib.", "ctypes.dlopen"),
)


def serve(listener: socket.socket, seconds: int) -> None:
    """Answer connections until standard input ends, which means that the web process has ended."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    preload()
    with contextlib.suppress(OSError):
        while sys.stdin not in select.select([listener, sys.stdin], [], [])[0]:
            connection, _ = listener.accept()
            if os.fork() == 0:
                listener.close()
                _answer(connection, seconds)
            connection.close()


def preload() -> None:
    """Import everything that requests are likely to need: children share it."""
    from dynabench.site.cards import library

    library.all_entries()
    for name in PRELOADED:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)


def _answer(connection: socket.socket, seconds: int) -> None:
    """One request, in a child that never returns."""
    try:
        limit_process(seconds)
        with connection.makefile("rb") as incoming:
            request = json.loads(incoming.read())
        if PATTERNS in request["options"]:
            resource.setrlimit(resource.RLIMIT_CPU, (PATTERN_SECONDS, PATTERN_SECONDS))
        sys.addaudithook(_guard)
        answer = compute_request(**request)
        connection.sendall(json.dumps(answer, allow_nan=False).encode())
    finally:
        os._exit(0)


def limit_process(seconds: int) -> None:
    """Limit the process to so many seconds, of wall clock and processor, and to `MAX_MEMORY`.

    Nothing may be written.
    """
    signal.setitimer(signal.ITIMER_REAL, seconds)
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _guard(event: str, arguments: tuple[Any, ...]) -> None:
    """A second protection: modules read nothing but installed code, open no connection and start nothing."""
    if event.startswith(REFUSED_EVENTS):
        raise PermissionError(f"{event} is not allowed here")
    if event == "open" and isinstance(arguments[0], str | bytes):
        path = os.path.realpath(os.fsdecode(arguments[0]))
        if not path.startswith(READABLE) or (isinstance(arguments[1], str) and set(arguments[1]) & set("wax+")):
            raise PermissionError("reading and writing files is not allowed here")


def compute_request(
    kind: str,
    name: str,
    config: str | None,
    columns: dict[str, Any],
    options: dict[str, Any],
    extra: dict[str, Any],
    scores: bool = False,
) -> dict[str, Any]:
    """Return `result` of `compute`; or `error`, a message for the person; or `trouble`, the traceback of a bug.

    With `scores` the scores of each row come with the result, where rows have any.
    """
    from dynabench.site.cards import library

    module = library.find_entry(kind, name).module(config)
    try:
        if scores:
            with contextlib.suppress(ValueError, TypeError):
                return {"result": module.compute(**{**columns, **options, **extra, "per_example": True})}
        return {"result": module.compute(**{**columns, **options, **extra})}
    except ValueError as error:
        return {"error": str(error)}
    except (MemoryError, RecursionError):
        return {"error": "this needs more memory than is allowed here; give fewer or shorter rows"}
    except PermissionError:
        return {"error": f"{name} wanted to read or start something, which is not allowed here"}
    except Exception:
        return {"trouble": traceback.format_exc()}


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])), int(sys.argv[2]))
