"""Perplexity."""

from typing import Any

from dynabench.evaluate.columns import Texts
from dynabench.evaluate.module import Metric
from dynabench.evaluate.networks import perplexities
from dynabench.evaluate.states import Sums


class Perplexity(perplexities.PerplexityOfTexts, Metric):
    """Perplexity of texts for a language model."""

    columns = {"predictions": Texts()}

    def update(
        self,
        predictions: list[str],
        *,
        model_id: str | None = None,
        model: Any = None,
        batch_size: int = 16,
        add_start_token: bool = True,
        device: str | None = None,
        max_length: int | None = None,
    ) -> Sums:
        """Negative log-likelihood, tokens and perplexity of each text."""
        model_name = perplexities.choose_model(model_id, model, self.name)
        return perplexities.text_perplexities(model_name, predictions, batch_size, add_start_token, device, max_length)
