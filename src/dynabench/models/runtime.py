"""The setup of a process that runs models; import this before anything that imports torch.

libgomp reads `OMP_WAIT_POLICY` once, when it is loaded. Its default spins between parallel regions,
which on cores shared with other processes makes a forward pass tens of times slower.
"""

import os
import warnings
from pathlib import Path

from dynabench.kit.settings import get_settings

os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")


def quiet() -> None:
    """Silence what the libraries say about their own internals, which an operator cannot act upon."""
    warnings.filterwarnings("ignore", category=FutureWarning, module=r"(transformers|peft|torch)\.")
    import transformers

    transformers.logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    transformers.logging.disable_progress_bar()  # type: ignore[no-untyped-call]


def cores() -> int:
    """Return the number of cores that this process may use.

    `OMP_NUM_THREADS` lowers it, so that processes can share the cores.
    """
    try:
        available = len(os.sched_getaffinity(0))
    except AttributeError:
        available = os.cpu_count() or 1
    limit = os.environ.get("OMP_NUM_THREADS", "")
    return min(available, max(1, int(limit))) if limit.isdigit() else available


def folder_size(folder: Path) -> int:
    """Bytes of all files below `folder`."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def fast_bf16() -> bool:
    """Return whether this processor multiplies bfloat16 numbers faster than other numbers."""
    import torch

    return bool(torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported())


def precision() -> str:
    """Return the number format that models over the shared encoder compute in.

    It is the setting `precision`, else the format that this processor is best at.
    """
    return get_settings().precision or ("bf16" if fast_bf16() else "fp32")


def trains_in_bf16(device: str) -> bool:
    """Tell whether training on a kind of device, "cpu" or "cuda", is quicker in bfloat16.

    A processor without instructions for it emulates every product: a step takes twenty times as long.
    """
    return device != "cpu" or fast_bf16()


SMALL = 512
"""Word pieces below which one thread is quicker than several, which would wait for each other at every step."""


def use_threads(pieces: int) -> None:
    """Compute a pass over so many word pieces with as many threads as pay: one for few, every core for many."""
    import torch

    threads = 1 if pieces < SMALL else cores()
    if torch.get_num_threads() != threads:
        torch.set_num_threads(threads)
