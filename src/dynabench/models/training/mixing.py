"""Mixes: rows of several sources that one model is trained on, each source with its weight."""

import hashlib
import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from random import Random
from typing import cast

from dynabench.kit.errors import Invalid
from dynabench.models.training.questions import Question
from dynabench.models.training.rows import Row, Seen, key

Rows = Sequence[Row | Question]
"""Labelled inputs, or questions with spans of a passage."""

KEPT_BACK = 0.1
"""Share of the groups of training rows that are the development set of a mix without one."""
MOST = 1000.0
"""The largest weight."""


@dataclass(frozen=True)
class Part:
    """The rows of one source; an epoch has each of them `weight` times on average, with weight 0 none."""

    name: str
    rows: Rows
    weight: float = 1.0
    licence: str = ""


@dataclass(frozen=True)
class Mix:
    """The rows that a model of `task` is trained on, chosen on and scored on.

    It is trained on `parts`, chosen on `dev` and scored on `tests` (by name). `labels` are empty for answers
    that are spans of the second input. Without `dev` a part of the training rows is kept back. Rows of
    `held` are neither trained on nor scored; nothing like them is trained on either.
    """

    task: str
    inputs: tuple[str, ...]
    answer: str
    labels: tuple[str, ...]
    parts: Sequence[Part]
    dev: Rows = ()
    tests: Mapping[str, Rows] = field(default_factory=dict)
    held: Rows = ()
    languages: tuple[str, ...] = ("en",)
    max_length: int = 256

    @property
    def spans(self) -> bool:
        """True if the answers are spans."""
        return not self.labels


@dataclass(frozen=True)
class Guarded:
    """A mix without training rows that occur where they must not, and how many rows each source lost so."""

    mix: Mix
    dropped: Mapping[str, int]
    kept_back: bool

    def digest(self) -> str:
        """The SHA-256 of everything that decides what a model learns from it."""
        found = hashlib.sha256()
        mix = self.mix
        head = [mix.task, mix.inputs, mix.answer, mix.labels, mix.languages, mix.max_length]
        sets = {"dev": mix.dev, **{f"test {name}": rows for name, rows in mix.tests.items()}}
        for part in (head, *([p.name, p.weight, p.licence, [asdict(r) for r in p.rows]] for p in mix.parts),
                     *([name, [asdict(r) for r in rows]] for name, rows in sets.items())):  # fmt: skip
            found.update(json.dumps(part, ensure_ascii=True, sort_keys=True).encode() + b"\n")
        return found.hexdigest()


def guarded(mix: Mix, seed: int) -> Guarded:
    """The mix, ready to be trained on; rows kept back for want of a development set are drawn with `seed`.

    Raises `Invalid` for rows that do not fit the mix, and where none is left.
    """
    _check(mix)
    never = _never(mix, [*mix.dev, *mix.held, *(row for rows in mix.tests.values() for row in rows)])
    parts = [replace(part, rows=[row for row in part.rows if not never(row)]) for part in mix.parts]
    dropped = {part.name: len(part.rows) - len(kept.rows) for part, kept in zip(mix.parts, parts, strict=True)}
    dev = mix.dev
    if not dev:
        parts, dev = _kept_back(mix, parts, seed)
    if not any(part.rows for part in parts if part.weight):
        raise Invalid({"train": f"No rows are left; {sum(dropped.values())} occur in sets that are tested on."})
    return Guarded(replace(mix, parts=parts, dev=dev), dropped, not mix.dev)


class _never:
    """The test whether a row is, or is like, one of those held out."""

    def __init__(self, mix: Mix, held: Rows) -> None:
        self._passages = {key({"": row.passage}) for row in held if isinstance(row, Question)}
        self._seen = Seen([row for row in held if isinstance(row, Row)])

    def __call__(self, row: Row | Question) -> bool:
        return key({"": row.passage}) in self._passages if isinstance(row, Question) else row in self._seen


def _kept_back(mix: Mix, parts: Sequence[Part], seed: int) -> tuple[list[Part], Rows]:
    """Some of the groups of rows that have one first input (of questions: one passage), all to one side."""
    by = mix.inputs[-1 if mix.spans else 0]
    groups = sorted({row.inputs[by] for part in parts for row in part.rows})
    chosen = set(Random(f"{seed} dev").sample(groups, math.ceil(len(groups) * KEPT_BACK) if len(groups) > 1 else 0))
    dev = [row for part in parts for row in part.rows if row.inputs[by] in chosen and not getattr(row, "among", ())]
    return [replace(part, rows=[r for r in part.rows if r.inputs[by] not in chosen]) for part in parts], dev


def _check(mix: Mix) -> None:
    if not mix.parts:
        raise Invalid({"train": "A mix has one source at least."})
    names = Counter(part.name for part in mix.parts)
    if twice := [name for name, count in names.items() if count > 1]:
        raise Invalid({"train": f"{twice[0]} is there twice; give it a larger weight instead."})
    kind = Question if mix.spans else Row
    for part in mix.parts:
        if not 0 <= part.weight <= MOST:
            raise Invalid({"train": f"The weight of {part.name} is 0 to {MOST:g}, not {part.weight}."})
        _fit(part.name, part.rows, mix, kind)
    if "dev" in mix.tests:
        raise Invalid({"tests": "What a model is chosen on is called dev; call a test set something else."})
    for name, rows in {"dev": mix.dev, **mix.tests}.items():
        _fit(name, rows, mix, kind)


def _fit(name: str, rows: Rows, mix: Mix, kind: type) -> None:
    for number, row in enumerate(rows):
        if not isinstance(row, kind) or not set(mix.inputs) <= set(row.inputs):
            raise Invalid({name: f"Row {number} has not the inputs {', '.join(mix.inputs)} with an answer."})
        if isinstance(row, Row) and row.label not in mix.labels:
            raise Invalid({name: f"Row {number} has {row.label!r}, which is none of {', '.join(mix.labels)}."})


def shares(parts: Sequence[Part]) -> dict[str, float]:
    """Return by source the share of an epoch's rows that comes from it."""
    sizes = {part.name: part.weight * len(part.rows) for part in parts}
    return {name: size / sum(sizes.values()) for name, size in sizes.items()}


def epoch(parts: Sequence[Part], seed: int, number: int) -> list[tuple[int, int]]:
    """The rows of epoch `number`, unordered, as (part, row): every epoch has as many of each part.

    A part of weight 2.5 gives each of its rows twice, and half of them, drawn for each epoch, a third time.
    """
    drawn: list[tuple[int, int]] = []
    for at, part in enumerate(parts):
        whole, rest = divmod(part.weight, 1.0)
        again = Random(f"{seed} {number} {part.name}").sample(range(len(part.rows)), round(rest * len(part.rows)))
        drawn += [(at, row) for row in [*list(range(len(part.rows))) * int(whole), *sorted(again)]]
    return drawn


def amounts(parts: Sequence[Part]) -> list[tuple[Row, float]]:
    """Each row with the weight of its source, for what learns from all rows at once."""
    return [(cast(Row, row), part.weight * getattr(row, "times", 1)) for part in parts for row in part.rows]
