"""Tests of CheckList's released suites, from JSON lines.

The released files are pickles, which are programs: they are not read here. A line is one test, an object with `test`,
`type` (MFT, INV, DIR), `capability`, `labels` (one for all, or a list) and `data`; an MFT's datum is an input, that of
another is a list of the original and its variants. An input is a text, or a list of texts in the order of the fields.
"""

import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from dynabench.adversaries.checklist import Case, Expected
from dynabench.errors import Invalid

LINE = 64 * 2**20
"""Characters of a line at most."""
SENTIMENT: Mapping[str, str] = {"0": "negative", "1": "neutral", "2": "positive"}
"""What the labels of the suite for sentiment mean."""
DIRECTIONS: Mapping[str, tuple[str, Expected]] = {
    "intensifiers": ("", "up"),
    "reducers": ("", "down"),
    '"used to" should reduce': ("", "down"),
    "add positive phrases": ("negative", "down"),
    "add negative phrases": ("positive", "down"),
}
"""By test of the suite for sentiment, the label (empty: the answer to the original) and where its probability must not
turn back from; the released files hold none of it but in their programs."""


def read(
    path: Path,
    fields: Sequence[str],
    answer: str,
    labels: Mapping[str, str] = SENTIMENT,
    directions: Mapping[str, tuple[str, Expected]] = DIRECTIONS,
) -> list[Case]:
    """The tests of a file that can be judged: MFTs with a label that `labels` knows, INVs, and DIRs in `directions`.

    `fields` are the input fields by the order in the file. Raises `Invalid` with the number of a line that is no test.
    """
    opener = gzip.open if path.suffix == ".gz" else open
    found = list[Case]()
    with opener(path, "rt", encoding="utf-8") as file:
        number = 0
        while line := file.readline(LINE):
            number += 1
            if line.strip():
                try:
                    found += _tests(json.loads(line), fields, answer, labels, directions)
                except (ValueError, KeyError, TypeError, RecursionError) as error:
                    raise Invalid({"file": f"Line {number} is no test of a suite: {error}"}) from error
    return found


def _tests(
    row: Mapping[str, Any],
    fields: Sequence[str],
    answer: str,
    labels: Mapping[str, str],
    directions: Mapping[str, tuple[str, Expected]],
) -> Iterator[Case]:
    name, kind, capability = str(row["test"]), row["type"], str(row.get("capability") or "")
    if kind not in ("MFT", "INV", "DIR"):
        raise ValueError(f"type {kind!r} is none of MFT, INV and DIR")
    data = list(row["data"])
    said = row.get("labels")
    every = list(said) if isinstance(said, list) else [said] * len(data)
    if len(every) != len(data):
        raise ValueError("as many labels as data were expected")
    for datum, label in zip(data, every, strict=True):
        if datum is None:
            continue
        if kind == "MFT":
            if str(label) in labels:
                yield Case(name, kind, [_inputs(datum, fields)], {answer: labels[str(label)]}, capability=capability)
        elif kind == "INV" or name in directions:
            of, expected = directions.get(name, ("", "up"))
            yield Case(name, kind, [_inputs(each, fields) for each in datum], None, of, expected, capability)


def _inputs(datum: Any, fields: Sequence[str]) -> dict[str, str]:
    values = [datum] if isinstance(datum, str) else list(datum)
    if len(values) != len(fields) or not all(isinstance(value, str) for value in values):
        raise ValueError(f"an input is {len(fields)} texts: {', '.join(fields)}")
    return dict(zip(fields, values, strict=True))
