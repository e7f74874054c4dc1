"""How a process that runs models is set up; import this before anything that imports torch.

libgomp reads `OMP_WAIT_POLICY` once, when it is loaded. Its default spins between parallel regions, which on cores
shared with other processes makes a forward pass tens of times slower.
"""

import os
import warnings
from pathlib import Path

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
    """How many cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def folder_size(folder: Path) -> int:
    """Bytes of all files below `folder`."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def use_threads(count: int) -> None:
    """Compute with so many threads."""
    import torch

    torch.set_num_threads(count)
