"""The inputs and answers of a task's models, and rows of files as they are trained on."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dynabench.intake.reader import read_objects
from dynabench.kit.errors import Invalid, NotFound
from dynabench.kit.language import _
from dynabench.models.starting import described
from dynabench.models.training import mixing, questions, recipes, rows
from dynabench.models.training.learning import METHODS, METHODS_OF_SPANS, Method
from dynabench.models.training.mixing import Mix, Part, Rows
from dynabench.models.training.questions import Question
from dynabench.models.training.rows import Row
from dynabench.tasks import TaskConfig
from dynabench.tasks.fields import Choice, Spans, Text

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
        if reason := unfit(config):
            raise Invalid({"task": reason})
        told = described.facts(config.id, config, "adapter", {})
        return cls(config.id, tuple(told["inputs"]), told["answer"], tuple(told.get("labels", ())))

    @property
    def methods(self) -> tuple[Method, ...]:
        """The ways in which it can be learnt."""
        return METHODS if self.labels else METHODS_OF_SPANS

    def mix(
        self,
        parts: Sequence[Part],
        dev: Rows,
        tests: Mapping[str, Rows],
        held: Rows,
        languages: tuple[str, ...] = ("en",),
    ) -> Mix:
        """A mix of rows of this shape."""
        longest = LONGEST[not self.labels]
        return Mix(self.task, self.inputs, self.answer, self.labels, parts, dev, tests, held, languages, longest)

    def row(self, inputs: Mapping[str, Any], answers: Sequence[Any]) -> Row | Question:
        """An input with the answers that are right, the first of which a classifier learns.

        Raises KeyError, TypeError or IndexError for what does not fit.
        """
        texts = {name: _text(inputs[name]) for name in self.inputs}
        if self.labels:
            return Row(texts, str(answers[0]))
        spans = [spans[0] for spans in answers]
        return Question(texts, tuple(str(span["text"]) for span in spans), int(spans[0]["start"]))


def unfit(config: TaskConfig) -> str:
    """Why no model is trained for a task, and what models are trained for; empty where one is."""
    why = _unfit(config)
    can = _(
        "Training supports answers chosen from a list, given one or two texts, and answers that are "
        "one span of one text, given another."
    )
    return f"{why} {can}" if why else ""


def _unfit(config: TaskConfig) -> str:
    field, _returns = described.returned(config)
    read = [each for each in (*config.model_context, *config.input) if each.name != field.name]
    if not isinstance(field, Choice | Spans):
        return _("The answer “%(name)s” is of type %(type)s.", name=field.name, type=field.type)
    if isinstance(field, Choice) and len(field.values) < 2:
        return _("The answer “%(name)s” has fewer than two options.", name=field.name)
    if config.chat is not None:
        return _("Annotators converse with the models.")
    if others := [each.name for each in read if not isinstance(each, Text)]:
        return _("Models read %(others)s, which is not text.", others=", ".join(others))
    if isinstance(field, Spans) and not field.one:
        return _("“%(name)s” may have several spans: max_spans is not 1.", name=field.name)
    if isinstance(field, Spans) and (len(read) != 2 or field.of not in [each.name for each in read]):
        return _("“%(name)s” is to be marked in one of two texts that models read.", name=field.name)
    return _("Models read more than two texts.") if len(read) > 2 else ""


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{str(value)[:40]!r} is no text")
    return value


def of_lines(path: Path, shape: Shape) -> list[Row | Question]:
    """Rows of a JSON lines file, gzipped or plain: a column for each input and one for the answer.

    Raises `Invalid` with the row that is wrong.
    """
    found: list[Row | Question] = []
    try:
        found.extend(shape.row(raw, [raw[shape.answer]]) for _number, raw in read_objects(path))
    except (KeyError, TypeError, IndexError) as error:
        wanted = ", ".join((*shape.inputs, shape.answer))
        told = f"Row {len(found) + 1} does not have {wanted} as they are needed: {error}"
        raise Invalid({path.name: told}) from None
    except (Invalid, OSError) as error:
        raise Invalid({path.name: f"Row {len(found) + 1} is no JSON in a line: {error}"}) from None
    return found


def of_file(path: Path, shape: Shape, weight: float = 1.0) -> Part:
    """The rows of a JSON lines file as a part, called like the file and a bit of its SHA-256."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return Part(f"{path.name} ({digest[:12]})", of_lines(path, shape), weight)


def of_recipe(name: str, data: Path, shape: Shape, weight: float = 1.0) -> Part:
    """The rows of `RECIPE/SOURCE`, as the recipe reads them below the folder `data`."""
    chosen, _, wanted = name.partition("/")
    recipe = recipes.load(chosen)
    known = {source.name: source for source in (*recipe.train, *recipe.dev, *recipe.test)}
    if wanted not in known:
        raise NotFound(f"The recipe {chosen} has no source {wanted!r}; it has {', '.join(known)}.")
    if (tuple(recipe.inputs), tuple(recipe.labels)) != (shape.inputs, shape.labels):
        raise Invalid({name: f"Its rows are {', '.join(recipe.inputs)}; the task's are {', '.join(shape.inputs)}."})
    source = known[wanted]
    found: mixing.Rows = (questions if recipe.kind == "extractor" else rows).of_source(source, data, recipe)
    return Part(source.name, found, weight, source.licence)
