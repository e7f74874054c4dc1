"""Parts of the page of a report: charts, the tree of clusters, the points of the map."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from dynabench.insight.data_measurements import formatting
from dynabench.insight.data_measurements.results import MeasureResult, Table
from dynabench.web.charts import Chart

DRAWN = ("map", "clusters", "rows")
"""Tables that the page shows as a map and a tree."""
MOST_BARS = 20
WIDTH, HEIGHT, EDGE = 640, 360, 12
ACROSS, DOWN = 8, 5
"""Parts of the map for fingers: on a phone each is about 44 pixels wide and 40 high."""


@dataclass(frozen=True)
class ClusterNode:
    """A cluster of texts, with the clusters inside it; `texts` are typical ones, with the numbers of their rows."""

    number: int
    threshold: float
    size: int
    words: str
    texts: tuple[tuple[int, str], ...]
    inner: tuple["ClusterNode", ...]


@dataclass(frozen=True)
class MapPoint:
    """A text on the map: its place in the picture, its cluster (-1 for none), its beginning, its row's number."""

    x: float
    y: float
    cluster: int
    text: str
    row: int

    @property
    def area(self) -> int:
        """The number of the part of the picture that the point is in."""
        across = min(int(self.x * ACROSS / WIDTH), ACROSS - 1)
        return across + ACROSS * min(int(self.y * DOWN / HEIGHT), DOWN - 1)


@dataclass(frozen=True)
class MapArea:
    """A part of the map that a finger can hit: its place, its number of texts."""

    number: int
    x: float
    y: float
    size: int


@dataclass(frozen=True)
class MappedRow:
    """A row of the data that is on the map, with the smallest cluster around it (-1 for none)."""

    row: int
    cluster: int
    label: str
    split: str
    text: str


def table_chart(table: Table) -> Chart | None:
    """Return the picture of a table; None for one that is read as it is."""
    if len(table.rows) > MOST_BARS:
        return None
    return formatting.table_chart(table if table.name == "labels" else replace(table, line=None))


def cluster_tree(result: MeasureResult) -> list[ClusterNode]:
    """Return the clusters of the themes, the largest first, each with those inside it."""
    rows = next((table.rows for table in result.tables if table.name == "clusters"), ())

    def inside(parent: int) -> tuple[ClusterNode, ...]:
        return tuple(
            ClusterNode(number, threshold, size, words, tuple(map(_numbered, texts.split("\n"))), inside(number))
            for number, around, threshold, size, words, texts in rows
            if around == parent
        )

    return list(inside(-1))


def _numbered(line: str) -> tuple[int, str]:
    number, _tab, text = line.partition("\t")
    return int(number), text


def map_points(result: MeasureResult) -> list[MapPoint]:
    """Return the points of the map, scaled to the picture."""
    rows = next((table.rows for table in result.tables if table.name == "map"), ())
    if not rows:
        return []
    low_x, high_x = min(row[0] for row in rows), max(row[0] for row in rows)
    low_y, high_y = min(row[1] for row in rows), max(row[1] for row in rows)

    def scaled(value: float, low: float, high: float, size: int) -> float:
        return round(EDGE + (size - 2 * EDGE) * (value - low) / ((high - low) or 1.0), 1)

    return [
        MapPoint(scaled(x, low_x, high_x, WIDTH), scaled(y, low_y, high_y, HEIGHT), cluster, text, row)
        for x, y, cluster, text, row in rows
    ]


def map_areas(points: Sequence[MapPoint]) -> list[MapArea]:
    """Return the parts of the picture that have points."""
    counts = Counter(point.area for point in points)
    width, height = WIDTH / ACROSS, HEIGHT / DOWN
    return [MapArea(area, width * (area % ACROSS), height * (area // ACROSS), counts[area]) for area in sorted(counts)]


def mapped_rows(result: MeasureResult, cluster: int | None, area: int | None, row: int | None) -> list[MappedRow]:
    """Return the rows of the map: those of a cluster with all inside it, of an area, around a row, or all.

    A row comes first, then the others of its smallest cluster.
    """
    table = next((table.rows for table in result.tables if table.name == "rows"), ())
    rows = [MappedRow(*values) for values in table]
    if row is not None:
        match = next((item for item in rows if item.row == row), None)
        if match is None:
            return []
        rows = [item for item in rows if item.cluster == match.cluster >= 0 and item != match]
        return [match, *rows]
    if area is not None:
        numbers = {point.row for point in map_points(result) if point.area == area}
        return [item for item in rows if item.row in numbers]
    if cluster is None:
        return rows
    inside = set(_inside(cluster_tree(result), cluster))
    return [item for item in rows if item.cluster in inside]


def _inside(nodes: Sequence[ClusterNode], number: int, within: bool = False) -> Iterator[int]:
    for node in nodes:
        here = within or node.number == number
        if here:
            yield node.number
        yield from _inside(node.inner, number, here)


def all_clusters(nodes: Sequence[ClusterNode]) -> Iterator[ClusterNode]:
    """Yield clusters and those inside them."""
    for node in nodes:
        yield node
        yield from all_clusters(node.inner)
