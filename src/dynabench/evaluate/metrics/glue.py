"""The metrics of GLUE, and of SuperGLUE, IndicGLUE and XNLI, which follow it."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynabench.evaluate.classes import benchmarks
from dynabench.evaluate.columns import Column, Floats, Labels, Numbers, Records
from dynabench.evaluate.metrics.matthews_correlation import matthews
from dynabench.evaluate.module import Metric
from dynabench.evaluate.numbers.moments import correlation
from dynabench.evaluate.numbers.ranks import CorrelatedPairs, rank_correlation
from dynabench.evaluate.ratios import ratio
from dynabench.evaluate.states import Cells, Sums
from dynabench.evaluate.states.summed import SummedState
from dynabench.evaluate.texts.reading_tasks import MultircQuestions, best_match, match_record_rows, multirc_question

ACCURACY_CONFIGS = ("sst2", "mnli", "mnli_mismatched", "mnli_matched", "qnli", "rte", "wnli", "hans")
BLOCK = 1 << 22  # similarities that are held at once
NEAREST = 10
INDIC_ACCURACY_CONFIGS = (
    "wnli",
    "copa",
    "sna",
    "csqa",
    "wstp",
    "inltkh",
    "bbca",
    "iitp-mr",
    "iitp-pr",
    "actsa-sc",
    "md",
)


class Glue(Metric, name="glue"):
    """The metrics of the nine tasks of GLUE, and of its diagnostics."""

    columns = {"predictions": Labels(), "references": Labels()}
    configs = (*ACCURACY_CONFIGS, "cola", "stsb", "mrpc", "qqp")

    @property
    def features(self) -> dict[str, Column]:
        """Labels, or numbers for stsb."""
        return dict.fromkeys(self.columns, Numbers()) if self.config_name == "stsb" else super().features

    def update(self, predictions: Any, references: Any) -> Sums | Cells | CorrelatedPairs:
        """Hits; cells of a confusion matrix; or the numbers themselves."""
        if self.config_name == "stsb":
            return CorrelatedPairs(np.stack([predictions, references], 1))
        if self.config_name in ("cola", "mrpc", "qqp"):
            return Cells.of(references, predictions)
        return benchmarks.correct_rows(predictions, references)

    def formula(self, total: Any) -> Mapping[str, Any]:
        """The config's metrics."""
        if self.config_name == "stsb":
            return {"pearson": correlation(total[..., 3:]), "spearmanr": rank_correlation(total[..., :3])}
        if self.config_name == "cola":
            return {"matthews_correlation": matthews(total.hits.sum(-1), total.true, total.said)}
        if self.config_name in ("mrpc", "qqp"):
            return {"accuracy": benchmarks.accuracy(total), "f1": benchmarks.binary_f1(total, self.config_name)}
        return {"accuracy": benchmarks.accuracy(total)}

    def result(self, state: Any, **options: Any) -> dict[str, Any]:
        """Return the metrics. Raises ValueError where a correlation is undefined."""
        scores = super().result(state, **options)
        if None in scores.values():
            raise ValueError("a correlation needs two examples that differ: one side is constant")
        return scores


class SuperGlue(Metric, name="super_glue"):
    """The metrics of the tasks of SuperGLUE."""

    columns = {"predictions": Labels(), "references": Labels()}
    configs = ("boolq", "cb", "copa", "multirc", "record", "rte", "wic", "wsc", "wsc.fixed", "axb", "axg")

    @property
    def features(self) -> dict[str, Column]:
        """Labels, or dictionaries for record and multirc."""
        if self.config_name == "record":
            return {"predictions": Records(("idx", "prediction_text")), "references": Records(("idx", "answers"))}
        if self.config_name == "multirc":
            return {"predictions": Records(("idx", "prediction")), "references": Labels()}
        return super().features

    def update(self, predictions: Any, references: Any) -> Sums | Cells | MultircQuestions:
        """Hits, cells of a confusion matrix, (exact match, F1) of each answer, or answers by question."""
        if self.config_name == "multirc":
            predicted = Labels().clean([row["prediction"] for row in predictions], "predictions")
            keys = [multirc_question(row["idx"], place) for place, row in enumerate(predictions)]
            return MultircQuestions.of(keys, references, predicted)
        if self.config_name == "record":
            pairs = match_record_rows(predictions, references)
            return Sums(np.array([best_match(text, answers) for text, answers in pairs], float).reshape(-1, 2))
        if self.config_name in ("cb", "axb"):
            return Cells.of(references, predictions)
        return benchmarks.correct_rows(predictions, references)

    def formula(self, total: Any) -> Mapping[str, Any]:
        """The config's metrics."""
        if self.config_name == "multirc":
            exact, within, right, ones, n = np.moveaxis(total, -1, 0)
            return {"exact_match": ratio(exact, n), "f1_m": ratio(within, n), "f1_a": ratio(2 * right, ones)}
        if self.config_name == "record":
            return {"exact_match": ratio(total[..., 0], total[..., 2]), "f1": ratio(total[..., 1], total[..., 2])}
        if self.config_name == "axb":
            return {"matthews_correlation": matthews(total.hits.sum(-1), total.true, total.said)}
        if self.config_name == "cb":
            return {"accuracy": benchmarks.accuracy(total), "f1": benchmarks.macro_f1(total)}
        return {"accuracy": benchmarks.accuracy(total)}


