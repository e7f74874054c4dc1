"""Limits and options of a sandbox, and what a program in it uses."""

import json
import os
import secrets
import subprocess
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Protocol

from pydantic import BaseModel, ConfigDict, Field

from dynabench.evaluate.program_sandbox import NOBODY
from dynabench.kit.errors import Invalid
from dynabench.kit.settings import Settings

MIB = 2**20
REQUEST = 64 * MIB
"""Bytes of a batch as JSON."""
ANSWER = 16 * MIB
"""Bytes of what is answered to it."""


class HandlerOptions(BaseModel):
    """The settings that `model.yaml` may have under `options` of a handler."""

    model_config = ConfigDict(extra="forbid")

    memory_mb: int = Field(2048, ge=64, description="MiB of memory, all its processes together.")
    disk_mb: int = Field(64, ge=1, description="MiB that it may write, all under /tmp and in memory.")
    processors: int = Field(1, ge=1, description="Processor cores.")
    processes: int = Field(64, ge=1, description="Processes and threads at the same time.")
    open_files: int = Field(256, ge=16, le=4096, description="Files that one process may have open.")
    predict_seconds: float = Field(10.0, gt=0, description="How long one call of `predict` may take.")
    load_seconds: float = Field(60.0, gt=0, description="How long importing the handler and loading may take.")


CEILINGS = ("memory_mb", "disk_mb", "processors", "processes", "predict_seconds", "load_seconds")


def allowed(options: HandlerOptions, settings: Settings) -> HandlerOptions:
    """The options, if the operator's ceilings `DYNABENCH_HANDLER_*` allow them; raises `Invalid` by option."""
    wrong = {}
    for name in CEILINGS:
        most = getattr(settings, f"handler_{name}")
        if getattr(options, name) > most:
            wrong[f"options.{name}"] = f"This platform allows up to {most:g}; ask its operator or need less."
    if wrong:
        raise Invalid(wrong)
    return options


HOME = "/model"
"""Where a handler finds its folder."""
PACKAGES = "/packages"
"""Where code finds the packages that it may import besides those of this Python."""
UNVERSIONED = "README.md"
"""Hidden from the handler, for what it answers must depend on nothing that its version does not cover."""
STRANGERS = range(2_000_000_000, 2_100_000_000)
"""Users above those that machines and containers give out."""


class Box(Protocol):
    """A way of confining a process."""

    def start(self, name: str, folder: Path, options: HandlerOptions, stream: int, log: int) -> subprocess.Popen[bytes]:
        """Start the handler in `folder`, with requests and answers on `stream`; raises OSError."""
        ...

    def end(self, name: str, process: subprocess.Popen[bytes]) -> None:
        """Kill everything in it; may be called twice."""
        ...


def python(options: HandlerOptions) -> list[str]:
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


def environment(options: HandlerOptions) -> dict[str, str]:
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


def package_mounts(packages: Iterable[Path]) -> list[tuple[str, str]]:
    """Return the folders of packages, each with its place in the sandbox."""
    return [(str(path.resolve()), f"{PACKAGES}/{path.name}") for path in packages]


def started_by_root() -> bool:
    """Return whether this process runs as root; handlers must then read their folder as another user."""
    return os.getuid() == 0


@cache
def _inside() -> str:
    return Path(__file__).with_name("inside.py").read_text(encoding="utf-8")
