"""Texts to start from: rows of JSON with an input and its answer, for programs that change what is there."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from dynabench.adversaries.jsonl import rows
from dynabench.adversaries.proposing import Context
from dynabench.errors import Invalid
from dynabench.models.protocol import Card

PLAIN = frozenset("uid id context input inputs answer answers label tag tags".split())


def read(path: Path, inputs: list[str], contexts: list[str], answers: list[str]) -> list[Context]:
    """The rows of a JSONL file as contexts, called by their `uid`, else by their line.

    A row is an example as exports write it (`context`, `input`, `answer`), or has its fields beside each other, the
    answer as `label` or under its own name. Raises `Invalid` with the number of a line that is neither.
    """
    return [_context(number, row, inputs, contexts, answers) for number, row in rows(path)]


def contexts(path: Path, card: Card, kept: Sequence[str] = ()) -> Iterator[Context]:
    """What an adversary starts from, of each row of a JSONL file with the model's inputs and the right answer.

    `kept` are the inputs that stay as they are. The answer is in the field that the model answers, or in `label`.
    Raises `Invalid` with the number of a row that lacks one of them.
    """
    unknown = sorted(set(kept) - set(card.inputs))
    if unknown:
        raise Invalid({"keep": f"The model has no input {unknown[0]!r}; it has {', '.join(card.inputs)}."})
    for number, row in rows(path):
        answer = row.get(card.answer, row.get("label"))
        lacking = [name for name in card.inputs if not isinstance(row.get(name), str)]
        if lacking or answer is None:
            raise Invalid({"file": f"Line {number} lacks {lacking[0] if lacking else card.answer}."})
        inputs = {name: row[name] for name in card.inputs}
        values = {name: inputs[name] for name in kept}
        yield Context(str(row.get("uid", number)), values, inputs, {card.answer: answer})


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
