"""Hardware that a model ran on, and its peak memory."""

import os
import platform
import sys
from pathlib import Path
from typing import Any


def hardware(device: str | None = None) -> dict[str, Any]:
    """Return processor, usable cores, memory in bytes, torch's threads, and the accelerator that was used, if any."""
    torch = sys.modules.get("torch")  # a model without torch shall not load it
    on_accelerator = torch is not None and device is not None and device.startswith("cuda")
    return {
        "processor": _processor(),
        "cores": _cores(),
        "memory_in_bytes": _memory(),
        "threads": torch.get_num_threads() if torch is not None else None,
        "accelerator": torch.cuda.get_device_name(device) if torch is not None and on_accelerator else None,
        "platform": platform.platform(),
    }


def peak_memory(device: str | None = None) -> int | None:
    """Return the peak memory in bytes: of torch on this accelerator since `watch_memory`, else of this process
    since its start; None where the system does not tell."""
    torch = sys.modules.get("torch")
    if torch is not None and device is not None and device.startswith("cuda"):
        return int(torch.cuda.max_memory_allocated(device))
    try:
        import resource
    except ImportError:
        return None
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def watch_memory(device: str | None = None) -> None:
    """Reset the accelerator's peak, so that `peak_memory` counts from here."""
    torch = sys.modules.get("torch")
    if torch is not None and device is not None and device.startswith("cuda"):
        torch.cuda.reset_peak_memory_stats(device)


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.is_file():
        for line in info.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _cores() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def _memory() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None
