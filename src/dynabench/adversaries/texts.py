"""Texts to start from: rows of JSON with an input and its answer, for programs that change what is there."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dynabench.adversaries.proposing import Context
from dynabench.errors import Invalid

PLAIN = frozenset("uid id context input inputs answer answers label tag tags".split())


def read(path: Path, inputs: list[str], contexts: list[str], answers: list[str]) -> list[Context]:
    """The rows of a JSONL file as contexts, called by their `uid`, else by their line.

    A row is an example as exports write it (`context`, `input`, `answer`), or has its fields beside each other, the
    answer as `label` or under its own name. Raises `Invalid` with the number of a line that is neither.
    """
    return [_context(number, row, inputs, contexts, answers) for number, row in rows(path)]


def rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a JSONL file with the numbers of their lines. Raises `Invalid` with that of another line."""
    with path.open(encoding="utf-8-sig") as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except ValueError:
                row = None
            if not isinstance(row, dict):
                raise Invalid({"file": f"Line {number} is no JSON object."})
            yield number, row


def _context(number: int, row: dict[str, Any], inputs: list[str], contexts: list[str], answers: list[str]) -> Context:
    given, written, claimed = row.get("context"), row.get("input"), row.get("answer")
    if not isinstance(written, dict):
        written = {name: row[name] for name in inputs if name in row}
        given = {name: row[name] for name in contexts if name in row}
        said = row.get(answers[0], row.get("label")) if answers else None
        claimed = claimed if isinstance(claimed, dict) else {answers[0]: said} if said is not None else None
    if isinstance(given, dict) and isinstance(given.get("values"), dict):
        given = given["values"]
    if not written or not isinstance(claimed, dict):
        raise Invalid({"file": f"Line {number} has no input ({', '.join(inputs)}) or no answer."})
    return Context(
        uid=str(row.get("uid") or f"line {number}"),
        values=given if isinstance(given, dict) else {},
        inputs=written,
        answer=claimed,
    )
