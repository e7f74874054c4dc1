"""A heat map over a picture that needs nothing but answers: cover one part after the other and see what is lost.

Zeiler and Fergus, Visualizing and understanding convolutional networks, ECCV 2014, section 4.2.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from dynabench.models import pictures
from dynabench.models.protocol import Attribution, Card, Inputs, Model, Output

if TYPE_CHECKING:
    from PIL.Image import Image

METHOD = "occlusion"
GRID = 7
"""Rows and columns of parts."""
BATCH = 16
FLOOR = 1e-6


def added(model: Model, found: Attribution, inputs: Inputs) -> Attribution:
    """The attribution with a map for each picture: what the log-odds of the label lose without each part.

    A part is covered with the picture's mean colour. Each map is scaled so that the largest magnitude is 1.
    """
    maps = {name: _map(model, inputs, name, found.label) for name in model.card.images}
    return replace(found, maps=maps)


def _map(model: Model, inputs: Inputs, name: str, label: str) -> list[list[float]]:
    picture = pictures.opened(inputs[name], name)
    rows, columns = (min(GRID, side) for side in (picture.height, picture.width))
    places = [(row, column) for row in range(rows) for column in range(columns)]
    asked = [inputs] + [{**inputs, name: _covered(picture, place, (rows, columns))} for place in places]
    outputs = [out for at in range(0, len(asked), BATCH) for out in model.predict(asked[at : at + BATCH])]
    values = np.array([_log_odds(model.card, out, label) for out in outputs])
    lost = values[0] - values[1:]
    scaled = lost / (float(np.abs(lost).max(initial=0.0)) or 1.0)
    found: list[list[float]] = scaled.reshape(rows, columns).tolist()
    return found


def _covered(picture: "Image", place: tuple[int, int], grid: tuple[int, int]) -> str:
    sizes: Sequence[int] = (picture.height, picture.width)
    top, left = (at * size // count for at, size, count in zip(place, sizes, grid, strict=True))
    bottom, right = ((at + 1) * size // count for at, size, count in zip(place, sizes, grid, strict=True))
    mean = tuple(int(value) for value in np.asarray(picture).reshape(-1, 3).mean(0))
    changed = picture.copy()
    changed.paste(mean, (left, top, right, bottom))
    return pictures.text_of(changed)


def _log_odds(card: Card, output: Output, label: str) -> float:
    """Log-odds of the label, or 1 and 0 where there are no probabilities."""
    if output.probabilities is None or label not in output.probabilities:
        return float(output.answer[card.answer] == label)
    p = min(max(output.probabilities[label], FLOOR), 1 - FLOOR)
    return float(np.log(p / (1 - p)))
