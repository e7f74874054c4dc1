"""The pictures of the shipped tasks: drawn here, or read from the digits that come with scikit-learn."""

import random
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from PIL.Image import Image

LEARNT = 1200
"""The first digits are what the shipped model has learnt; the others are shown."""
OFFERED = ("first", "second", "third", "fourth", "fifth", "sixth")
"""The fields of a context of digits."""
DIGITS = 30
SHAPES = 24
COLOURS = {"red": (214, 48, 49), "blue": (38, 70, 220), "green": (24, 140, 60), "yellow": (240, 205, 40),
           "black": (20, 20, 20), "gray": (128, 128, 128), "teal": (0, 128, 128), "brown": (150, 75, 40)}  # fmt: skip
FORMS = ("circle", "rectangle", "triangle")


def digit(number: int) -> "Image":
    """A digit of scikit-learn's, dark on white, 8 x 8 points."""
    import numpy as np
    from PIL import Image

    grey = 255 - np.round(_digits()[0][number].reshape(8, 8) * 255 / 16)
    return Image.fromarray(grey.astype(np.uint8))


def _digits() -> Any:
    from sklearn.datasets import load_digits

    global _kept
    if _kept is None:
        _kept = load_digits(return_X_y=True)
    return _kept


_kept: Any = None


def of(task: str) -> Iterator[dict[str, Any]]:
    """The contexts of a shipped task that shows pictures, as `{"values": {...}, "tag": "..."}`, pictures as images."""
    if task == "image-classification":
        yield from _six_digits()
    elif task == "vqa":
        yield from _shapes()


def _six_digits() -> Iterator[dict[str, Any]]:
    """Six digits that the model has not learnt, all different, in an order drawn once."""
    rng = random.Random(7)
    _, shown = _digits()
    left = list(range(LEARNT, len(shown)))
    rng.shuffle(left)
    for _ in range(DIGITS):
        picked: list[int] = []
        for number in left:
            if len(picked) < len(OFFERED) and shown[number] not in {shown[each] for each in picked}:
                picked.append(number)
        left = [number for number in left if number not in picked]
        yield {"values": {name: digit(number) for name, number in zip(OFFERED, picked, strict=True)}, "tag": "digits"}


def _shapes() -> Iterator[dict[str, Any]]:
    rng = random.Random(11)
    for number in range(SHAPES):
        count = 1 if number % 2 == 0 else 2
        drawn = rng.sample([(form, colour) for form in FORMS for colour in COLOURS], count)
        yield {"values": {"image": shapes(drawn, rng)}, "tag": "one shape" if count == 1 else "two shapes"}


def shapes(wanted: list[tuple[str, str]], rng: random.Random) -> "Image":
    """A picture of 64 x 64 points with these (form, colour) on pale ground, one to the left of the other."""
    from PIL import Image, ImageDraw

    ground = tuple(rng.randint(230, 250) for _ in range(3))
    large = Image.new("RGB", (256, 256), ground)
    pen = ImageDraw.Draw(large)
    room = 256 // len(wanted)
    for at, (form, colour) in enumerate(wanted):
        wide, tall = rng.randint(56, min(110, room - 16)), rng.randint(56, 110)
        tall = wide if form == "circle" else tall
        left, top = at * room + rng.randint(8, room - wide - 8), rng.randint(8, 248 - tall)
        box = (left, top, left + wide, top + tall)
        if form == "circle":
            pen.ellipse(box, fill=COLOURS[colour])
        elif form == "rectangle":
            pen.rectangle(box, fill=COLOURS[colour])
        else:
            pen.polygon([(left, top + tall), (left + wide, top + tall), (left + wide // 2, top)], fill=COLOURS[colour])
    return large.resize((64, 64), Image.Resampling.LANCZOS)
