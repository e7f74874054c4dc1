"""What a process and all that came of it use: memory by /proc, files by the sandbox's own /tmp. Source: proc(5)."""

import os
import resource
from contextlib import suppress
from pathlib import Path

from dynabench.models.sandbox.limits import MIB, Options

PAGE = os.sysconf("SC_PAGE_SIZE")
LIBRARIES = 256 * MIB
"""Bytes of libraries, which processes share with us, that are not counted."""
STARVED = (
    "MemoryError", "not enough memory", "can't allocate memory", "Cannot allocate memory", "bad_alloc",
    "memory allocation of", "Failed to allocate memory",
)  # fmt: skip
RESET_PEAK = "5"
"""What `/proc/self/clear_refs` takes to forget the largest memory so far."""
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


def bound(allowed: int) -> None:
    """Let this process and those it starts take no more memory each than a quarter and 512 MiB over `allowed` bytes.

    Whoever watches `resident` memory sees it at moments only; this holds between them. What is counted is private
    memory that may be written (RLIMIT_DATA of setrlimit(2)), which threads and allocators ask for without using all of
    it: hence the room above. Asking for more fails, as MemoryError or as the library at work says it. Nothing is bound
    where there is a GPU, whose driver asks for whole address ranges.
    """
    if Path("/dev/nvidiactl").exists():
        return
    most = allowed + allowed // 4 + 512 * MIB
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if hard == resource.RLIM_INFINITY or most < hard:
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))


def starved(words: str) -> bool:
    """Whether an error or a log says that memory could not be had, as Python, torch, C++, Rust and ONNX say it."""
    return any(each in words for each in STARVED)


def peak() -> int:
    """Bytes of the most memory that this process held since `forget_peak`; 0 where the system does not tell."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:")), 0)


def forget_peak() -> None:
    """Measure the peak anew."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text(RESET_PEAK)


def _files(pid: int, size: int) -> int:
    """How many there are in the small /tmp; none before the process is in its sandbox, where /tmp is another."""
    try:
        seen = os.statvfs(f"/proc/{pid}/root/tmp")
    except OSError:
        return 0
    return seen.f_files - seen.f_ffree if seen.f_blocks * seen.f_frsize == size else 0
