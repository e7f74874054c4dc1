"""Texts as vectors of the frozen shared encoder, each computed once and kept on disk."""

import hashlib
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dynabench.data_measurements import embedding

AT_ONCE = 1024
"""Texts of one file of the cache: what is lost at most when the process dies."""
Floats = NDArray[np.float32]
Vectors = dict[str, NDArray[np.float16]]
Tell = Callable[[str, float], None]


def key(text: str) -> str:
    """What a text's vector is kept under."""
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def vectors(texts: Iterable[str], cache: Path, tell: Tell) -> Vectors:
    """The mean of the encoder's last states for each different text, by key; what `cache` lacks is computed now.

    Texts of one length go together, so that little is padded.
    """
    cache.mkdir(parents=True, exist_ok=True)
    found = _kept(cache)
    lacking = sorted({text for text in texts if key(text) not in found}, key=lambda text: (len(text), text))
    for at in range(0, len(lacking), AT_ONCE):
        tell("embedding", at / len(lacking))
        part = lacking[at : at + AT_ONCE]
        keys = [key(text) for text in part]
        values = embedding.vectors(part).astype(np.float16)
        write(cache / f"{keys[0]}.npz", keys=np.array(keys), values=values)
        found.update(zip(keys, values, strict=True))
    return found


def _kept(cache: Path) -> Vectors:
    found: Vectors = {}
    for path in sorted(cache.glob("*.npz")):
        with np.load(path, allow_pickle=False) as held:
            found.update(zip(held["keys"].tolist(), held["values"], strict=True))
    return found


def write(path: Path, **arrays: NDArray[np.generic]) -> None:
    """Write arrays so that the file is whole or not there, whenever the process dies."""
    unfinished = path.with_suffix(".part")
    with unfinished.open("wb") as file:
        np.savez(file, **arrays)  # type: ignore[arg-type]
        file.flush()
        os.fsync(file.fileno())
    unfinished.replace(path)


def features(rows: Sequence[tuple[str, ...]], known: Vectors) -> Floats:
    """What a head sees of each row, shape (n, width): the vectors of its texts, each of length 1; of two texts u and v
    also |u - v| and u * v (Conneau and others, EMNLP 2017)."""
    parts = [_units(np.array([known[key(texts[at])] for texts in rows], np.float32)) for at in range(len(rows[0]))]
    if len(parts) == 2:
        first, second = parts
        parts += [np.abs(first - second), first * second]
    return np.concatenate(parts, axis=1)


def _units(values: Floats) -> Floats:
    lengths: Floats = np.linalg.norm(values, axis=1, keepdims=True)
    units: Floats = (values / np.maximum(lengths, 1e-6)).astype(np.float32)
    return units
