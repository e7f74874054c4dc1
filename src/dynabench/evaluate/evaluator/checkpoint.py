"""Checkpoints: answers on disk while they come, so that an interrupted run continues where it stopped.

A file of JSON lines: first a header with fingerprints of model, data and settings, then a line for each batch
with its row numbers, answers, seconds and tokens. A line that a crash left incomplete is cut off.
"""

import json
from pathlib import Path
from typing import Any, TextIO

from dynabench.evaluate.plain_values import to_plain

VERSION = 1
MISMATCHES = {"model": "of another model", "data": "on other data", "settings": "with other settings"}


class AnswerCheckpoint:
    """One checkpoint file. `answers` maps row numbers to answers; `lines` are the batches read from the file."""

    def __init__(self, path: str | Path, fingerprints: dict[str, str]) -> None:
        """Open the file, or start it; `fingerprints` has the keys model, data and settings.

        Raises ValueError for a file of another model, data or settings, or one that is no checkpoint.
        """
        self.path = Path(path)
        self.about = fingerprints
        self.encoding: float | None = None
        self.lines: list[dict[str, Any]] = []
        self.done: dict[int, Any] = {}
        self._file: TextIO | None = None
        if self.path.is_file() and self.path.stat().st_size:
            self._read()

    def begin(self, encoding: float) -> None:
        """Write the header with the seconds that encoding took, unless the file has one."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._file = self.path.open("a", encoding="utf-8")
        if self.encoding is None:
            self.encoding = encoding
            self._write({"checkpoint": VERSION, **self.about, "encoding_seconds": encoding})

    def add(self, rows: list[int], answers: list[Any], seconds: float, tokens: int | None) -> None:
        """Append one batch; when this returns, a crash of this process cannot lose it."""
        self._write({"rows": rows, "answers": to_plain(answers), "seconds": seconds, "tokens": tokens})

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
        other = [phrase for part, phrase in MISMATCHES.items() if header.get(part) != self.about[part]]
        if other:
            raise ValueError(
                f"{self.path} belongs to an evaluation {' and '.join(other)}; delete it to start anew, or name another"
            )
        self.encoding = float(header["encoding_seconds"])
