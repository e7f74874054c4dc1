"""Pictures as inputs of models, and the heat maps that are drawn over them."""

import base64
import binascii
import io
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from dynabench.kit.language import _
from dynabench.tasks.fields import Field, FieldError, JsonSchema, Values

LARGEST = 2 * 2**20
"""Bytes of a picture."""
LONGEST_SIDE = 8192
MOST_PIXELS = 25_000_000
FORMATS = {"PNG": "png", "JPEG": "jpeg", "WEBP": "webp"}
MOST_CELLS = 64
"""Rows, and columns, of a heat map that are drawn at most."""
_DATA = re.compile(r"data:image/(png|jpeg|webp);base64,([A-Za-z0-9+/]+={0,2})")


class Picture(Field):
    """A PNG, JPEG or WebP picture as `data:image/png;base64,...`."""

    type: Literal["picture"] = "picture"

    missing = _("Choose a picture.")

    def check(self, raw: object, beside: Values) -> str | None:
        """The same text, if it is a picture of a size that can be read."""
        if not isinstance(raw, str):
            raise FieldError(_("This must be a picture as a data: address."))
        if not raw:
            return None
        if len(raw) > LARGEST * 4 // 3 + 100:
            raise FieldError(
                _("A picture may have at most %(largest)s MiB. Make it smaller.", largest=LARGEST // 2**20)
            )
        match = _DATA.fullmatch(raw)
        if match is None:
            raise FieldError(_("Choose a PNG, JPEG or WebP picture."))
        try:
            image_size(base64.b64decode(match[2], validate=True))
        except binascii.Error:
            raise FieldError(_("Choose a PNG, JPEG or WebP picture.")) from None
        return raw

    def json_schema(self) -> JsonSchema:
        """A data address; that it holds a picture is beyond a schema."""
        return {"type": "string", "pattern": f"^{_DATA.pattern}$", "maxLength": LARGEST * 4 // 3 + 100}

    def template(self, view: str) -> str:
        """Its own, beside the registry's pages."""
        return "registry/_picture.html"


def data_address(content: bytes) -> str:
    """An uploaded picture as a data address, its kind read from its content; raises `FieldError`."""
    if len(content) > LARGEST:
        raise FieldError(_("A picture may have at most %(largest)s MiB. Make it smaller.", largest=LARGEST // 2**20))
    kind, _width, _height = image_size(content)
    return f"data:image/{kind};base64,{base64.b64encode(content).decode()}"


def image_size(content: bytes) -> tuple[str, int, int]:
    """Kind, width and height, from the picture's head alone; raises `FieldError` for what is none, or too large."""
    from PIL import Image

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it warns of large pictures, which are refused below
            with Image.open(io.BytesIO(content), formats=tuple(FORMATS)) as picture:
                kind, (width, height) = FORMATS[str(picture.format)], picture.size
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        raise FieldError(_("Choose a PNG, JPEG or WebP picture.")) from None
    if max(width, height) > LONGEST_SIDE or width * height > MOST_PIXELS:
        raise FieldError(
            _(
                "This picture has %(width)s x %(height)s pixels. Make it smaller.",
                width=f"{width:,}",
                height=f"{height:,}",
            )
        )
    return kind, width, height


@dataclass(frozen=True)
class Cell:
    """One rectangle of a heat map, in points of the picture; `weight` from -1 to 1."""

    x: float
    y: float
    width: float
    height: float
    weight: float


@dataclass(frozen=True)
class Heat:
    """A picture of `width` x `height` points with the cells of its map that weigh anything."""

    source: str
    width: int
    height: int
    cells: tuple[Cell, ...]


def heat(source: str, rows: Sequence[Sequence[float]]) -> Heat | None:
    """The map of a picture, given as its data address; None for a map that is empty, ragged or no numbers."""
    match = _DATA.fullmatch(source)
    columns = {len(row) for row in rows}
    if match is None or len(columns) != 1 or not (count := columns.pop()):
        return None
    _, width, height = image_size(base64.b64decode(match[2]))
    down, across = -(-len(rows) // MOST_CELLS), -(-count // MOST_CELLS)
    tall, wide = height / len(rows), width / count
    cells = []
    for top in range(0, len(rows), down):
        for x_start in range(0, count, across):
            part = [weight for row in rows[top : top + down] for weight in row[x_start : x_start + across]]
            weight = max(-1.0, min(1.0, sum(part) / len(part)))
            if abs(weight) >= 0.02:  # NaN is not
                bottom, right = min(top + down, len(rows)), min(x_start + across, count)
                box = (x_start * wide, top * tall, (right - x_start) * wide, (bottom - top) * tall)
                x, y, w, h = (round(coordinate, 2) for coordinate in box)
                cells.append(Cell(x, y, w, h, round(weight, 3)))
    return Heat(source, width, height, tuple(cells))
