"""Batches of rows of similar length, so that little is padded."""

from collections.abc import Sequence


def make_batches(sizes: Sequence[int] | None, rows: int, batch_size: int) -> list[list[int]]:
    """Return row numbers in batches of `batch_size`, the longest rows first.

    A batch that exceeds memory fails at once.

    Without `sizes` the rows stay in order. Equal sizes stay in order too, so the same rows give the same batches.
    Raises ValueError for a batch size below 1.
    """
    if batch_size < 1:
        raise ValueError(f"batch_size={batch_size} is below 1")
    order = list(range(rows)) if sizes is None else sorted(range(rows), key=lambda row: -sizes[row])
    return [order[start : start + batch_size] for start in range(0, rows, batch_size)]
