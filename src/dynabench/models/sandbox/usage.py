"""What a process and all that came of it use: memory by /proc, files by the sandbox's own /tmp. Source: proc(5)."""

import os
from contextlib import suppress
from pathlib import Path

from dynabench.models.sandbox.limits import MIB, Options

PAGE = os.sysconf("SC_PAGE_SIZE")
LIBRARIES = 256 * MIB
"""Bytes of libraries, which processes share with us, that are not counted."""
FILES = 10_000
"""Files under /tmp, each of which costs the kernel memory even when it is empty."""


def excess(pid: int, options: Options) -> str:
    """What the process and its descendants use too much of; empty while all is well."""
    found = family(pid)
    used = sum(resident(one) for one in found)
    if used > options.memory_mb * MIB + LIBRARIES:
        return f"it ran out of memory: {used // MIB} MiB used, {options.memory_mb} allowed (options.memory_mb)"
    files = max((_files(one, options.disk_mb * MIB) for one in found), default=0)
    return f"it made {files} files, of {FILES} at most" if files > FILES else ""


def family(pid: int) -> list[int]:
    """The process and its descendants, parents first."""
    found = [pid]
    for one in found:
        with suppress(OSError, ValueError):
            for task in Path(f"/proc/{one}/task").iterdir():
                found += map(int, (task / "children").read_text().split())
    return found


def resident(pid: int) -> int:
    """Bytes of memory that the process holds; 0 when it is gone."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE
    except (OSError, IndexError):
        return 0


def _files(pid: int, size: int) -> int:
    """How many there are in the small /tmp; none before the process is in its sandbox, where /tmp is another."""
    try:
        seen = os.statvfs(f"/proc/{pid}/root/tmp")
    except OSError:
        return 0
    return seen.f_files - seen.f_ffree if seen.f_blocks * seen.f_frsize == size else 0
