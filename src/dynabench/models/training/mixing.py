"""Mixes: rows of several sources that one model is trained on, each source with its weight."""

import hashlib
import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any, cast

from dynabench.intake.reader import read_objects
from dynabench.kit.errors import Invalid, NotFound
from dynabench.kit.language import _
from dynabench.models.starting import described
from dynabench.models.training import recipes
from dynabench.models.training.learning import METHODS, METHODS_OF_SPANS, Method
from dynabench.models.training.rows import TestTextIndex, TrainingQuestion, TrainingRow, key, read_source
from dynabench.tasks import TaskConfig
from dynabench.tasks.fields import Choice, Spans, Text

Rows = Sequence[TrainingRow | TrainingQuestion]
"""Labelled inputs, or questions with spans of a passage."""

KEPT_BACK = 0.1
"""Share of the groups of training rows that are the development set of a mix without one."""
MOST = 1000.0
"""The largest weight."""


@dataclass(frozen=True)
class MixPart:
    """The rows of one source; an epoch has each of them `weight` times on average, with weight 0 none."""

    name: str
    rows: Rows
    weight: float = 1.0
    licence: str = ""
    round: int | None = None
    """The number of the round of the mix's own task that the rows come from."""


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
    parts: Sequence[MixPart]
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
        digest = hashlib.sha256()
        mix = self.mix
        head = [mix.task, mix.inputs, mix.answer, mix.labels, mix.languages, mix.max_length]
        sets = {"dev": mix.dev, **{f"test {name}": rows for name, rows in mix.tests.items()}}
        for part in (head, *([p.name, p.weight, p.licence, [asdict(r) for r in p.rows]] for p in mix.parts),
                     *([name, [asdict(r) for r in rows]] for name, rows in sets.items())):  # fmt: skip
            digest.update(json.dumps(part, ensure_ascii=True, sort_keys=True).encode() + b"\n")
        return digest.hexdigest()


def guarded(mix: Mix, seed: int) -> Guarded:
    """The mix, ready to be trained on; rows kept back for want of a development set are drawn with `seed`.

    Raises `Invalid` for rows that do not fit the mix, and where none is left.
    """
    _check(mix)
    is_held_out = _HeldOutTest([*mix.dev, *mix.held, *(row for rows in mix.tests.values() for row in rows)])
    parts = [replace(part, rows=[row for row in part.rows if not is_held_out(row)]) for part in mix.parts]
    dropped = {part.name: len(part.rows) - len(rest.rows) for part, rest in zip(mix.parts, parts, strict=True)}
    dev = mix.dev
    if not dev:
        parts, dev = _kept_back(mix, parts, seed)
    if not any(part.rows for part in parts if part.weight):
        raise Invalid({"train": f"No rows are left; {sum(dropped.values())} occur in sets that are tested on."})
    return Guarded(replace(mix, parts=parts, dev=dev), dropped, not mix.dev)


class _HeldOutTest:
    """The test whether a row is, or is like, one of those held out."""

    def __init__(self, held: Rows) -> None:
        self._passages = {key({"": row.passage}) for row in held if isinstance(row, TrainingQuestion)}
        self._seen = TestTextIndex([row for row in held if isinstance(row, TrainingRow)])

    def __call__(self, row: TrainingRow | TrainingQuestion) -> bool:
        return key({"": row.passage}) in self._passages if isinstance(row, TrainingQuestion) else row in self._seen


def _kept_back(mix: Mix, parts: Sequence[MixPart], seed: int) -> tuple[list[MixPart], Rows]:
    """Some of the groups of rows that have one first input (of questions: one passage), all to one side."""
    by = mix.inputs[-1 if mix.spans else 0]
    groups = sorted({row.inputs[by] for part in parts for row in part.rows})
    chosen = set(Random(f"{seed} dev").sample(groups, math.ceil(len(groups) * KEPT_BACK) if len(groups) > 1 else 0))
    dev = [row for part in parts for row in part.rows if row.inputs[by] in chosen and not row.among]
    return [replace(part, rows=[r for r in part.rows if r.inputs[by] not in chosen]) for part in parts], dev


def _check(mix: Mix) -> None:
    if not mix.parts:
        raise Invalid({"train": "A mix has one source at least."})
    names = Counter(part.name for part in mix.parts)
    if twice := [name for name, count in names.items() if count > 1]:
        raise Invalid({"train": f"{twice[0]} is there twice; give it a larger weight instead."})
    kind = TrainingQuestion if mix.spans else TrainingRow
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
        if isinstance(row, TrainingRow) and row.label not in mix.labels:
            raise Invalid({name: f"Row {number} has {row.label!r}, which is none of {', '.join(mix.labels)}."})


def shares(parts: Sequence[MixPart]) -> dict[str, float]:
    """Return by source the share of an epoch's rows that comes from it."""
    sizes = {part.name: part.weight * len(part.rows) for part in parts}
    return {name: size / sum(sizes.values()) for name, size in sizes.items()}


def epoch(parts: Sequence[MixPart], seed: int, number: int) -> list[tuple[int, int]]:
    """The rows of epoch `number`, unordered, as (part, row): every epoch has as many of each part.

    A part of weight 2.5 gives each of its rows twice, and half of them, drawn for each epoch, a third time.
    """
    drawn: list[tuple[int, int]] = []
    for at, part in enumerate(parts):
        whole, rest = divmod(part.weight, 1.0)
        again = Random(f"{seed} {number} {part.name}").sample(range(len(part.rows)), round(rest * len(part.rows)))
        drawn += [(at, row) for row in [*list(range(len(part.rows))) * int(whole), *sorted(again)]]
    return drawn


