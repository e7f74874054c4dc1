"""What models of a task read and answer, and rows of files as they are trained on."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dynabench.errors import Invalid, NotFound
from dynabench.models.starting import described
from dynabench.models.training import mixing, questions, recipes, rows
from dynabench.models.training.mixing import Part
from dynabench.models.training.questions import Question
from dynabench.models.training.rows import Row
from dynabench.tasks import TaskConfig

LEARNT = ("label", "spans")


@dataclass(frozen=True)
class Shape:
    """A task's inputs, its answer and the labels of that; none where answers are spans of the last input."""

    task: str
    inputs: tuple[str, ...]
    answer: str
    labels: tuple[str, ...]

    @classmethod
    def of(cls, config: TaskConfig) -> "Shape":
        """That of a task; raises `Invalid` where its answers are neither labels nor spans."""
        told = described.facts(config.id, config, "adapter", {})
        if told.get("returns", "label") not in LEARNT:
            raise Invalid(
                {"task": f"The answers of {config.id} are neither labels nor spans; nothing is trained on it."}
            )
        return cls(config.id, tuple(told["inputs"]), told["answer"], tuple(told.get("labels", ())))

    def row(self, inputs: Mapping[str, Any], answers: Sequence[Any]) -> Row | Question:
        """An input with the answers that are right, the first of which a classifier learns.

        Raises KeyError, TypeError or IndexError for what does not fit.
        """
        texts = {name: _text(inputs[name]) for name in self.inputs}
        if self.labels:
            return Row(texts, str(answers[0]))
        spans = [spans[0] for spans in answers]
        return Question(texts, tuple(str(span["text"]) for span in spans), int(spans[0]["start"]))


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{str(value)[:40]!r} is no text")
    return value


def of_lines(path: Path, shape: Shape) -> list[Row | Question]:
    """Rows of a JSON lines file, gzipped or plain: a column for each input and one for the answer.

    Raises `Invalid` with the line that is wrong.
    """
    found = []
    for number, raw in enumerate(rows.read(path), 1):
        try:
            found.append(shape.row(raw, [raw[shape.answer]]))
        except (KeyError, TypeError, IndexError) as error:
            wanted = ", ".join((*shape.inputs, shape.answer))
            raise Invalid({path.name: f"Line {number} does not have {wanted} as they are needed: {error}"}) from None
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
