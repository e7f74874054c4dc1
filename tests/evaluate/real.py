"""Real data, read at test time; see `tests.large_data`."""

import gzip
import json
from functools import cache
from itertools import islice
from typing import Any

from tests.large_data import need_data


@cache
def rows(place: str, most: int | None = None) -> list[dict[str, Any]]:
    """The first rows of a file of packed JSON lines."""
    with gzip.open(need_data(place), "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in islice(lines, most)]


def paragraphs(articles: int | None = None, name: str = "squad11_dev.jsonl.gz") -> list[dict[str, Any]]:
    """Paragraphs of the first articles of SQuAD: their `context` and their `qas`."""
    return [one for article in rows(f"squad/{name}", articles) for one in article["paragraphs"]]


def pairs(n: int) -> tuple[list[str], list[list[str]]]:
    """As if translated: `n` hypotheses of SNLI and, for each, its premise and that of three rows before."""
    found = rows("snli_dev_test/dev.jsonl.gz", n + 3)
    said = [row["hypothesis"] for row in found]
    return said[3:], [[row["premise"], before["premise"]] for row, before in zip(found[3:], found, strict=False)]
