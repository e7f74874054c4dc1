"""Files of rows, without the platform: perturbed copies of them, and contexts for adversaries."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from dynabench.adversaries.perturbations import find, generator, of
from dynabench.adversaries.proposing import Context
from dynabench.errors import Invalid
from dynabench.models.protocol import Card

KEPT = frozenset("uid id input_id label answer answers tag tags".split())


def perturbed(path: Path, names: Sequence[str], seed: int, fields: Sequence[str] = ()) -> Iterator[str]:
    """JSON lines: every row of a JSONL file changed by every transformation that changes it.

    `names` may hold an axis for all of its transformations; `fields` are the texts that may change, empty for all but
    `KEPT`. Raises `Invalid` with the number of a line that is no object.
    """
    chosen = find(each for name in names for each in (of(name) or [name]))
    for number, row in rows(path):
        uid = str(row.get("uid", number))
        texts = {
            name: value
            for name, value in row.items()
            if isinstance(value, str) and (name in fields if fields else name not in KEPT)
        }
        for one in chosen:
            changed = one.apply(texts, generator(seed, uid, one.name))
            if changed:
                new = {name: each.text for name, each in changed.items()}
                more = {"uid": f"{uid}#{one.name}", "input_id": uid, "transformation": one.name}
                yield json.dumps({**row, **new, **more}, ensure_ascii=False)


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
