"""Pictures of the shipped tasks: drawn here, or read from the digits that come with scikit-learn."""

import random
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from PIL.Image import Image

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
