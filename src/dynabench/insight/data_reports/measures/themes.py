"""A map of texts: clusters of embeddings at several thresholds, with the texts at their centres."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dynabench.insight.data_measurements.results import Figure, MeasureResult, Table, make_columns
from dynabench.insight.data_measurements.sample import words
from dynabench.insight.data_reports.measured import Floats, MeasuredData, excerpt, unit_vectors, whole_text
from dynabench.insight.data_reports.measures.learned import tf_idf
from dynabench.insight.data_reports.measures.vocabulary import function_words
from dynabench.kit.language import Amount, _

THRESHOLDS = (0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2)
"""Mean cosine similarities at which clusters are cut, from the closest."""
LEAST = 10
"""Rows of a cluster."""
REPRESENTATIVES = 5
KEYWORDS = 5
LONGEST = 1_000
"""Characters of a text of the map that a report keeps."""
WIDTH = 50
"""Dimensions of texts' vectors where no encoder is installed."""


@dataclass(frozen=True)
class TextCluster:
    """Rows that are alike at a `threshold`; `parent` is the place of the smallest cluster around it, -1 for none."""

    threshold: float
    rows: tuple[int, ...]
    parent: int


def themes(data: MeasuredData) -> MeasureResult | None:
    """The clusters as a tree, and all texts as points of a plane."""
    rows = data.embedded
    if len(rows) < 2 * LEAST:
        return None
    encoder = data.vectors is not None
    texts = [whole_text(row) for row in rows]
    content = [[word for word in words(text) if word not in function_words()] for text in texts]
    vectors = data.vectors if data.vectors is not None else lexical_vectors(content)
    clusters = find_clusters(vectors)
    common = [set(held) for held in content]
    table_rows = []
    for number, cluster in enumerate(clusters):
        centre = unit_vectors(vectors[list(cluster.rows)].sum(0, keepdims=True))[0]
        nearest = sorted(cluster.rows, key=lambda row: -float(vectors[row] @ centre))[:REPRESENTATIVES]
        typical = "\n".join(f"{data.embedded_places[row][0] + 1}\t{excerpt(texts[row], 160)}" for row in nearest)
        table_rows.append((number, cluster.parent, cluster.threshold, len(cluster.rows),
                           ", ".join(keywords(common, cluster.rows)), typical))  # fmt: skip
    header = make_columns(
        ("cluster", _("Cluster"), "count"), ("parent", _("Part of"), "count"), ("threshold", _("Similarity"), "number"),
        ("size", _("Rows"), "count"), ("words", _("Words"), "text"), ("texts", _("Typical texts"), "text"),
    )  # fmt: skip
    map_table, variance = _map_of_texts(data, texts, vectors, clusters)
    top = [cluster for cluster in clusters if cluster.parent == -1]
    inside = sum(len(cluster.rows) for cluster in top)
    figures = (
        Figure("clusters", _("Clusters"), float(len(top)), n=len(rows), kind="count"),
        Figure("clustered", _("Texts in a cluster"), inside / len(rows), n=len(rows), kind="share"),
        Figure("plane", _("Variance that the map shows"), variance, n=len(rows), kind="share"),
    )
    tables = (
        Table("clusters", _("Clusters"), header, tuple(table_rows), (0,) * len(table_rows)),
        map_table,
        _mapped_rows(data, clusters),
    )
    note = "" if encoder else _("No encoder is installed: texts are compared by their words instead of their meaning.")
    finding = (
        _(
            "%(share)s of texts are in a cluster (clusters: %(n)s)",
            n=Amount(len(top)),
            share=Amount(inside / len(rows), ".0%"),
        )
        if top
        else _("Texts form no clusters")
    )
    return MeasureResult(finding, figures, tables, note=note)


def _map_of_texts(
    data: MeasuredData, texts: Sequence[str], vectors: Floats, clusters: Sequence[TextCluster]
) -> tuple[Table, float]:
    """Return the texts as points of a plane, and the share of variance that the plane shows."""
    plane, variance = flatten(vectors)
    place_of = {row: number for number, cluster in enumerate(clusters) for row in cluster.rows if cluster.parent == -1}
    numbers = [place + 1 for place, _row in data.embedded_places]
    points = tuple(
        (round(float(x), 4), round(float(y), 4), place_of.get(row, -1), excerpt(texts[row], 80), numbers[row])
        for row, (x, y) in enumerate(plane)
    )
    header = make_columns(
        ("x", "x", "number"), ("y", "y", "number"), ("cluster", _("Cluster"), "count"), ("text", _("Text"), "text"),
        ("row", _("Row"), "count"),
    )  # fmt: skip
    return Table("map", _("Map of texts"), header, points, (0,) * len(points)), variance


