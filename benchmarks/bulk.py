"""Rows into tables as fast as each database takes them: COPY, or one prepared statement."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from dynabench.kit.db import Database
from dynabench.operations.migrations import metadata


def load(db: Database, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write rows of plain values; JSON as text, moments as they are or as ISO text.

    Columns that are not named get the table's defaults where these are plain values.
    """
    rest = _defaults(table, columns)
    names = ", ".join(f'"{name}"' for name in (*columns, *rest))
    whole = ((*row, *rest.values()) for row in rows)
    raw = db.engine.raw_connection()
    driver: Any = raw.driver_connection
    try:
        if db.is_sqlite:
            marks = ", ".join("?" * (len(columns) + len(rest)))
            driver.execute("PRAGMA foreign_keys=OFF")
            driver.execute("BEGIN IMMEDIATE")
            driver.executemany(
                f"INSERT INTO {table} ({names}) VALUES ({marks})", (_without_moments(row) for row in whole)
            )
            driver.execute("COMMIT")
            driver.execute("PRAGMA foreign_keys=ON")
        else:
            with driver.cursor() as cursor, cursor.copy(f"COPY {table} ({names}) FROM STDIN") as copy:
                for row in whole:
                    copy.write_row(row)
            driver.commit()
    finally:
        raw.close()


def _defaults(table: str, columns: Sequence[str]) -> dict[str, Any]:
    remaining = [item for item in metadata().tables[table].columns if item.name not in columns]
    return {item.name: item.default.arg for item in remaining if item.default is not None and item.default.is_scalar}


def _without_moments(row: Sequence[Any]) -> tuple[Any, ...]:
    """The row as SQLite keeps it: it has no moments."""
    return tuple(item.strftime("%Y-%m-%d %H:%M:%S.%f") if isinstance(item, datetime) else item for item in row)
