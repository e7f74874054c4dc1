"""The interface of a sandbox, and the environment that every sandbox gives the Python inside."""

import json
import os
import secrets
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Protocol

from dynabench.evaluate.programs.sandbox import NOBODY
from dynabench.models.sandbox.limits import MIB, Options

HOME = "/model"
"""Where a handler finds its folder."""
UNVERSIONED = "README.md"
"""Hidden from the handler, for what it answers must depend on nothing that its version does not cover."""
STRANGERS = range(2_000_000_000, 2_100_000_000)
"""Users above those that machines and containers give out."""


class Box(Protocol):
    """A way of confining a process."""

    def start(self, name: str, folder: Path, options: Options, stream: int, log: int) -> subprocess.Popen[bytes]:
        """Start the handler in `folder`, with requests and answers on `stream`; raises OSError."""
        ...

    def end(self, name: str, process: subprocess.Popen[bytes]) -> None:
        """Kill everything in it; may be called twice."""
        ...


def python(options: Options) -> list[str]:
    """The command inside: this Python, the text of `inside.py` and the limits.

    As root each handler becomes a user of its own, since the number of processes is counted by user; one that nobody
    else is, or, where that is not known here, nobody.
    """
    limits = {
        "memory": options.memory_mb * MIB,
        "disk": options.disk_mb * MIB,
        "files": options.open_files,
        "processes": options.processes,
        "users": [secrets.choice(STRANGERS), NOBODY],
    }
    return [sys.executable, "-I", "-B", "-u", "-c", _inside(), json.dumps(limits)]


def environment(options: Options) -> dict[str, str]:
    """All that a handler learns of the environment."""
    threads = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    return {
        "PATH": "/usr/bin:/bin",
        "HOME": "/tmp",  # noqa: S108 - inside
        "TMPDIR": "/tmp",  # noqa: S108 - inside
        "USER": "handler",
        "LANG": "C.UTF-8",
        **{name: str(options.processors) for name in threads},
        "OMP_WAIT_POLICY": "passive",
        "TOKENIZERS_PARALLELISM": "false",
        "HF_HUB_OFFLINE": "1",
    }


def started_by_root() -> bool:
    """Return whether this process runs as root; handlers must then read their folder as another user."""
    return os.getuid() == 0


@cache
def _inside() -> str:
    return Path(__file__).with_name("inside.py").read_text(encoding="utf-8")