def _mapped_rows(data: MeasuredData, clusters: Sequence[TextCluster]) -> Table:
    """The rows of the map, each with the smallest cluster that it is in (-1 for none)."""
    smallest: dict[int, int] = {}
    for number in sorted(range(len(clusters)), key=lambda number: -len(clusters[number].rows)):
        smallest |= dict.fromkeys(clusters[number].rows, number)
    rows = tuple(
        (place + 1, smallest.get(at, -1), row.label, row.split, whole_text(row)[:LONGEST])
        for at, (place, row) in enumerate(data.embedded_places)
    )
    header = make_columns(
        ("row", _("Row"), "count"), ("cluster", _("Cluster"), "count"), ("label", _("Label"), "text"),
        ("split", _("Split"), "text"), ("text", _("Text"), "text"),
    )  # fmt: skip
    return Table("rows", _("Texts of the map"), header, rows, (0,) * len(rows))


def lexical_vectors(texts: Sequence[Sequence[str]]) -> Floats:
    """Return unit vectors of texts by their words (latent semantic analysis), shape (n, at most `WIDTH`)."""
    from scipy.sparse.linalg import svds

    features = tf_idf(texts)
    width = min(WIDTH, min(features.shape) - 1)
    if width < 1:
        return np.zeros((len(texts), 1))
    basis, values, _right = svds(features, k=width, random_state=np.random.default_rng(0))
    return unit_vectors(basis * values)


def find_clusters(vectors: Floats, least: int = LEAST) -> list[TextCluster]:
    """Return the clusters of unit vectors, shape (n, d), by average linkage of cosine distances, largest first.

    A cluster that is the same at two thresholds is one cluster, at the closer threshold.
    """
    from scipy.cluster.hierarchy import fcluster, linkage

    distances = np.clip(1 - vectors @ vectors.T, 0, None)
    tree = linkage(distances[np.triu_indices(len(vectors), 1)], "average")
    best: dict[tuple[int, ...], float] = {}
    for threshold in THRESHOLDS:
        codes = fcluster(tree, 1 - threshold + 1e-9, "distance")
        for code in np.unique(codes):
            rows = tuple(np.flatnonzero(codes == code).tolist())
            if len(rows) >= least:
                best.setdefault(rows, threshold)
    ordered = sorted(best, key=lambda rows: (-len(rows), rows))
    sets = [set(rows) for rows in ordered]
    clusters = []
    for number, rows in enumerate(ordered):
        around = [at for at in range(number) if rows[0] in sets[at] and len(ordered[at]) > len(rows)]
        clusters.append(TextCluster(best[rows], rows, around[-1] if around else -1))
    return clusters


def keywords(texts: Sequence[set[str]], rows: Sequence[int]) -> list[str]:
    """Return the words that are most frequent inside a cluster beyond their frequency in all texts."""
    inside: dict[str, int] = {}
    for row in rows:
        for word in texts[row]:
            inside[word] = inside.get(word, 0) + 1
    frequent = [word for word, count in inside.items() if count >= max(2, len(rows) // 10)]
    overall = {word: sum(word in text for text in texts) for word in frequent}
    size, n = len(rows), len(texts)

    def telling(word: str) -> float:
        k, expected = inside[word], size * overall[word] / n
        return k * float(np.log(k / expected))

    return sorted(frequent, key=lambda word: (-telling(word), word))[:KEYWORDS]


def flatten(vectors: Floats) -> tuple[Floats, float]:
    """Return the two principal components, shape (n, 2), and the share of the variance that they keep."""
    centred = vectors - vectors.mean(0)
    basis, values, _right = np.linalg.svd(centred, full_matrices=False)
    plane = np.zeros((len(vectors), 2))
    plane[:, : min(2, len(values))] = basis[:, :2] * values[:2]
    total = float((values**2).sum())
    return plane, float((values[:2] ** 2).sum()) / total if total else 0.0
