"""Raw columns that a module remembers, batch by batch, until it computes."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dynabench.evaluate.columns import listed, native


def copied(values: Any, name: str) -> Any:
    """A copy, since callers fill one array, tensor or list again and again."""
    found = native(values)
    if isinstance(found, np.ndarray) and found.ndim:
        return found.copy()
    rows = list(listed(found, name))
    reused = bool(rows) and (isinstance(rows[0], np.ndarray) or hasattr(rows[0], "detach"))
    return [np.array(native(row)) for row in rows] if reused else rows


def joined(batches: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Each column of several batches as one."""
    names = dict.fromkeys(name for batch in batches for name in batch)
    return {name: _together([batch[name] for batch in batches if name in batch], name) for name in names}


def _together(parts: list[Any], name: str) -> Any:
    """Arrays stay an array."""
    if len(parts) == 1:
        return parts[0] if hasattr(parts[0], "__len__") else listed(parts[0], name)
    arrays = all(isinstance(part, np.ndarray) for part in parts)
    if arrays and len({(part.dtype.kind, part.shape[1:]) for part in parts}) == 1:
        return np.concatenate(parts)
    return [
        value for part in parts for value in (part.tolist() if isinstance(part, np.ndarray) else listed(part, name))
    ]
