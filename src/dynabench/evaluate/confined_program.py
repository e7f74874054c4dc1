"""Runs one program within limits. `program_sandbox.py` starts this file in a process of its own; nothing imports it.

The program comes through standard input, the limits as the first argument. The outcome goes to standard output,
after a secret word that the program does not know, so that ending early, or printing, cannot pass for success.
"""

import contextlib
import ctypes
import json
import os
import resource
import signal
import sys
import types
from pathlib import Path
from typing import Any

NEW_NETWORK, NEW_USER = 0x40000000, 0x10000000  # unshare(2)
DUMPABLE, NO_NEW_PRIVILEGES = 4, 38  # prctl(2)
NOBODY = 65534


def leave_network(library: ctypes.CDLL) -> None:
    """Move into an empty network where the kernel allows it; bubblewrap has done so where it is in use."""
    if sys.platform == "linux":
        library.unshare(NEW_NETWORK if os.getuid() == 0 else NEW_NETWORK | NEW_USER)


def leave_root(library: ctypes.CDLL) -> None:
    """Become the user nobody: limits on processes do not hold for root, and its files are not the program's."""
    if os.getuid() == 0:
        # Python may lie where nobody else may look; what is open already stays within reach through /proc/self/fd.
        held = {path: os.open(path, os.O_RDONLY | os.O_DIRECTORY) for path in sys.path if Path(path).is_dir()}
        move_imports({path: f"/proc/self/fd/{number}" for path, number in held.items()})
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
        if sys.platform == "linux":
            library.prctl(DUMPABLE, 1, 0, 0, 0)  # gives this process its own /proc/self/fd back
    if sys.platform == "linux":
        library.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)


def move_imports(places: dict[str, str]) -> None:
    """Import from the new places instead of the old ones, also in packages that are imported already."""
    sys.path[:] = places.values()
    sys.path_importer_cache.clear()
    for module in list(sys.modules.values()):
        for old, new in places.items():
            if hasattr(module, "__path__"):
                module.__path__ = [path.replace(f"{old}/", f"{new}/", 1) for path in module.__path__]


def set_limits(limits: dict[str, Any]) -> None:
    """Limit processor time, memory, size and number of files; allow no further process and no thread."""
    seconds = int(limits["seconds"]) + 1
    for kind, most, last in (
        (resource.RLIMIT_CPU, seconds, seconds + 1),
        (resource.RLIMIT_AS, int(limits["memory"]), int(limits["memory"])),
        (resource.RLIMIT_FSIZE, int(limits["file"]), int(limits["file"])),
        (resource.RLIMIT_NOFILE, 64, 64),
        (resource.RLIMIT_NPROC, 0, 0),
        (resource.RLIMIT_CORE, 0, 0),
    ):
        with contextlib.suppress(ValueError, OSError):  # macOS knows no limit of memory
            resource.setrlimit(kind, (most, last))
    signal.setitimer(signal.ITIMER_REAL, float(limits["seconds"]))


def main() -> None:
    """Run the program of standard input and write its outcome."""
    limits = json.loads(sys.argv.pop())
    word, _, program = sys.stdin.read().partition("\n")
    report = os.dup(1)
    for stream in (0, 1, 2):
        os.dup2(os.open(os.devnull, os.O_RDWR), stream)
    library = ctypes.CDLL(None)
    leave_network(library)
    leave_root(library)
    set_limits(limits)
    module = sys.modules["program"] = types.ModuleType("program")
    try:
        exec(compile(program, "program.py", "exec"), vars(module))  # noqa: S102 - what this file is for
        outcome = "passed"
    except BaseException as problem:
        outcome = f"failed: {type(problem).__name__}: {problem}".removesuffix(": ")[:1000]
    signal.setitimer(signal.ITIMER_REAL, 0)
    os.write(report, f"{word} {outcome}".encode(errors="replace"))
    os._exit(0)


if __name__ == "__main__":
    main()
