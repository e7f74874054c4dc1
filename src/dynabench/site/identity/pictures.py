"""The site's mark as icons, and the pictures that stand beside shared links, drawn as SVG and rendered as PNG."""

import re
import struct
import textwrap
from dataclasses import dataclass

from markupsafe import escape

from dynabench.web.charts import INK, INK_2, LINE, MODELS, PEOPLE

PAPER = "#faf9f6"
WIDTH, HEIGHT = 1200, 630
"""Pixels of a shared link's picture, the size that sites ask for."""
FONT = "Inter, Roboto, 'Liberation Sans', 'DejaVu Sans', sans-serif"
MARGIN = 72
END = WIDTH - MARGIN
TITLE_LETTERS, LINE_LETTERS = 28, 58  # letters of a line of the title and of the text below it
MARK = (
    '<g fill="none" stroke-linecap="round" stroke-width="3">'
    f'<path stroke="{MODELS}" d="M13 4H7a3 3 0 0 0-3 3v10a3 3 0 0 0 3 3h10a3 3 0 0 0 3-3v-6"/>'
    f'<circle cx="18" cy="6" r="4" fill="{PEOPLE}" stroke="none"/></g>'
)
"""A frame that a dot leaves, 24 units wide: the example that escapes the model."""


@dataclass(frozen=True)
class LinkFigure:
    """A number of a picture: its text, what it is, and where it has one its 95% interval, as shares from 0 to 1.

    `people` is the accuracy of people on the same axis.
    """

    text: str
    label: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    people: float | None = None
    colour: str = PEOPLE


def draw_link_picture(title: str, text: str, figure: LinkFigure | None = None) -> str:
    """Return the picture of a shared link as SVG: the mark, a title, one sentence, and a number with its interval."""
    titles = textwrap.wrap(title, TITLE_LETTERS)[:2] or [""]
    size = 76 if len(titles) == 1 else 64
    lines = textwrap.wrap(_beginning(text, 2 * LINE_LETTERS), LINE_LETTERS)
    parts = [
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="{PAPER}"/>',
        f'<g transform="translate({MARGIN - 6} 56) scale(2.2)">{MARK}</g>',
        _text("Dynabench", MARGIN + 58, 95, 34, INK, 650),
    ]
    y = 210
    for line in titles:
        parts.append(_text(line, MARGIN, y, size, INK, 700))
        y += size + 8
    y += 2
    for line in lines:
        parts.append(_text(line, MARGIN, y, 32, INK_2))
        y += 44
    if figure is not None:
        parts.append(_figure(figure))
    inside = "".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" font-family="{FONT}">{inside}</svg>'
    )


def _beginning(text: str, letters: int) -> str:
    """The first sentences of a text that have so many letters at most; where the first is longer, its first words."""
    first, *others = re.split(r"(?<=[.?!])\s+", text.strip())
    for sentence in others:
        if len(first) + len(sentence) + 1 > letters:
            break
        first = f"{first} {sentence}"
    return textwrap.shorten(first, letters, placeholder="…")


def _text(text: str, x: float, y: float, size: int, colour: str, weight: int = 400, anchor: str = "start") -> str:
    style = f'font-size="{size}" font-weight="{weight}" fill="{colour}" text-anchor="{anchor}"'
    return f'<text x="{x}" y="{y}" {style}>{escape(text)}</text>'


def _figure(figure: LinkFigure) -> str:
    """The number at the foot of the picture, beside it the axis from 0 to 1 with its interval and with people."""
    parts = [
        _text(figure.text, MARGIN, 510, 96, figure.colour, 700),
        _text(figure.label, MARGIN, 566, 28, INK_2),
    ]
    if figure.value is not None and figure.low is not None and figure.high is not None:
        start, y = 620, 476

        def at(share: float) -> float:
            return start + (END - start) * min(1.0, max(0.0, share))

        low, value, high, colour = at(figure.low), at(figure.value), at(figure.high), figure.colour
        parts += [
            f'<path d="M{start} {y}H{END}" stroke="{LINE}" stroke-width="4"/>',
            f'<path d="M{low} {y}H{high}" stroke="{colour}" stroke-width="10" stroke-linecap="round"/>',
            f'<circle cx="{value}" cy="{y}" r="16" fill="{colour}" stroke="{PAPER}" stroke-width="4"/>',
        ]
        if figure.people is not None:
            x = at(figure.people)
            parts.append(f'<path d="M{x} {y - 40}V{y + 40}" stroke="{PEOPLE}" stroke-width="6"/>')
            parts.append(_text("people", x, y - 52, 26, PEOPLE, 600, "middle"))
    return "".join(parts)


def draw_icon(padding: float = 3.5) -> str:
    """Return the mark on paper as a square, as telephones show it."""
    side = 24 + 2 * padding
    box = f"{-padding} {-padding} {side} {side}"
    paper = f'<rect x="{-padding}" y="{-padding}" width="{side}" height="{side}" fill="{PAPER}"/>'
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}" width="512" height="512">{paper}{MARK}</svg>'


def draw_mark() -> str:
    """Return the mark alone, on nothing, as tabs of browsers show it."""
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="1 0 22 22" width="512" height="512">{MARK}</svg>'


def render_png(svg: str, scale: float = 1.0) -> bytes:
    """Return a drawing as PNG, in its own size times `scale`."""
    import vl_convert

    return bytes(vl_convert.svg_to_png(svg, scale=scale))


def wrap_ico(png: bytes, side: int) -> bytes:
    """Return an ICO file with one square picture of `side` pixels, at most 255."""
    entry = struct.pack("<BBBBHHII", side, side, 0, 0, 1, 32, len(png), 6 + 16)
    return struct.pack("<HHH", 0, 1, 1) + entry + png
