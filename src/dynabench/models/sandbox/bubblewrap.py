"""Handlers in bubblewrap: namespaces of their own, the folder to read, a small /tmp, and a filter of system calls."""

import os
import random
import signal
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path

from dynabench.evaluate.programs import sandbox
from dynabench.models.sandbox import box, calls
from dynabench.models.sandbox.limits import MIB, Options

PROCESSORS = "/sys/devices/system/cpu"
"""What libraries that compute read to know the processor."""


class Bubblewrap:
    """A `Box` of bubblewrap 0.7 or newer; called from a thread that lives as long as the process does.

    Bubblewrap dies with the thread that started it, and the processors of that thread are those of the handler.
    """

    def start(self, name: str, folder: Path, options: Options, stream: int, log: int) -> subprocess.Popen[bytes]:
        """See `Box.start`."""
        available = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, random.sample(available, min(options.processors, len(available))))
        with tempfile.TemporaryFile() as filtering:
            filtering.write(calls.program())
            filtering.seek(0)
            number = filtering.fileno()
            return subprocess.Popen(
                [*self._command(folder, options), "--seccomp", str(number), "--", *box.python(options)],
                stdin=stream,
                stdout=stream,
                stderr=log,
                env=box.environment(options),
                pass_fds=(number,),
                start_new_session=True,
            )

    def end(self, name: str, process: subprocess.Popen[bytes]) -> None:
        """See `Box.end`: the namespace of processes ends with bubblewrap, and all that is in it."""
        with suppress(ProcessLookupError, PermissionError):
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)

    def _command(self, folder: Path, options: Options) -> list[str]:
        size = str(options.disk_mb * MIB)
        start = sandbox.bubblewrap_command("--perms", "1777", "--size", size, "--tmpfs", "/tmp")  # noqa: S108 - inside
        if start is None:
            raise FileNotFoundError("bwrap is not installed")
        # Where all runs as one user, a first process of bubblewrap's own could be taken over, which no limit binds.
        alone = () if box.started_by_root() else ("--as-pid-1",)
        hidden = ["--ro-bind", "/dev/null", f"{box.HOME}/{box.UNVERSIONED}"]
        return [
            *start,
            *alone,
            *("--ro-bind-try", PROCESSORS, PROCESSORS, "--ro-bind", str(folder.resolve()), box.HOME),
            *(hidden if (folder / box.UNVERSIONED).is_file() else ()),
            *("--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/"),
        ]
