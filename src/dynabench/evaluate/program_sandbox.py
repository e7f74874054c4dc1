"""Running programs that models wrote, confined and with limits.

Source: bubblewrap, https://github.com/containers/bubblewrap, and its manual page bwrap(1).

Where bubblewrap works the process sees no network, no other process and of the file system only Python and a
folder of its own. Elsewhere it leaves the network if the kernel allows it, but reads what its user may read,
and writes and ends what that user may; started by root that user is nobody. It can start no process and no
thread, and its time, memory and files are limited. This stops accidents and most mischief; against an
attacker who knows holes of the kernel only a machine that can be thrown away helps.
"""

import json
import math
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

SYSTEM = ("/usr", "/bin", "/lib", "/lib64", "/etc/alternatives", "/etc/ld.so.cache", "/etc/localtime")
OWN = ("--proc", "/proc", "--dev", "/dev")
NOBODY = 65534


def readable_paths() -> list[str]:
    """Folders and files that hold the interpreter of this process and all libraries that it can import."""
    python = (sys.base_prefix, sys.prefix, str(Path(sys.executable).resolve().parents[1]))
    return list(dict.fromkeys((*SYSTEM, *python)))


def bubblewrap_command(*scratch: str) -> tuple[str, ...] | None:
    """Return the beginning of the command, or None without bubblewrap: what is unshared, what can be read.

    `scratch` are the options that make a writable /tmp; they come before the readable paths, since an environment
    of Python may lie below /tmp itself. Further options follow, and then Python's command. Started by root the
    process begins as root, without a user namespace, for in one it would stay root and have no limit of
    processes: it must leave root itself.
    """
    executable = shutil.which("bwrap")
    if executable is None:
        return None
    above = dict.fromkeys(str(folder) for place in readable_paths() for folder in reversed(Path(place).parents[:-1]))
    folders = [part for folder in above for part in ("--perms", "0755", "--dir", folder)]  # else for root alone
    read_only = [part for place in readable_paths() for part in ("--ro-bind-try", place, place)]
    unshare = "--unshare-net --unshare-pid --unshare-ipc --unshare-uts" if os.getuid() == 0 else "--unshare-all"
    return (executable, *unshare.split(), "--die-with-parent", "--new-session", *scratch, *folders, *read_only, *OWN)


GRACE = 5.0  # seconds that starting Python may take on a busy machine, and that a program may resist its alarm
TIME_SIGNALS = (signal.SIGALRM, signal.SIGXCPU)
ENDED_EARLY = "failed: it ended before its end was reached"
WEAK_SECONDS = 60.0  # for which an answer without bubblewrap is kept


@dataclass(frozen=True)
class ProgramLimits:
    """Of one program: seconds of time, bytes of memory, bytes of each file."""

    seconds: float = 3.0
    memory: int = 1 << 30
    file: int = 1 << 20


@dataclass(frozen=True)
class _Confinement:
    """A command that a harmless program passed in, and until when (monotonic clock) that is believed."""

    command: tuple[str, ...]
    until: float


_trusted: list[_Confinement] = []
_TRYING = threading.Lock()


def run_programs(programs: Sequence[str], limits: ProgramLimits, workers: int = 4) -> list[str]:
    """Run all programs, `workers` at once, and return for each "passed", "timed out" or "failed: " and the reason.

    Raises ValueError where programs cannot be confined here.
    """
    command = confinement_command()
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(lambda program: run_program(program, limits, command), programs))


def confinement_command() -> tuple[str, ...]:
    """Return the prefix of Python's command: bubblewrap's, or nothing where it is missing or does not work.

    The answer without bubblewrap is kept for a minute only, as the trial may have failed on a busy machine.
    Raises ValueError where not even a harmless program passes.
    """
    if os.name != "posix":
        raise ValueError("programs can be confined on Linux and macOS only; run this there or in a container")
    with _TRYING:
        if not _trusted or time.monotonic() >= _trusted[-1].until:
            _trusted[:] = [_try_confinements()]
        return _trusted[0].command


def _try_confinements() -> _Confinement:
    """Return the first confinement in which a harmless program passes; raises ValueError where there is none."""
    for command in (_bubblewrap(), ()):
        if command is not None and run_program("import json, math", ProgramLimits(30), command) == "passed":
            return _Confinement(command, math.inf if command else time.monotonic() + WEAK_SECONDS)
    raise ValueError(f"a harmless program did not pass: {run_program('import json, math', ProgramLimits(30), ())}")


def run_program(program: str, limits: ProgramLimits, command: Sequence[str] = ()) -> str:
    """Run one program and return its outcome; see `run_programs`."""
    word = secrets.token_hex(16)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, tempfile.TemporaryFile() as report:
        if os.getuid() == 0:
            _give_to_nobody(folder)
        with subprocess.Popen(
            [*command, sys.executable, "-I", "-B", "-c", _source(), json.dumps(vars(limits))],
            stdin=subprocess.PIPE,
            stdout=report,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            env={"PATH": "/usr/bin:/bin", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
            start_new_session=True,
        ) as process:
            try:
                process.communicate(f"{word}\n{program}".encode(errors="surrogatepass"), limits.seconds + GRACE)
            except subprocess.TimeoutExpired:
                return "timed out"
            finally:
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(process.pid, signal.SIGKILL)
        report.seek(0)
        return _outcome(report.read(8192).decode(errors="replace"), word, process.returncode)


def _give_to_nobody(folder: str) -> None:
    """The folder belongs to nobody, whom the process becomes."""
    try:
        os.chown(folder, NOBODY, NOBODY)
    except OSError:
        message = "root cannot become an ordinary user here, so programs cannot be confined; run this as one"
        raise ValueError(message) from None


def _outcome(report: str, word: str, code: int) -> str:
    _, word_seen, outcome = report.rpartition(f"{word} ")
    if word_seen:
        return outcome
    if any(code in (-number, 128 + number) for number in TIME_SIGNALS):  # bubblewrap adds 128 instead of a sign
        return "timed out"
    return f"failed: ended by signal {abs(code) % 128}" if code < 0 or code > 128 else ENDED_EARLY


@cache
def _source() -> str:
    return Path(__file__).with_name("confined_program.py").read_text(encoding="utf-8")


def _bubblewrap() -> tuple[str, ...] | None:
    """Bubblewrap's command, or None without it: Python and its libraries to read, an empty folder to write."""
    start = bubblewrap_command("--tmpfs", "/tmp")  # noqa: S108 - inside
    return None if start is None else (*start, *"--perms 0777 --dir /tmp/own --chdir /tmp/own".split())
