"""Answers that endpoints gave, kept under the home folder by model version and input; the least used go first."""

import hashlib
import json
import logging
import sqlite3
import threading
import time
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from dynabench.models.protocol import Inputs, Output

log = logging.getLogger("dynabench.served")

MOST = 64 * 2**20
"""Bytes of the file."""
FILE = "responses.sqlite"
_TABLE = """
CREATE TABLE IF NOT EXISTS responses (key BLOB PRIMARY KEY, output TEXT NOT NULL, used REAL NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS responses_used ON responses (used);
"""


class Cache:
    """A file of outputs; several threads and processes may share it. Where it fails, calls are made."""

    def __init__(self, path: Path, most: int = MOST) -> None:
        self._path = path
        self._most = most
        self._lock = threading.Lock()
        self._file: sqlite3.Connection | None = None

    def get(self, version: str, inputs: Inputs) -> Output | None:
        """Return what this model version answered to the same inputs; a row that cannot be read is forgotten."""
        key = _key(version, inputs)
        rows = self._run("UPDATE responses SET used = ? WHERE key = ? RETURNING output", (time.time(), key))
        try:
            return _output(rows[0][0]) if rows else None
        except (ValueError, TypeError, RecursionError):
            self.forget(version, inputs)
            return None

    def forget(self, version: str, inputs: Inputs) -> None:
        """Remove what is kept for these inputs, so that the endpoint is asked again."""
        self._run("DELETE FROM responses WHERE key = ?", (_key(version, inputs),))

    def put(self, version: str, inputs: Inputs, output: Output) -> None:
        """Remember an output; when the file is full, a tenth of what it holds goes."""
        text = json.dumps([output.answer, output.probabilities, output.extras], ensure_ascii=False)
        self._run("INSERT OR REPLACE INTO responses VALUES (?, ?, ?)", (_key(version, inputs), text, time.time()))
        if self.size() > self._most:
            least = "SELECT key FROM responses ORDER BY used LIMIT 1 + (SELECT count(*) FROM responses) / 10"
            self._run(f"DELETE FROM responses WHERE key IN ({least})")  # noqa: S608 - a constant

    def size(self) -> int:
        """Bytes in use."""
        pages, free, each = (self._run(f"PRAGMA {name}") for name in ("page_count", "freelist_count", "page_size"))
        return (pages[0][0] - free[0][0]) * each[0][0] if pages and free and each else 0

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            if self._file is not None:
                self._file.close()
                self._file = None

    def _run(self, statement: str, values: tuple[Any, ...] = ()) -> list[Any]:
        with self._lock:
            try:
                return self._opened().execute(statement, values).fetchall()
            except sqlite3.DatabaseError as error:
                log.warning("answers of endpoints are not cached: %s: %s", self._path, error)
                self._discard_if_damaged(error)
                return []

    def _discard_if_damaged(self, error: sqlite3.DatabaseError) -> None:
        """Delete a file that is no database any more (a power cut, a full disk); the next call makes a new one."""
        if error.sqlite_errorcode & 0xFF not in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            return
        if self._file is not None:
            self._file.close()
            self._file = None
        for suffix in ("", "-wal", "-shm"):
            self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)

    def _opened(self) -> sqlite3.Connection:
        if self._file is None:
            file = sqlite3.connect(self._path, timeout=5, isolation_level=None, check_same_thread=False)
            try:
                file.execute("PRAGMA journal_mode = WAL")
                file.execute("PRAGMA synchronous = OFF")  # what a power cut loses is asked for again
                file.executescript(_TABLE)
            except sqlite3.DatabaseError:
                file.close()
                raise
            self._file = file
        return self._file


@lru_cache
def cache(folder: Path) -> Cache:
    """The cache of a home folder."""
    return Cache(folder / FILE)


def _key(version: str, inputs: Mapping[str, Any]) -> bytes:
    return hashlib.sha256(json.dumps([version, inputs], sort_keys=True).encode()).digest()


def _output(text: str) -> Output:
    answer, probabilities, extras = json.loads(text)
    return Output(answer, probabilities, extras)
