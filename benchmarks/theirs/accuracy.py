"""Accuracy as a module of the package `evaluate`, whose own modules come from a hub: its plumbing over scikit-learn."""

import datasets
import evaluate
from sklearn.metrics import accuracy_score

FEATURES = {"predictions": datasets.Value("int32"), "references": datasets.Value("int32")}


class Accuracy(evaluate.Metric):
    """The share of right predictions."""

    def _info(self) -> evaluate.MetricInfo:
        return evaluate.MetricInfo("Accuracy.", "", features=datasets.Features(FEATURES), inputs_description="Labels.")

    def _compute(self, predictions: list[int], references: list[int]) -> dict[str, float]:
        return {"accuracy": float(accuracy_score(references, predictions))}
