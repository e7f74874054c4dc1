"""Pictures: decoding them, and heat maps that need nothing but a model's answers."""

import base64
import binascii
import io
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from dynabench.kit.errors import Invalid
from dynabench.media.file_formats import media_type_of
from dynabench.models.protocol import Attribution, Inputs, Model, ModelCard, ModelOutput

if TYPE_CHECKING:
    from PIL.Image import Image


PIXELS = 40_000_000
"""Of one picture at most; a file of some kilobytes can claim any number."""
FORMATS = ("PNG", "JPEG", "WEBP")


def open_picture(text: str, name: str) -> "Image":
    """The picture of the input `name`, in RGB and upright; raises `Invalid` for what is none, or too large."""
    from PIL import Image, ImageOps, UnidentifiedImageError

    head, _, body = text.partition(",")
    if not head.startswith("data:image/") or not head.endswith(";base64"):
        raise Invalid({name: "A picture as data:image/png;base64,... is needed."})
    try:
        picture = Image.open(io.BytesIO(base64.b64decode(body, validate=True)), formats=FORMATS)
        if picture.width * picture.height > PIXELS:
            raise Invalid(
                {name: f"The picture has {picture.width} x {picture.height} pixels; up to {PIXELS:,} are read."}
            )
        return ImageOps.exif_transpose(picture).convert("RGB")
    except Image.DecompressionBombError as error:
        raise Invalid({name: f"The picture unfolds to more than {PIXELS:,} pixels."}) from error
    except (binascii.Error, UnidentifiedImageError, OSError, ValueError, SyntaxError) as error:
        raise Invalid({name: f"This is no picture that can be read ({', '.join(FORMATS)}): {error}"}) from error


def picture_type(content: bytes) -> str:
    """The media type of a picture by its first bytes, as `image/png`; empty for what is none that is read."""
    media_type = media_type_of(content)
    return media_type if media_type.startswith("image/") else ""


def text_of(picture: "Image") -> str:
    """A picture as `data:image/png;base64,...`."""
    held = io.BytesIO()
    picture.save(held, "PNG")
    return f"data:image/png;base64,{base64.b64encode(held.getvalue()).decode()}"


METHOD = "occlusion"
GRID = 7
"""Rows and columns of parts."""
BATCH = 16
FLOOR = 1e-6


def weigh_patches(model: Model, attribution: Attribution, inputs: Inputs) -> Attribution:
    """The attribution with a map for each picture: what the log-odds of the label lose without each part.

    A part is covered with the picture's mean colour. Each map is scaled so that the largest magnitude is 1.
    """
    maps = {name: _map(model, inputs, name, attribution.label) for name in model.card.images}
    return replace(attribution, maps=maps)


def _map(model: Model, inputs: Inputs, name: str, label: str) -> list[list[float]]:
    picture = open_picture(inputs[name], name)
    rows, columns = (min(GRID, side) for side in (picture.height, picture.width))
    places = [(row, column) for row in range(rows) for column in range(columns)]
    questions = [inputs] + [{**inputs, name: _covered(picture, place, (rows, columns))} for place in places]
    outputs = [out for at in range(0, len(questions), BATCH) for out in model.predict(questions[at : at + BATCH])]
    values = np.array([_log_odds(model.card, out, label) for out in outputs])
    lost = values[0] - values[1:]
    scaled = lost / (float(np.abs(lost).max(initial=0.0)) or 1.0)
    weights: list[list[float]] = scaled.reshape(rows, columns).tolist()
    return weights


def _covered(picture: "Image", place: tuple[int, int], grid: tuple[int, int]) -> str:
    sizes: Sequence[int] = (picture.height, picture.width)
    top_edge, left_edge = (at * size // count for at, size, count in zip(place, sizes, grid, strict=True))
    bottom_edge, right_edge = ((at + 1) * size // count for at, size, count in zip(place, sizes, grid, strict=True))
    mean = tuple(int(value) for value in np.asarray(picture).reshape(-1, 3).mean(0))
    changed = picture.copy()
    changed.paste(mean, (left_edge, top_edge, right_edge, bottom_edge))
    return text_of(changed)


def _log_odds(card: ModelCard, output: ModelOutput, label: str) -> float:
    """Log-odds of the label, or 1 and 0 where there are no probabilities."""
    if output.probabilities is None or label not in output.probabilities:
        return float(output.answer[card.answer] == label)
    p = min(max(output.probabilities[label], FLOOR), 1 - FLOOR)
    return float(np.log(p / (1 - p)))
