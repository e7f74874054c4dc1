"""Texts as vectors of the frozen shared encoder; each is computed once and stored on disk."""

import hashlib
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dynabench.insight.data_measurements.sample import embed_texts

TEXTS_PER_FILE = 1024
"""Texts of one file of vectors: the most that is lost when the process dies."""
Float32Array = NDArray[np.float32]
VectorsByKey = dict[str, NDArray[np.float16]]
ProgressCallback = Callable[[str, float], None]
"""A function that is called with the name of a step and the finished share of the experiment."""


def hash_text(text: str) -> str:
    """Return the key of a text's vector."""
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def load_vectors(texts: Iterable[str], folder: Path, report_progress: ProgressCallback) -> VectorsByKey:
    """Return the mean of the encoder's last states for each different text, by key; compute those that are not stored.

    Texts of one length are computed together, so that there is little padding.
    """
    folder.mkdir(parents=True, exist_ok=True)
    vectors = _read_vectors(folder)
    missing = sorted({text for text in texts if hash_text(text) not in vectors}, key=lambda text: (len(text), text))
    for start in range(0, len(missing), TEXTS_PER_FILE):
        report_progress("embedding", start / len(missing))
        part = missing[start : start + TEXTS_PER_FILE]
        keys = [hash_text(text) for text in part]
        values = embed_texts(part).astype(np.float16)
        write_arrays(folder / f"{keys[0]}.npz", keys=np.array(keys), values=values)
        vectors.update(zip(keys, values, strict=True))
    return vectors


def _read_vectors(folder: Path) -> VectorsByKey:
    vectors: VectorsByKey = {}
    for path in sorted(folder.glob("*.npz")):
        with np.load(path, allow_pickle=False) as arrays:
            vectors.update(zip(arrays["keys"].tolist(), arrays["values"], strict=True))
    return vectors


def write_arrays(path: Path, **arrays: NDArray[np.generic]) -> None:
    """Write arrays to a file that is either complete or absent, whenever the process dies."""
    unfinished = path.with_suffix(".part")
    with unfinished.open("wb") as file:
        np.savez(file, **arrays)  # type: ignore[arg-type]
        file.flush()
        os.fsync(file.fileno())
    unfinished.replace(path)


def combine_features(rows: Sequence[tuple[str, ...]], vectors: VectorsByKey) -> Float32Array:
    """Compute what a head reads of each row, shape (n, width): the vectors of its texts, each of length 1.

    For two texts u and v also |u - v| and u * v (Conneau and others, EMNLP 2017).
    """
    parts = [
        _normalize(np.array([vectors[hash_text(texts[field])] for texts in rows], np.float32))
        for field in range(len(rows[0]))
    ]
    if len(parts) == 2:
        first, second = parts
        parts += [np.abs(first - second), first * second]
    return np.concatenate(parts, axis=1)


def _normalize(values: Float32Array) -> Float32Array:
    lengths: Float32Array = np.linalg.norm(values, axis=1, keepdims=True)
    units: Float32Array = (values / np.maximum(lengths, 1e-6)).astype(np.float32)
    return units
