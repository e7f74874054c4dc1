"""Raw columns that a module collects, batch by batch, until it computes."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dynabench.evaluate.columns import as_list, to_numpy


def copy_column(values: Any, name: str) -> Any:
    """Return a copy of a column, since callers fill one array, tensor or list again and again."""
    array = to_numpy(values)
    if isinstance(array, np.ndarray) and array.ndim:
        return array.copy()
    rows = list(as_list(array, name))
    reused = bool(rows) and (isinstance(rows[0], np.ndarray) or hasattr(rows[0], "detach"))
    return [np.array(to_numpy(row)) for row in rows] if reused else rows


def join_batches(batches: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the columns of several batches, each as one."""
    names = dict.fromkeys(name for batch in batches for name in batch)
    return {name: _join([batch[name] for batch in batches if name in batch], name) for name in names}


def _join(parts: list[Any], name: str) -> Any:
    """Arrays stay an array."""
    if len(parts) == 1:
        return parts[0] if hasattr(parts[0], "__len__") else as_list(parts[0], name)
    arrays = all(isinstance(part, np.ndarray) for part in parts)
    if arrays and len({(part.dtype.kind, part.shape[1:]) for part in parts}) == 1:
        return np.concatenate(parts)
    return [
        value for part in parts for value in (part.tolist() if isinstance(part, np.ndarray) else as_list(part, name))
    ]
