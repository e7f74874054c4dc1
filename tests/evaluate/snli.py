"""Real pairs of texts for metrics of translation: hypotheses of SNLI as predictions, premises as references."""

import gzip
import json
import os
from functools import cache
from pathlib import Path

import pytest

DATA = Path(os.environ.get("DYNABENCH_TEST_DATA", Path(__file__).parents[3] / "shared" / "data")) / "snli_dev_test"


@cache
def pairs(n: int) -> tuple[list[str], list[list[str]]]:
    """`n` hypotheses and, for each, its premise and the one before it."""
    if not DATA.is_dir():
        pytest.skip(f"{DATA} is not here")
    with gzip.open(DATA / "dev.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line, _ in zip(lines, range(n + 3), strict=False)]
    said = [row["hypothesis"] for row in rows]
    return said[3:], [[row["premise"], before["premise"]] for row, before in zip(rows[3:], rows, strict=False)]