def amounts(parts: Sequence[MixPart]) -> list[tuple[TrainingRow, float]]:
    """Each row with the weight of its source, for what learns from all rows at once."""
    return [(cast(TrainingRow, row), part.weight * row.times) for part in parts for row in part.rows]


LONGEST = {True: 288, False: 256}
"""Pieces that are read at once, of what has spans (passages) and of what has labels."""


@dataclass(frozen=True)
class Shape:
    """A task's inputs, its answer and the labels of that; none where answers are spans of the last input."""

    task: str
    inputs: tuple[str, ...]
    answer: str
    labels: tuple[str, ...]

    @classmethod
    def of(cls, config: TaskConfig) -> "Shape":
        """Return the shape of a task; raises `Invalid` where no model can be trained for it."""
        if reason := untrainable_reason(config):
            raise Invalid({"task": reason})
        facts = described.facts(config.id, config, "adapter", {})
        return cls(config.id, tuple(facts["inputs"]), facts["answer"], tuple(facts.get("labels", ())))

    @property
    def methods(self) -> tuple[Method, ...]:
        """The ways in which it can be learnt."""
        return METHODS if self.labels else METHODS_OF_SPANS

    def mix(
        self,
        parts: Sequence[MixPart],
        dev: Rows,
        tests: Mapping[str, Rows],
        held: Rows,
        languages: tuple[str, ...] = ("en",),
    ) -> Mix:
        """A mix of rows of this shape."""
        longest = LONGEST[not self.labels]
        return Mix(self.task, self.inputs, self.answer, self.labels, parts, dev, tests, held, languages, longest)

    def row(self, inputs: Mapping[str, Any], answers: Sequence[Any]) -> TrainingRow | TrainingQuestion:
        """An input with the answers that are right, the first of which a classifier learns.

        Raises KeyError, TypeError or IndexError for what does not fit.
        """
        texts = {name: _text(inputs[name]) for name in self.inputs}
        if self.labels:
            return TrainingRow(texts, str(answers[0]))
        spans = [spans[0] for spans in answers]
        return TrainingQuestion(texts, tuple(str(span["text"]) for span in spans), int(spans[0]["start"]))


def untrainable_reason(config: TaskConfig) -> str:
    """Why no model is trained for a task, and what models are trained for; empty where one is."""
    why = _misfit(config)
    can = _(
        "Training supports answers chosen from a list, given one or two texts, and answers that are "
        "one span of one text, given another."
    )
    return f"{why} {can}" if why else ""


def _misfit(config: TaskConfig) -> str:
    field, _returns = described.returned(config)
    read = [other for other in (*config.model_context, *config.input) if other.name != field.name]
    if not isinstance(field, Choice | Spans):
        return _("The answer “%(name)s” is of type %(type)s.", name=field.name, type=field.type)
    if isinstance(field, Choice) and len(field.values) < 2:
        return _("The answer “%(name)s” has fewer than two options.", name=field.name)
    if config.chat is not None:
        return _("Annotators converse with the models.")
    if others := [other.name for other in read if not isinstance(other, Text)]:
        return _("Models read %(others)s, which is not text.", others=", ".join(others))
    if isinstance(field, Spans) and not field.single:
        return _("“%(name)s” may have several spans: max_spans is not 1.", name=field.name)
    if isinstance(field, Spans) and (len(read) != 2 or field.of not in [other.name for other in read]):
        return _("“%(name)s” is to be marked in one of two texts that models read.", name=field.name)
    return _("Models read more than two texts.") if len(read) > 2 else ""


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{str(value)[:40]!r} is no text")
    return value


def read_lines(path: Path, shape: Shape) -> list[TrainingRow | TrainingQuestion]:
    """Rows of a JSON lines file, gzipped or plain: a column for each input and one for the answer.

    Raises `Invalid` with the row that is wrong.
    """
    rows: list[TrainingRow | TrainingQuestion] = []
    try:
        rows.extend(shape.row(raw, [raw[shape.answer]]) for _number, raw in read_objects(path))
    except (KeyError, TypeError, IndexError) as error:
        columns = ", ".join((*shape.inputs, shape.answer))
        message = f"Row {len(rows) + 1} does not have {columns} as they are needed: {error}"
        raise Invalid({path.name: message}) from None
    except (Invalid, OSError) as error:
        raise Invalid({path.name: f"Row {len(rows) + 1} is no JSON in a line: {error}"}) from None
    return rows


def part_of_file(path: Path, shape: Shape, weight: float = 1.0) -> MixPart:
    """The rows of a JSON lines file as a part, called like the file and a bit of its SHA-256."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return MixPart(f"{path.name} ({digest[:12]})", read_lines(path, shape), weight)


def part_of_recipe(name: str, data: Path, shape: Shape, weight: float = 1.0) -> MixPart:
    """The rows of `RECIPE/SOURCE`, as the recipe reads them below the folder `data`."""
    recipe_name, _, source_name = name.partition("/")
    recipe = recipes.load(recipe_name)
    sources = {source.name: source for source in (*recipe.train, *recipe.dev, *recipe.test)}
    if source_name not in sources:
        raise NotFound(f"The recipe {recipe_name} has no source {source_name!r}; it has {', '.join(sources)}.")
    if (tuple(recipe.inputs), tuple(recipe.labels)) != (shape.inputs, shape.labels):
        raise Invalid({name: f"Its rows are {', '.join(recipe.inputs)}; the task's are {', '.join(shape.inputs)}."})
    source = sources[source_name]
    return MixPart(source.name, read_source(source, data, recipe), weight, source.licence)
