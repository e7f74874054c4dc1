"""The speed of a model's answers, and the hardware, in words."""

from collections.abc import Mapping
from typing import Any

MIB = 1024 * 1024


def pace(timing: Mapping[str, Any]) -> dict[str, str]:
    """Return the evaluator's measurements in words, by name; without warm-up, data loading and metrics."""
    if not timing:
        return {}
    found = {"inference": f"{timing['total_time_in_seconds']:.3g} s, {timing['samples_per_second']:.4g} examples/s"}
    if timing.get("tokens_per_second"):
        found["tokens"] = f"{timing['tokens_per_second']:.4g} a second"
    parts = [
        f"{name} {timing[f'latency_{name}_in_seconds'] * 1000:.3g} ms"
        for name in ("p50", "p95", "p99")
        if timing.get(f"latency_{name}_in_seconds") is not None
    ]
    if parts:
        found["latency of an example"] = f"{', '.join(parts)} in batches of {timing['batch_size']}"
    if timing.get("peak_memory_in_bytes"):
        found["peak memory"] = f"{timing['peak_memory_in_bytes'] / MIB:,.0f} MiB"
    machine = timing.get("hardware") or {}
    if machine:
        device = machine.get("accelerator") or machine.get("processor")
        found["hardware"] = f"{device}, {machine.get('cores')} cores"
    return found
