"""Files of JSON lines: rows as contexts to start from, and perturbed copies of rows without the platform."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from dynabench.adversaries.perturbations import find_transformations, generator, names_on_axis
from dynabench.adversaries.protocol import Context
from dynabench.intake.reader import read_objects
from dynabench.kit.errors import Invalid
from dynabench.models.protocol import Card

UNCHANGED_FIELDS = frozenset("uid id input_id label answer answers tag tags".split())
"""Fields of a row that no transformation changes."""


def read_start_texts(path: Path, inputs: list[str], contexts: list[str], answers: list[str]) -> list[Context]:
    """Return the rows of a JSONL file as contexts, called by their `uid`, else by their line.

    A row is an example as exports write it (`context`, `input`, `answer`), or has its fields beside each other, the
    answer as `label` or under its own name. Raise `Invalid` with the number of a line that is neither.
    """
    return [_read_context(number, row, inputs, contexts, answers) for number, row in read_objects(path)]


def read_contexts(path: Path, card: Card, fixed_inputs: Sequence[str] = ()) -> Iterator[Context]:
    """Yield a context for each row of a JSONL file with the model's inputs and the right answer.

    `fixed_inputs` stay as they are. The answer is in the field that the model answers, or in `label`.
    Raise `Invalid` with the number of a row that lacks one of them.
    """
    unknown = sorted(set(fixed_inputs) - set(card.inputs))
    if unknown:
        raise Invalid({"keep": f"The model has no input {unknown[0]!r}; it has {', '.join(card.inputs)}."})
    for number, row in read_objects(path):
        answer = row.get(card.answer, row.get("label"))
        lacking = [name for name in card.inputs if not isinstance(row.get(name), str)]
        if lacking or answer is None:
            raise Invalid({"file": f"Line {number} lacks {lacking[0] if lacking else card.answer}."})
        inputs = {name: row[name] for name in card.inputs}
        values = {name: inputs[name] for name in fixed_inputs}
        yield Context(str(row.get("uid", number)), values, inputs, {card.answer: answer})


def _read_context(
    number: int, row: dict[str, Any], inputs: list[str], contexts: list[str], answers: list[str]
) -> Context:
    values, inputs_of_row, claimed = row.get("context"), row.get("input"), row.get("answer")
    if not isinstance(inputs_of_row, dict):
        inputs_of_row = {name: row[name] for name in inputs if name in row}
        values = {name: row[name] for name in contexts if name in row}
        label = row.get(answers[0], row.get("label")) if answers else None
        claimed = claimed if isinstance(claimed, dict) else {answers[0]: label} if label is not None else None
    if isinstance(values, dict) and isinstance(values.get("values"), dict):
        values = values["values"]
    if not inputs_of_row or not isinstance(claimed, dict):
        raise Invalid({"file": f"Line {number} has no input ({', '.join(inputs)}) or no answer."})
    return Context(
        uid=str(row.get("uid") or f"line {number}"),
        values=values if isinstance(values, dict) else {},
        inputs=inputs_of_row,
        answer=claimed,
    )


def perturb_rows(path: Path, names: Sequence[str], seed: int, fields: Sequence[str] = ()) -> Iterator[str]:
    """Yield JSON lines: every row of a JSONL file, changed by every transformation that changes it.

    `names` may hold an axis for all of its transformations; `fields` are the texts that may change, empty for all but
    `UNCHANGED_FIELDS`. Raise `Invalid` with the number of a line that is no object.
    """
    transformations = find_transformations(member for name in names for member in (names_on_axis(name) or [name]))
    for number, row in read_objects(path):
        uid = str(row.get("uid", number))
        texts = {
            name: value
            for name, value in row.items()
            if isinstance(value, str) and (name in fields if fields else name not in UNCHANGED_FIELDS)
        }
        for transformation in transformations:
            changed = transformation.apply(texts, generator(seed, uid, transformation.name))
            if changed:
                new_texts = {name: edited.text for name, edited in changed.items()}
                kind = transformation.name
                identity = {"uid": f"{uid}#{kind}", "input_id": uid, "transformation": kind}
                yield json.dumps({**row, **new_texts, **identity}, ensure_ascii=False)
