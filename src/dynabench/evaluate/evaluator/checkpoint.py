"""Answers on disk while they come, so that a run that breaks off goes on where it stopped.

A file of JSON lines: first a header that says what was asked of which model (fingerprints of model, data and
settings), then a line for each batch with its row numbers, answers, seconds and tokens. A line that was torn by the
crash is cut off.
"""

import json
from pathlib import Path
from typing import Any, TextIO

from dynabench.evaluate.plain import plain

VERSION = 1
ABOUT = {"model": "of another model", "data": "on other data", "settings": "with other settings"}


class Checkpoint:
    """One file. `done` maps row numbers to answers; `lines` are the batches that were found."""

    def __init__(self, path: str | Path, about: dict[str, str]) -> None:
        """Open the file, or start it; `about` holds the fingerprints under model, data and settings.

        Raises ValueError for a file of another model, data or settings, or one that is no checkpoint.
        """
        self.path = Path(path)
        self.about = about
        self.encoding: float | None = None
        self.lines: list[dict[str, Any]] = []
        self.done: dict[int, Any] = {}
        self._file: TextIO | None = None
        if self.path.is_file() and self.path.stat().st_size:
            self._read()

    def begin(self, encoding: float) -> None:
        """Write the header with the seconds that encoding took, unless it stands there."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._file = self.path.open("a", encoding="utf-8")
        if self.encoding is None:
            self.encoding = encoding
            self._write({"checkpoint": VERSION, **self.about, "encoding_seconds": encoding})

    def add(self, rows: list[int], answers: list[Any], seconds: float, tokens: int | None) -> None:
        """Append one batch; it is with the system, safe from a crash of this process, when this returns."""
        self._write({"rows": rows, "answers": plain(answers), "seconds": seconds, "tokens": tokens})

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _write(self, line: dict[str, Any]) -> None:
        assert self._file is not None
        self._file.write(json.dumps(line, ensure_ascii=False) + "\n")
        self._file.flush()

    def _read(self) -> None:
        raw = self.path.read_bytes()
        whole, _, torn = raw.rpartition(b"\n")
        parts = [self._parsed(line, number) for number, line in enumerate(whole.split(b"\n"), 1) if line]
        if parts:
            self._check(parts[0])
        elif raw and not raw.startswith(b'{"checkpoint"'):
            raise ValueError(f"{self.path} is no checkpoint of an evaluation; name another file")
        if torn:
            with self.path.open("r+b") as file:
                file.truncate(len(raw) - len(torn))
        for line in parts[1:]:
            self.lines.append(line)
            self.done.update(zip(line["rows"], line["answers"], strict=True))

    def _parsed(self, line: bytes, number: int) -> Any:
        try:
            return json.loads(line)
        except ValueError:
            raise ValueError(f"{self.path}, line {number}, is damaged; delete the file to start anew") from None

    def _check(self, header: Any) -> None:
        if not isinstance(header, dict) or header.get("checkpoint") != VERSION:
            raise ValueError(f"{self.path} is no checkpoint of an evaluation; name another file")
        other = [told for part, told in ABOUT.items() if header.get(part) != self.about[part]]
        if other:
            raise ValueError(
                f"{self.path} belongs to an evaluation {' and '.join(other)}; delete it to start anew, or name another"
            )
        self.encoding = float(header["encoding_seconds"])
