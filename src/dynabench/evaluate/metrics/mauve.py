"""MAUVE: how far the distribution of generated texts is from that of human texts.

Sources: Pillutla and others, MAUVE: measuring the gap between neural text and human text using divergence
frontiers, NeurIPS 2021; Liu, Pillutla and others, Divergence frontiers for generative models, NeurIPS 2021.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from dynabench.evaluate.columns import Floats, Numbers, Texts
from dynabench.evaluate.labels import Ints
from dynabench.evaluate.module import Metric
from dynabench.evaluate.networks import checkpoints
from dynabench.evaluate.values import ratio, to_plain

ROWS = 4096  # of which distances to all centres are held at once


def histograms(first: Floats, second: Floats, clusters: Ints, buckets: int) -> tuple[Floats, Floats]:
    """Return the share of the rows of each set in each cluster; `clusters` are those of `first`, then of `second`."""
    parts = np.split(clusters, [len(first)])
    counts = [np.bincount(part, minlength=buckets) for part in parts]
    return counts[0] / len(first), counts[1] / len(second)


def frontier(p: Floats, q: Floats, weights: Floats, scale: float) -> Floats:
    """The divergence curve, shape (len(weights) + 2, 2): exp(-scale * KL) of q and of p to each mixture
    w * p + (1 - w) * q, between the ends (1, 0) and (0, 1)."""
    mixtures = weights[:, None] * p + (1 - weights)[:, None] * q
    inner = np.exp(-scale * np.stack([_divergence(q, mixtures), _divergence(p, mixtures)], 1))
    return np.concatenate([[[1.0, 0.0]], inner, [[0.0, 1.0]]])


def area_under_frontier(curve: Floats) -> float:
    """The area below a curve from (1, 0) to (0, 1), by trapezoids; the same along either axis."""
    x, y = curve.T
    return float(((x[:-1] - x[1:]) * (y[:-1] + y[1:])).sum() / 2)


def frontier_integral(p: Floats, q: Floats) -> float:
    """Twice the mean over mixtures of w * KL(p, mixture) + (1 - w) * KL(q, mixture), w uniform: from 0 to 1."""
    unlike = (p > 0) & (q > 0) & (np.abs(p - q) > 1e-12 * (p + q))
    logarithm = np.log(np.where(unlike, p, 1)) - np.log(np.where(unlike, q, 1))
    mean = np.where((p > 0) & (q > 0), (p + q) / 2, 0)
    mean = np.where(unlike, ratio(p * q * logarithm, p - q), mean)
    return float(((p + q) / 2 - mean).sum())


def reduce_dimensions(points: Floats, explained: float, most: int, rng: np.random.Generator) -> Floats:
    """Points of length 1 in as many principal components as explain this share of their variance, shape (n, d').

    Components are of `most` points, drawn without replacement; of all where that is negative or not fewer than all.
    """
    points = points * ratio(1, np.linalg.norm(points, axis=1, keepdims=True))
    chosen = points if most < 0 or most >= len(points) else points[rng.choice(len(points), most, replace=False)]
    middle = chosen.mean(0)
    values, vectors = np.linalg.eigh(np.atleast_2d(np.cov(chosen, rowvar=False, bias=True)))
    shares = np.cumsum(np.maximum(values[::-1], 0))
    size = int(np.searchsorted(shares, explained * shares[-1] * (1 - 1e-12))) + 1
    result: Floats = (points - middle) @ vectors[:, ::-1][:, :size]
    return result


def cluster_points(points: Floats, buckets: int, redo: int, most: int, rng: np.random.Generator) -> Ints:
    """The cluster of each point by k-means, shape (n,): the best of `redo` trials of up to `most` rounds each.

    Lloyd's rounds from centres drawn by k-means++ (Arthur and Vassilvitskii, 2007). Clusters are numbered by their
    first point.
    """
    best, least = np.zeros(len(points), np.int64), np.inf
    for _ in range(redo):
        centres = _spread(points, buckets, rng)
        last = np.full(len(points), -1)
        for _ in range(most):
            clusters, squares = _nearest(points, centres)
            if (clusters == last).all():
                break
            last = clusters
            centres = _centres(points, clusters, squares, buckets)
        clusters, squares = _nearest(points, centres)
        if squares.sum() < least:
            best, least = clusters, float(squares.sum())
    _, first, codes = np.unique(best, return_index=True, return_inverse=True)
    result: Ints = np.argsort(np.argsort(first))[codes]
    return result


def _divergence(p: Floats, mixtures: Floats) -> Floats:
    """KL(p, m) of each mixture, all of which are positive where p is."""
    held = p > 0
    result: Floats = (p[held] * np.log(p[held] / mixtures[:, held])).sum(1)
    return np.maximum(result, 0)


def _spread(points: Floats, buckets: int, rng: np.random.Generator) -> Floats:
    """Points as centres, each drawn in proportion to the squared distance from those before."""
    chosen = [int(rng.integers(len(points)))]
    squares = ((points - points[chosen[0]]) ** 2).sum(1)
    while len(chosen) < buckets:
        total = squares.sum()
        place = rng.choice(len(points), p=squares / total) if total > 0 else rng.integers(len(points))
        chosen.append(int(place))
        squares = np.minimum(squares, ((points - points[place]) ** 2).sum(1))
    return points[chosen]


def _nearest(points: Floats, centres: Floats) -> tuple[Ints, Floats]:
    """The nearest centre of each point and its squared distance, each of shape (n,)."""
    length = (centres**2).sum(1)
    clusters, squares = np.empty(len(points), np.int64), np.empty(len(points))
    for start in range(0, len(points), ROWS):
        part = points[start : start + ROWS]
        away = length - 2 * part @ centres.T
        closest = away.argmin(1)
        clusters[start : start + ROWS] = closest
        squares[start : start + ROWS] = away[np.arange(len(part)), closest] + (part**2).sum(1)
    return clusters, np.maximum(squares, 0)


def _centres(points: Floats, clusters: Ints, squares: Floats, buckets: int) -> Floats:
    """The mean of each cluster; one without points takes a point that is far from its own."""
    counts = np.bincount(clusters, minlength=buckets)
    sums = np.stack([np.bincount(clusters, column, buckets) for column in points.T], 1)
    centres = ratio(sums, counts[:, None])
    empty = np.flatnonzero(counts == 0)
    centres[empty[: len(points)]] = points[np.argsort(-squares, kind="stable")[: len(empty)]]
    return centres


Featurize = Callable[[list[str]], Any]
SIDES = (("predictions", "p_features"), ("references", "q_features"))
BATCH = 8  # texts that a model reads at once


@dataclass(frozen=True)
class FeatureSets:
    """Features of generated and of human texts, shapes (n, d) and (m, d)."""

    first: Floats
    second: Floats

    def __len__(self) -> int:
        return len(self.first)

    def __add__(self, other: "FeatureSets") -> "FeatureSets":
        return FeatureSets(np.concatenate([self.first, other.first]), np.concatenate([self.second, other.second]))

    def total(self) -> tuple[Floats, Floats]:
        """Both clouds."""
        return self.first, self.second


class Mauve(Metric):
    """Similarity of the distribution of generated texts to that of human texts."""

    columns = {"predictions": Texts(), "references": Texts()}
    optional = {"p_features": Numbers(wide=True), "q_features": Numbers(wide=True)}
    arrays = True
    apart = frozenset({"predictions", "references", "p_features", "q_features"})

    def clean(self, columns: Mapping[str, Any]) -> dict[str, Any]:
        """Return features where the caller passes them, else texts.

        Raises ValueError for a side without either or any row.
        """
        kinds, clean = {**self.columns, **self.optional}, {}
        for texts, features in SIDES:
            name = features if features in columns else texts
            if name not in columns:
                raise ValueError(f"mauve needs {texts} or {features}")
            clean[name] = kinds[name].clean(columns[name], name)
            if not len(clean[name]):
                raise ValueError(f"nothing to compute: {name} are empty, give at least one")
        return clean

    def update(
        self,
        predictions: list[str] | None = None,
        references: list[str] | None = None,
        p_features: Floats | None = None,
        q_features: Floats | None = None,
        *,
        featurize: Featurize | None = None,
        featurize_model_name: str | None = None,
        max_text_length: int = 1024,
        device_id: int = -1,
    ) -> FeatureSets:
        """Return features of both sides. Raises ValueError where there are none, or where their sizes differ."""
        if featurize is None and featurize_model_name is not None:
            featurize = _model(featurize_model_name, max_text_length, device_id)
        first = _rows(predictions, p_features, "p_features", featurize)
        second = _rows(references, q_features, "q_features", featurize)
        if first.shape[1] != second.shape[1]:
            raise ValueError(f"p_features have {first.shape[1]} numbers in a row, q_features {second.shape[1]}")
        return FeatureSets(first, second)

    def result(
        self,
        state: Any,
        *,
        num_buckets: int | str = "auto",
        pca_max_data: int = -1,
        kmeans_explained_var: float = 0.9,
        kmeans_num_redo: int = 5,
        kmeans_max_iter: int = 500,
        seed: int = 25,
        divergence_curve_discretization_size: int = 25,
        mauve_scaling_factor: float = 5,
        verbose: bool = False,
        **options: Any,
    ) -> dict[str, Any]:
        """See the card. Raises ValueError for options out of range."""
        first, second = state.total()
        buckets = max(2, round(min(len(first), len(second)) / 10)) if num_buckets == "auto" else num_buckets
        if not isinstance(buckets, int | np.integer) or buckets < 1 or kmeans_num_redo < 1 or kmeans_max_iter < 1:
            raise ValueError("num_buckets is 'auto' or 1 or more; kmeans_num_redo and kmeans_max_iter are 1 or more")
        if not 0 < kmeans_explained_var <= 1 or divergence_curve_discretization_size < 2 or mauve_scaling_factor <= 0:
            raise ValueError(
                "kmeans_explained_var lies above 0 and at most at 1, divergence_curve_discretization_size is 2 or "
                "more, mauve_scaling_factor above 0"
            )
        rng = np.random.default_rng(seed)
        points = reduce_dimensions(np.concatenate([first, second]), kmeans_explained_var, pca_max_data, rng)
        p, q = histograms(
            first, second, cluster_points(points, buckets, kmeans_num_redo, kmeans_max_iter, rng), buckets
        )
        curve = frontier(p, q, np.linspace(1e-6, 1 - 1e-6, divergence_curve_discretization_size), mauve_scaling_factor)
        scores: dict[str, Any] = to_plain(
            {
                "mauve": area_under_frontier(curve),
                "frontier_integral": frontier_integral(p, q),
                "divergence_curve": curve,
                "p_hist": p,
                "q_hist": q,
            }
        )
        return scores

    def compatible(self, result: dict[str, Any]) -> SimpleNamespace:
        """The same as attributes, lists as arrays: `compute(...).divergence_curve[:, 1]`."""
        return SimpleNamespace(**super().compatible(result))


def _rows(texts: list[str] | None, features: Floats | None, name: str, featurize: Featurize | None) -> Floats:
    if features is None:
        if featurize is None:
            raise ValueError(
                "mauve compares features of texts: pass featurize=a function from texts to rows of numbers, "
                "featurize_model_name=a model's folder, or p_features and q_features"
            )
        features = Numbers(wide=True).clean(featurize(texts or []), name)
        if len(features) != len(texts or []):
            raise ValueError(f"featurize gave {len(features)} rows for {len(texts or [])} texts")
    if features.ndim != 2:
        raise ValueError(f"{name}: give a row of numbers for each text")
    return features


def _model(folder: str, longest: int, device: int) -> Featurize:
    """The state of the last token of each text. Raises ValueError where there is no folder."""
    if not Path(folder).is_dir():
        raise ValueError(f"featurize_model_name={folder!r} is no folder with a model; nothing is downloaded")
    place = checkpoints.ModelLocation(folder, local=True)
    tokenizer, model = checkpoints.read_pretrained(place, "AutoTokenizer"), checkpoints.read_model(place, "AutoModel")
    import torch

    where = checkpoints.resolve_device(f"cuda:{device}" if device >= 0 else "cpu")
    model.to(where).eval()
    tokenizer.padding_side = "right"
    tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token

    def states(texts: list[str]) -> Iterator[Any]:
        for start in range(0, len(texts), BATCH):
            batch = tokenizer(
                texts[start : start + BATCH], return_tensors="pt", padding=True, truncation=True, max_length=longest
            ).to(where)
            with torch.inference_mode():
                hidden = model(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"]).last_hidden_state
            last = batch["attention_mask"].sum(1).clamp(min=1) - 1
            yield hidden[torch.arange(len(hidden)), last].float().cpu().numpy()

    return lambda texts: np.concatenate(list(states(texts)))
