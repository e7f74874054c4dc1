"""Rows into tables as fast as each database takes them: COPY, or one prepared statement."""

from collections.abc import Iterable, Sequence
from typing import Any

from dynabench.db import Database


def load(db: Database, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write rows of plain values; JSON as text, moments as ISO text."""
    names = ", ".join(f'"{name}"' for name in columns)
    raw = db.engine.raw_connection()
    driver: Any = raw.driver_connection
    try:
        if db.is_sqlite:
            driver.execute("PRAGMA foreign_keys=OFF")
            driver.execute("BEGIN IMMEDIATE")
            driver.executemany(f"INSERT INTO {table} ({names}) VALUES ({', '.join('?' * len(columns))})", rows)
            driver.execute("COMMIT")
            driver.execute("PRAGMA foreign_keys=ON")
        else:
            with driver.cursor() as cursor, cursor.copy(f"COPY {table} ({names}) FROM STDIN") as copy:
                for row in rows:
                    copy.write_row(row)
            driver.commit()
    finally:
        raw.close()
