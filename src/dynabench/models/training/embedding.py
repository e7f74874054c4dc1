"""Mean states of the frozen encoder for many texts, kept on disk by what was read.

A text is computed in batches of one shape that depends on its length alone: with the same threads its state is the same
to the last bit, whatever it is computed with, now or in another run.
"""

import hashlib
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import lru_cache
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from dynabench.kit.settings import get_settings
from dynabench.models import encoder
from dynabench.models.backends import weights
from dynabench.models.backends.body import Body, Places
from dynabench.models.backends.head import mean
from dynabench.models.backends.passes import APART
from dynabench.models.backends.pieces import PAD, Pieces

ROWS = 32
"""Texts of a batch; one with fewer is filled up."""
STEP = 8
"""Texts are padded to a multiple of so many pieces."""
TOGETHER = 8
"""Batches that are kept at once."""
PLAIN = (None,) * 4
"""What no adapter adds to a layer."""

Floats = NDArray[np.float32]


def place() -> Path:
    """The file of the cache; it may be deleted at any time."""
    return get_settings().folder / "cache" / "states.sqlite"


def states(
    texts: Sequence[Pieces], cache: Path | None = None, progress: Callable[[float], None] = lambda share: None
) -> Floats:
    """The mean state of each text (n, width), of length 1."""
    keys = [_key(text) for text in texts]
    with closing(_open(cache or place())) as kept:
        wanted = dict(zip(keys, texts, strict=True))
        known = _known(kept, list(wanted))
        todo: dict[int, list[bytes]] = defaultdict(list)
        for key, text in wanted.items():
            if key not in known:
                todo[-(-len(text) // STEP) * STEP].append(key)
        batches = [
            (longest, found[start : start + ROWS])
            for longest, found in sorted(todo.items())
            for start in range(0, len(found), ROWS)
        ]
        new: dict[bytes, Floats] = {}
        for number, (longest, part) in enumerate(batches, 1):
            made = _computed([wanted[key] for key in part], longest)
            new.update(zip(part, made, strict=True))
            if number % TOGETHER == 0 or number == len(batches):
                with kept:
                    kept.executemany(
                        "insert or ignore into states values (?, ?)", [(k, v.tobytes()) for k, v in new.items()]
                    )
                known.update(new)
                new = {}
            progress(number / len(batches))
    return np.stack([known[key] for key in keys]) if keys else np.zeros((0, weights.shared().width), np.float32)


def _open(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(parents=True, exist_ok=True)
    kept = sqlite3.connect(path, timeout=60)
    kept.execute("pragma journal_mode=wal")
    kept.execute("create table if not exists states (key blob primary key, state blob not null) without rowid")
    return kept


def _known(kept: sqlite3.Connection, keys: Sequence[bytes]) -> dict[bytes, Floats]:
    kept.execute("create temporary table wanted (key blob primary key) without rowid")
    kept.executemany("insert into wanted values (?)", [(key,) for key in keys])
    rows = kept.execute("select key, state from states join wanted using (key)")
    return {key: np.frombuffer(state, np.float32) for key, state in rows}


def _key(text: Pieces) -> bytes:
    head = (
        f"{encoder.digest()} {torch.__version__} {torch.get_num_threads()} {torch.backends.cpu.get_cpu_capability()} "
    )
    return hashlib.sha256(head.encode() + np.array(text.ids, np.int32).tobytes()).digest()


@lru_cache(maxsize=1)
def _body() -> Body:
    return Body(weights.shared(), "fp32")


@torch.inference_mode()
def _computed(texts: Sequence[Pieces], longest: int) -> Floats:
    """Mean states of up to `ROWS` texts of up to `longest` pieces."""
    ids = torch.full((ROWS, longest), PAD)
    there = torch.zeros((ROWS, longest), dtype=torch.bool)
    there[:, 0] = True  # rows that only fill the batch
    for row, text in enumerate(texts):
        ids[row, : len(text)] = torch.tensor(text.ids)
        there[row, : len(text)] = True
    first = _body().embed(
        ids.flatten(), torch.arange(longest).repeat(ROWS), torch.zeros(ROWS * longest, dtype=torch.long)
    )
    mask = torch.where(there, 0.0, APART)[:, None, None, :]
    found = _body()(first, Places(ROWS, longest, mask), [PLAIN] * weights.shared().layers)
    return np.asarray(mean(found.view(ROWS, longest, -1), there)[: len(texts)].numpy())
