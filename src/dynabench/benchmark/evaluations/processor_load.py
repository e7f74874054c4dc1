"""The load that other processes put on this machine during a measurement, by `/proc/stat` and `/proc/<pid>/stat`
of proc(5)."""

import os
import time
from pathlib import Path

from dynabench.kit.process_memory import process_family

TICKS = os.sysconf("SC_CLK_TCK")


class ProcessorLoad:
    """Processor time of this machine since the object was made, without that of a process and its descendants."""

    def __init__(self, process: int) -> None:
        self._process = process
        self._begun, self._all, self._own = time.monotonic(), _busy_ticks(), _process_ticks(process)

    def others(self) -> float:
        """Return the share of the machine's processors that others used, 0 to 1; 0 where the system does not tell."""
        seconds = (time.monotonic() - self._begun) * (os.cpu_count() or 1)
        ticks = (_busy_ticks() - self._all) - (_process_ticks(self._process) - self._own)
        return min(max(ticks / TICKS / max(seconds, 1e-9), 0.0), 1.0)


def _busy_ticks() -> int:
    """Ticks of all processors that were not idle."""
    try:
        words = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    except OSError:
        return 0
    return sum(int(word) for at, word in enumerate(words[:8]) if at not in (3, 4))  # idle, and waiting for disks


def _process_ticks(process: int) -> int:
    """Ticks that a process and its descendants took, those included that have ended."""
    return sum(_ticks(member) for member in process_family(process))


def _ticks(process: int) -> int:
    try:
        words = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return sum(int(word) for word in words[11:15])
