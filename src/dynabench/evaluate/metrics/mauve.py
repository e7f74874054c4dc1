"""MAUVE."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from dynabench.evaluate.columns import Floats, Numbers, Texts
from dynabench.evaluate.module import Metric
from dynabench.evaluate.networks import checkpoints
from dynabench.evaluate.numbers.divergences import (
    area_under_frontier,
    cluster_points,
    frontier,
    frontier_integral,
    histograms,
    reduce_dimensions,
)
from dynabench.evaluate.plain_values import to_plain

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
