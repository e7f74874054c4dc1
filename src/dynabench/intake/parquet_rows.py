"""Rows of Parquet files, a few hundred at a time in memory."""

from collections.abc import Callable, Iterator
from pathlib import Path

import orjson

from dynabench.intake.text_rows import FileRow
from dynabench.kit import errors
from dynabench.kit.language import _

BATCH_ROWS = 250
BATCH_BYTES = 256 * 1024**2
GROUP_BYTES = 1024**3
"""Bytes of a row group, unpacked."""


def read_parquet(path: Path, progress: Callable[[int], object]) -> Iterator[FileRow]:
    """Yield the rows of a Parquet file; `progress` is called with the share of its bytes that is read.

    Raises `Invalid` for what is no Parquet file, and `TooLarge` for row groups and rows that do not fit into memory.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    size, number = path.stat().st_size, 0
    try:
        with pq.ParquetFile(
            path, buffer_size=1024**2, thrift_string_size_limit=50_000_000, thrift_container_size_limit=1_000_000
        ) as file:
            names = file.schema_arrow.names
            if len(set(names)) < len(names):
                raise errors.Invalid({"file": _("Each column of the header needs a name of its own.")})
            groups = (file.metadata.row_group(place) for place in range(file.num_row_groups))
            if any(group.total_byte_size > GROUP_BYTES for group in groups):
                raise errors.TooLarge(_("A row group of this Parquet file is larger than 1 GiB. Write smaller ones."))
            total = max(file.metadata.num_rows, 1)
            for batch in file.iter_batches(batch_size=BATCH_ROWS, use_threads=False):
                if batch.nbytes > BATCH_BYTES:
                    raise errors.TooLarge(_("Rows from %(number)s on are too large to be read.", number=number + 1))
                for cells in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                    number += 1
                    yield FileRow(number, dict(zip(names, cells, strict=True)))
                progress(size * number // total)
    except (pa.ArrowException, OSError, ValueError, OverflowError) as problem:
        raise errors.Invalid({"file": f"This Parquet file cannot be read: {str(problem)[:200]}"}) from None


def read_class_names(path: Path) -> dict[str, list[str]]:
    """Return the names of the classes of each column that holds their numbers.

    The package `datasets` writes them beside the schema of a Parquet file; a file without them has none.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        document = (pq.read_schema(path).metadata or {}).get(b"huggingface", b"{}")
        features = orjson.loads(document)["info"]["features"]
        return {column: list(map(str, feature["names"])) for column, feature in features.items() if "names" in feature}
    except (pa.ArrowException, OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}