@dataclass(frozen=True)
class TranslationRetrieval(SummedState):
    """Vectors of sentences and of their translations, each of shape (n, d); n queries into n candidates."""

    queries: Floats
    candidates: Floats

    def __add__(self, other: "TranslationRetrieval") -> "TranslationRetrieval":
        pairs = zip((self.queries, self.candidates), (other.queries, other.candidates), strict=True)
        return TranslationRetrieval(*(np.concatenate(pair) for pair in pairs))

    @cached_property
    def sums(self) -> Sums:
        """1 for each query whose own translation is among the ten nearest of all candidates, else 0."""
        queries, candidates = (_directions(vectors) for vectors in (self.queries, self.candidates))
        return Sums(np.concatenate(list(_own_nearest(queries, candidates))))


class IndicGlue(Metric, name="indic_glue"):
    """The metrics of IndicGLUE, tasks in eleven Indian languages."""

    columns = {"predictions": Labels(), "references": Labels()}
    configs = (*INDIC_ACCURACY_CONFIGS, "wiki-ner", "cvit-mkb-clsr")

    @property
    def features(self) -> dict[str, Column]:
        """Labels, or vectors for cvit-mkb-clsr."""
        if self.config_name == "cvit-mkb-clsr":
            return dict.fromkeys(self.columns, Numbers(wide=True))
        return super().features

    def update(self, predictions: Any, references: Any) -> Sums | Cells | TranslationRetrieval:
        """Hits; cells of a confusion matrix; or the vectors themselves."""
        if self.config_name == "cvit-mkb-clsr":
            if predictions.ndim != 2 or predictions.shape != references.shape:
                raise ValueError(
                    f"give vectors of one length on both sides, not {predictions.shape} and {references.shape}"
                )
            return TranslationRetrieval(predictions, references)
        if self.config_name == "wiki-ner":
            return Cells.of(references, predictions)
        return benchmarks.correct_rows(predictions, references)

    def formula(self, total: Any) -> Mapping[str, Any]:
        """The config's metrics."""
        accuracy = benchmarks.accuracy(total)
        if self.config_name == "cvit-mkb-clsr":
            return {"precision@10": accuracy}
        if self.config_name == "wiki-ner":
            return {"accuracy": accuracy, "f1": benchmarks.binary_f1(total, "wiki-ner")}
        return {"accuracy": accuracy}


def _directions(vectors: Floats) -> Floats:
    """Vectors of length 1 from the mean of all; those at the mean itself stay 0, similar to nothing."""
    centred = vectors - vectors.mean(0)
    length = np.linalg.norm(centred, axis=1, keepdims=True)
    result: Floats = np.divide(centred, length, out=np.zeros_like(centred), where=length > 0)
    return result


def _own_nearest(queries: Floats, candidates: Floats) -> Any:
    """Of each query whether fewer than ten candidates are nearer than its own, in blocks."""
    n = len(queries)
    size = max(BLOCK // n, 1)
    for start in range(0, n, size):
        near: NDArray[Any] = np.round(queries[start : start + size] @ candidates.T, 12)  # equal ones compare equal
        rows = np.arange(len(near))
        own = near[rows, rows + start][:, None]
        earlier = np.arange(n)[None, :] < (rows + start)[:, None]
        yield ((near > own) | ((near == own) & earlier)).sum(1) < NEAREST


class Xnli(Metric, name="xnli"):
    """Accuracy, the metric of the cross-lingual inference corpus XNLI."""

    columns = {"predictions": Labels(), "references": Labels()}

    def update(self, predictions: Any, references: Any) -> Sums:
        """1 for each row that is right, else 0."""
        return benchmarks.correct_rows(predictions, references)

    def formula(self, total: Floats) -> dict[str, Floats]:
        """The share of right rows."""
        return {"accuracy": benchmarks.accuracy(total)}
