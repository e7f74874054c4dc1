"""BLEURT."""

from typing import Any

from dynabench.evaluate.networks.checkpoints import require_model
from dynabench.evaluate.networks.regressors import LearnedPairMetric, model_scores
from dynabench.evaluate.states import Sums


class Bleurt(LearnedPairMetric):
    """Scores of a model that was trained on human ratings of texts against references."""

    def update(
        self,
        predictions: list[str],
        references: list[str],
        *,
        model: Any = None,
        batch_size: int = 32,
        device: str | None = None,
        max_length: int | None = None,
    ) -> Sums:
        """The score of each row."""
        chosen = require_model(model, self.name, "the TensorFlow checkpoint bleurt-base-128")
        rows = list(zip(references, predictions, strict=True))
        return Sums(model_scores(chosen, rows, batch_size, device, max_length))
