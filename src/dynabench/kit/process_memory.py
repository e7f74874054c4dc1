"""Memory of processes: what they hold and may take (/proc, setrlimit), glibc's `malloc`, and garbage collection."""

import ctypes
import gc
import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

MIB = 2**20
_PAGE = os.sysconf("SC_PAGE_SIZE")
_OUT_OF_MEMORY = (
    "MemoryError", "not enough memory", "can't allocate memory", "Cannot allocate memory", "bad_alloc",
    "memory allocation of", "Failed to allocate memory",
)  # fmt: skip
_FORGET_PEAK = "5"
"""What `/proc/self/clear_refs` takes to forget the largest memory so far."""


def process_family(pid: int) -> list[int]:
    """Return the process and its descendants, parents first."""
    family = [pid]
    for member in family:
        with suppress(OSError, ValueError):
            for task in Path(f"/proc/{member}/task").iterdir():
                family += map(int, (task / "children").read_text().split())
    return family


def resident_bytes(pid: int) -> int:
    """Return the bytes of memory that the process holds; 0 when it is gone."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE
    except (OSError, IndexError):
        return 0


def family_bytes(pid: int | None = None) -> int | None:
    """Return the bytes that a process, by default this one, and its descendants hold; None where there is no /proc."""
    if not Path("/proc/self/statm").is_file():
        return None
    return sum(map(resident_bytes, process_family(os.getpid() if pid is None else pid)))


def limit_memory(allowed: int) -> None:
    """Let this process and those it starts take no more memory each than a quarter and 512 MiB over `allowed` bytes.

    A process that watches `resident_bytes` sees them at moments only; this holds between them. The limit counts private
    memory that may be written (RLIMIT_DATA), which threads and allocators ask for without using all of it: hence the
    room above. Asking for more fails, as MemoryError or as the library at work says it. There is no limit beside a GPU,
    whose driver asks for whole address ranges.
    """
    if Path("/dev/nvidiactl").exists():
        return
    limit = allowed + allowed // 4 + 512 * MIB
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if hard == resource.RLIM_INFINITY or limit < hard:
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


def is_out_of_memory(text: str) -> bool:
    """Tell whether an error or a log says that memory ran out, as Python, torch, C++, Rust and ONNX say it."""
    return any(words in text for words in _OUT_OF_MEMORY)


def peak_bytes() -> int:
    """Return the most memory that this process held since `reset_peak`; 0 where the system does not say."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:")), 0)


def reset_peak() -> None:
    """Measure the peak anew."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text(_FORGET_PEAK)


M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, M_ARENA_MAX = -1, -3, -8
"""Parameters of glibc's `mallopt`."""


def share_one_heap() -> None:
    """Have all threads share one heap; call it before there are any.

    Otherwise each thread of a pool gets a heap of its own, and what a request leaves free in one is of no use to the
    next request in another: these heaps grow for hours. Threads of Python seldom allocate at the same time.
    """
    _adjust(M_ARENA_MAX, 1)


def keep_freed_memory() -> None:
    """Keep up to 64 MiB that a forward pass has freed: given back and asked for anew, every page of it costs a fault, a
    seventh of the time of a batch.
    """
    _adjust(M_MMAP_THRESHOLD, 32 * 2**20)
    _adjust(M_TRIM_THRESHOLD, 64 * 2**20)


@contextmanager
def without_collection() -> Iterator[None]:
    """Load code without collecting garbage meanwhile, and leave what was loaded out of every later collection.

    Modules, schemas and tables stay as long as the process. Looking through them again and again was a third of the
    time until the web process answers, and each later look at all of them would take some tenths of a second. What
    garbage loading left, a quarter of the objects, stays too: looking for it first would take back half of what is won.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def _adjust(parameter: int, value: int) -> None:
    try:
        ctypes.CDLL(None).mallopt(parameter, value)
    except (AttributeError, OSError, TypeError):
        return
