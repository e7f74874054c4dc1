"""FrugalScore."""

from typing import Any

from dynabench.evaluate.networks.checkpoints import wanted
from dynabench.evaluate.networks.regressors import LearntOfPairs, scores
from dynabench.evaluate.states import Sums


class FrugalScore(LearntOfPairs):
    """Scores of a small model that learnt to say what an expensive metric says."""

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
        chosen = wanted(model, self.name, "moussaKam/frugalscore_tiny_bert-base_bert-score")
        rows = list(zip(predictions, references, strict=True))
        return Sums(scores(chosen, rows, batch_size, device, max_length))
