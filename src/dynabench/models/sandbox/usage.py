"""The excess of a sandboxed process and its descendants: memory, and files in the sandbox's own /tmp."""

import os

from dynabench.kit.process_memory import process_family, resident_bytes
from dynabench.models.sandbox.limits import MIB, Options

LIBRARIES = 256 * MIB
"""Bytes of libraries, which processes share with us, that are not counted."""
FILES = 10_000
"""Files under /tmp, each of which costs the kernel memory even when it is empty."""


def excess(pid: int, options: Options) -> str:
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
