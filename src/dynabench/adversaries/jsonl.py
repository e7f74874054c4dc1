"""Files of JSON lines: the objects of one, with the numbers of their lines."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dynabench.errors import Invalid


def rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a JSONL file with their lines' numbers; raises `Invalid` with that of a line that is no object."""
    with path.open(encoding="utf-8-sig") as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                row = None
            if not isinstance(row, dict):
                raise Invalid({"file": f"Line {number} is no JSON object."})
            yield number, row
