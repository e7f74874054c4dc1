"""Parts of the page of a report: charts, the tree of clusters, the points of the map."""

from dataclasses import dataclass, replace

from dynabench.insight.data_measurements import formatting
from dynabench.insight.data_measurements.results import MeasureResult, Table
from dynabench.web.charts import Chart

DRAWN = ("map", "clusters")
"""Tables that the page shows as a map and a tree."""
MOST_BARS = 20
WIDTH, HEIGHT, EDGE = 640, 360, 12


@dataclass(frozen=True)
class ClusterNode:
    """A cluster of texts, with the clusters inside it."""

    number: int
    threshold: float
    size: int
    words: str
    texts: tuple[str, ...]
    inner: tuple["ClusterNode", ...]


@dataclass(frozen=True)
class MapPoint:
    """A text on the map: its place in the picture, its cluster (-1 for none) and its beginning."""

    x: float
    y: float
    cluster: int
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
            ClusterNode(number, threshold, size, words, tuple(texts.split("\n")), inside(number))
            for number, around, threshold, size, words, texts in rows
            if around == parent
        )

    return list(inside(-1))


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
        MapPoint(scaled(x, low_x, high_x, WIDTH), scaled(y, low_y, high_y, HEIGHT), cluster, text)
        for x, y, cluster, text in rows
    ]
