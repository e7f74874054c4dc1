"""FrugalScore."""

from typing import Any

from dynabench.evaluate.networks.checkpoints import require_model
from dynabench.evaluate.networks.regressors import LearnedPairMetric, model_scores
from dynabench.evaluate.states import Sums


class FrugalScore(LearnedPairMetric):
    """Scores of a small model that was trained to reproduce an expensive metric."""

    def update(
        self,
        predictions: list[str],
        references: list[str],
        *,
        model: Any = None,
        batch_size: int = 32,
        max_length: int = 128,
        device: str | None = None,
    ) -> Sums:
        """The score of each row."""
        chosen = require_model(model, self.name, "moussaKam/frugalscore_tiny_bert-base_bert-score")
        rows = list(zip(predictions, references, strict=True))
        return Sums(model_scores(chosen, rows, batch_size, device, max_length))
