"""Memory: how much there may be, how much there is, and giving it back."""

import ctypes
import gc
import os
import re
import sys
from contextlib import suppress
from pathlib import Path

from dynabench.errors import Invalid

SHARE = 0.75
"""Of the machine's memory, what a host may use unless told otherwise."""
UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}
UNLIMITED = 2**60
LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None


def limit(text: str) -> int | None:
    """Bytes of `4GiB`, `512MiB`, `2.5 GB`; None for `none`; a share of the machine's for nothing. Raises `Invalid`."""
    if text.strip().lower() == "none":
        return None
    if not text.strip():
        machine = _machine()
        return int(machine * SHARE) if machine else None
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", text)
    if found is None or found[2].upper() not in UNITS or not float(found[1]):
        raise Invalid({"memory": f"{text!r} is no amount of memory; write 4GiB, 512MiB or none."})
    return int(float(found[1]) * UNITS[found[2].upper()])


def told(size: float) -> str:
    """Bytes for people."""
    return f"{size / 2**30:.2f} GiB" if size >= 2**30 else f"{size / 2**20:.0f} MiB" if size >= 2**20 else "under 1 MiB"


def used() -> int:
    """Bytes that this process and those it started hold in memory; 0 where the system does not say."""
    return sum(_resident(pid) for pid in _family(os.getpid()))


def kept() -> int:
    """Bytes held once what is free has been returned to the system."""
    give_back()
    return used()


def give_back() -> None:
    """Return what is free to the system."""
    gc.collect()
    if LIBC is not None and hasattr(LIBC, "malloc_trim"):
        LIBC.malloc_trim(0)


def _machine() -> int:
    """Bytes of this machine, or of this container where that is less; 0 where the system does not say."""
    sizes = []
    with suppress(OSError, ValueError):
        sizes.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    for name in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            sizes.append(int(Path(name).read_text()))
        except (OSError, ValueError):
            continue
    return min((size for size in sizes if 0 < size < UNLIMITED), default=0)


def _family(pid: int) -> list[int]:
    found = [pid]
    for thread in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            children = thread.read_text().split()
        except OSError:
            continue
        found += [member for child in children for member in _family(int(child))]
    return found


def _resident(pid: int) -> int:
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")
