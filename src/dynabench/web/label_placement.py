"""Places for the names of points in a chart, so that no two names stand on each other at any width of the page.

Points are placed in percent of the width, text in pixels. Whether two names overlap therefore depends on the width of
the chart, which the server does not know. Both edges of a name move in proportion to the width, so two names that are
apart in the same order at the narrowest and at the widest drawing are apart at all widths between.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from unicodedata import combining, east_asian_width

NARROWEST, WIDEST = 250.0, 940.0
"""Pixels of a chart on a small phone, and on a wide screen."""
LINE = 15.0  # pixels of a line of text
NARROW, BROAD, FULL_WIDTH = 7.0, 10.0, 13.0  # pixels of characters
LONGEST = 22  # characters of a name; the rest is cut
RADIUS = 6.0
ASIDE = 9.0  # pixels from a point to a name beside it
STEPS = (-10.0, 10.0, -24.0, 24.0, -38.0, 38.0, -52.0, 52.0)
"""Pixels from a point to the middle of its name: the first are off the line of an interval."""
ATTACHED = 26.0  # a name further away than this has a line to its point


@dataclass(frozen=True)
class LabelBox:
    """A box of `top` to `bottom` pixels; its left edge is `share` of the width and `shift` pixels, then `width`."""

    share: float
    shift: float
    width: float
    top: float
    bottom: float

    def left_edge(self, chart_width: float) -> float:
        """Return the left edge in pixels in a chart of this width."""
        return self.share * chart_width + self.shift

    def is_within(self, top: float, bottom: float) -> bool:
        """Return whether the box lies in the chart at every width."""
        return (
            top <= self.top
            and self.bottom <= bottom
            and all(
                self.left_edge(size) >= 0 and self.left_edge(size) + self.width <= size for size in (NARROWEST, WIDEST)
            )
        )

    def overlaps(self, other: "LabelBox") -> bool:
        """Return whether the boxes overlap at some width from the narrowest to the widest."""
        if self.bottom <= other.top or other.bottom <= self.top:
            return False
        return not (_stands_before(self, other) or _stands_before(other, self))


@dataclass(frozen=True)
class PointName:
    """A point in percent and pixels, and its name; of names that compete for a place the first has it."""

    x: float
    y: float
    name: str


@dataclass(frozen=True)
class PlacedName:
    """A name at `y`, `dx` pixels beside the point, by its `anchor`; `far` where a line leads to the point."""

    text: str
    anchor: str
    dx: float
    y: float
    box: LabelBox
    far: bool = False


def place_names(
    names: Sequence[PointName], top: float, bottom: float, occupied: Sequence[LabelBox] = ()
) -> list[PlacedName | None]:
    """Return a place for each name, None where there is none that is free.

    Names stand between `top` and `bottom`, off the `occupied` boxes, and off points where that is possible.
    """
    dots = [LabelBox(point.x / 100, -RADIUS, 2 * RADIUS, point.y - RADIUS, point.y + RADIUS) for point in names]
    boxes = list(occupied)
    placed: list[PlacedName | None] = []
    for point in names:
        candidates = [place for place in _candidates(point) if place.box.is_within(top, bottom)]
        free = [place for place in candidates if not any(map(place.box.overlaps, boxes))]
        off_points = [place for place in free if not any(map(place.box.overlaps, dots))]
        choice = next(iter(off_points or free), None)
        placed.append(choice)
        if choice is not None:
            boxes.append(choice.box)
    return placed


def text_width(text: str) -> float:
    """Return about how many pixels a bold text of 12 px takes, rather too many than too few."""
    return sum(_glyph_width(character) for character in text)


def _glyph_width(character: str) -> float:
    if combining(character):
        return 0.0
    if east_asian_width(character) in "WF":
        return FULL_WIDTH
    return BROAD if character.isupper() or character in "mw%@…" else NARROW


def _candidates(point: PointName) -> Iterator[PlacedName]:
    """Places beside the point, above it and below it, the nearest first."""
    text = point.name if len(point.name) <= LONGEST else point.name[: LONGEST - 1] + "…"
    width = text_width(text)
    beside = [("start", ASIDE, ASIDE), ("end", -ASIDE, -ASIDE - width)]
    for step in STEPS:
        for anchor, dx, shift in beside if point.x <= 55 else beside[::-1]:
            yield _place(point, text, anchor, dx, shift, step)
        if abs(step) > LINE:
            yield _place(point, text, "middle", 0.0, -width / 2, step)


def _place(point: PointName, text: str, anchor: str, dx: float, shift: float, step: float) -> PlacedName:
    centre = point.y + step
    box = LabelBox(point.x / 100, shift, text_width(text), centre - LINE / 2, centre + LINE / 2)
    return PlacedName(text, anchor, dx, round(centre + 4, 1), box, abs(step) > ATTACHED)


def _stands_before(first: LabelBox, second: LabelBox) -> bool:
    return all(first.left_edge(size) + first.width <= second.left_edge(size) for size in (NARROWEST, WIDEST))
