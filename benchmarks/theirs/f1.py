"""F1 as a module of the package `evaluate`, whose own modules come from a hub: its plumbing over scikit-learn."""

import datasets
import evaluate
from sklearn.metrics import f1_score

FEATURES = {"predictions": datasets.Value("int32"), "references": datasets.Value("int32")}


class F1(evaluate.Metric):
    """F1, averaged over classes."""

    def _info(self) -> evaluate.MetricInfo:
        return evaluate.MetricInfo("F1.", "", features=datasets.Features(FEATURES), inputs_description="Labels.")

    def _compute(self, predictions: list[int], references: list[int], average: str = "binary") -> dict[str, float]:
        return {"f1": float(f1_score(references, predictions, average=average))}
