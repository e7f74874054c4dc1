"""The metrics of IndicGLUE."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynabench.evaluate.classes import benchmarks
from dynabench.evaluate.columns import Column, Floats, Labels, Numbers
from dynabench.evaluate.module import Metric
from dynabench.evaluate.states import Cells, Sums
from dynabench.evaluate.states.summed import Summed

BLOCK = 1 << 22  # similarities that are held at once
NEAREST = 10
ACCURATE = ("wnli", "copa", "sna", "csqa", "wstp", "inltkh", "bbca", "iitp-mr", "iitp-pr", "actsa-sc", "md")


@dataclass(frozen=True)
class Retrieval(Summed):
    """Vectors of sentences and of their translations, each of shape (n, d); n queries into n candidates."""

    queries: Floats
    candidates: Floats

    def __add__(self, other: "Retrieval") -> "Retrieval":
        pairs = zip((self.queries, self.candidates), (other.queries, other.candidates), strict=True)
        return Retrieval(*(np.concatenate(pair) for pair in pairs))

    @cached_property
    def sums(self) -> Sums:
        """Whether each query's own translation is among the ten nearest of all candidates."""
        queries, candidates = (_directions(vectors) for vectors in (self.queries, self.candidates))
        return Sums(np.concatenate(list(_found(queries, candidates))))


class IndicGlue(Metric):
    """The metrics of IndicGLUE, tasks in eleven Indian languages."""

    columns = {"predictions": Labels(), "references": Labels()}
    configs = (*ACCURATE, "wiki-ner", "cvit-mkb-clsr")

    @property
    def features(self) -> dict[str, Column]:
        """Labels, or vectors for cvit-mkb-clsr."""
        if self.config_name == "cvit-mkb-clsr":
            return dict.fromkeys(self.columns, Numbers(wide=True))
        return super().features

    def update(self, predictions: Any, references: Any) -> Sums | Cells | Retrieval:
        """Hits; cells of a confusion matrix; or the vectors themselves."""
        if self.config_name == "cvit-mkb-clsr":
            if predictions.ndim != 2 or predictions.shape != references.shape:
                raise ValueError(
                    f"give vectors of one length on both sides, not {predictions.shape} and {references.shape}"
                )
            return Retrieval(predictions, references)
        if self.config_name == "wiki-ner":
            return Cells.of(references, predictions)
        return benchmarks.hits(predictions, references)

    def formula(self, total: Any) -> Mapping[str, Any]:
        """The config's metrics."""
        found = benchmarks.accuracy(total)
        if self.config_name == "cvit-mkb-clsr":
            return {"precision@10": found}
        if self.config_name == "wiki-ner":
            return {"accuracy": found, "f1": benchmarks.binary_f1(total, "wiki-ner")}
        return {"accuracy": found}


def _directions(vectors: Floats) -> Floats:
    """Vectors of length 1 from the mean of all; those at the mean itself stay 0, similar to nothing."""
    centred = vectors - vectors.mean(0)
    length = np.linalg.norm(centred, axis=1, keepdims=True)
    result: Floats = np.divide(centred, length, out=np.zeros_like(centred), where=length > 0)
    return result


def _found(queries: Floats, candidates: Floats) -> Any:
    """Of each query whether fewer than ten candidates are nearer than its own, in blocks."""
    n = len(queries)
    size = max(BLOCK // n, 1)
    for start in range(0, n, size):
        near: NDArray[Any] = np.round(queries[start : start + size] @ candidates.T, 12)  # equal ones compare equal
        rows = np.arange(len(near))
        own = near[rows, rows + start][:, None]
        earlier = np.arange(n)[None, :] < (rows + start)[:, None]
        yield ((near > own) | ((near == own) & earlier)).sum(1) < NEAREST
