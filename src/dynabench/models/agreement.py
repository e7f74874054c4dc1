"""Comparison of two models' answers: a model and its export, or one before and after a change of precision."""

import itertools
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dynabench.intake.reader import read_objects
from dynabench.kit.errors import Invalid
from dynabench.models.protocol import Card, Inputs, Model, Output
from dynabench.tasks import shipped

ALONE = 32
"""Rows that are asked one at a time, to see how quick a model is."""


@dataclass(frozen=True)
class Speed:
    """Answers a second, asked one at a time and all at once."""

    alone: float
    together: float


@dataclass(frozen=True)
class Agreement:
    """`equal` is the share of `rows` with the same answer; `largest` is by how much probabilities differ at most.

    `first` and `second` are the models' speeds; `differing` are the numbers of the rows that are answered differently.
    """

    rows: int
    equal: float
    largest: float
    first: Speed
    second: Speed
    differing: tuple[int, ...]


def compare(first: Model, second: Model, rows: Sequence[Inputs]) -> Agreement:
    """Ask both models about all rows; raises `Invalid` without any row."""
    if not rows:
        raise Invalid({"data": "There is no row to compare answers on."})
    (said, quick), (again, other) = _asked(first, rows), _asked(second, rows)
    name = first.card.answer
    pairs = list(zip(said, again, strict=True))
    differing = tuple(row for row, (one, two) in enumerate(pairs) if one.answer[name] != two.answer[name])
    largest = max(_apart(one, two) for one, two in pairs)
    return Agreement(len(rows), 1 - len(differing) / len(rows), largest, quick, other, differing)


def _asked(model: Model, rows: Sequence[Inputs]) -> tuple[list[Output], Speed]:
    model.predict(rows[:1])  # the first call pays for what later ones find ready
    alone = rows[:ALONE]
    start = time.perf_counter()
    for row in alone:
        model.predict([row])
    middle = time.perf_counter()
    outputs = model.predict(rows)
    end = time.perf_counter()
    return outputs, Speed(len(alone) / (middle - start), len(rows) / (end - middle))


def _apart(one: Output, two: Output) -> float:
    """The largest difference of a label's probability, or that of the text which the first answer gives."""
    first, second = one.probabilities or {}, two.probabilities or {}
    both = set(first) & set(second)
    return max((abs(first[label] - second[label]) for label in both), default=0.0)


def samples(card: Card, count: int, seed: int = 0) -> list[dict[str, str]]:
    """Inputs made of what comes with the card's task: its contexts and seeds, and their sentences for what else is
    asked for; fewer where the task has fewer. Raises `Invalid` for a task that is not one of ours.
    """
    found = next((task for task in shipped.shipped_tasks() if task.config.id == card.task), None)
    if found is None:
        raise Invalid({"data": f"Nothing is known to try a model of {card.task!r} on; name a file of inputs."})
    known: list[dict[str, Any]] = [row["values"] for row in found.contexts()]
    known += [row["context"] | row["input"] for row in found.seeds()]
    sentences = sorted({part for row in known for text in row.values() for part in _sentences(str(text))})
    rng = random.Random(seed)
    drawn = itertools.islice(itertools.cycle(known), max(count, len(known))) if sentences else ()
    rows = [{name: str(row.get(name) or rng.choice(sentences)) for name in card.inputs} for row in drawn]
    return rng.sample(rows, min(count, len(rows)))


def _sentences(text: str) -> Iterator[str]:
    yield from (part.strip() + "." for part in text.split(".") if part.strip())


def rows_of(path: Path, card: Card, columns: dict[str, str], count: int) -> list[dict[str, str]]:
    """The first inputs in a file of JSON lines, perhaps gzipped; `columns` says which holds which input.

    Raises `Invalid` for a file that is none, or lacks a column.
    """
    try:
        found = itertools.islice(read_objects(path), count)
        return [{name: str(raw[columns.get(name, name)]) for name in card.inputs} for _number, raw in found]
    except KeyError as error:
        told = f"{path.name} has no column {error}; --column says which column holds {', '.join(card.inputs)}."
        raise Invalid({"data": told}) from error
    except (Invalid, OSError) as error:
        raise Invalid({"data": f"{path.name} is no file of JSON lines: {error}"}) from error
