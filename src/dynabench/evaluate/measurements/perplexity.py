"""Perplexity of the texts of a data set."""

from typing import Any

from dynabench.evaluate.columns import Texts
from dynabench.evaluate.module import Measurement
from dynabench.evaluate.networks import perplexities
from dynabench.evaluate.states import Sums


class PerplexityMeasurement(perplexities.PerplexityOfTexts, Measurement):
    """Perplexity of the texts of a data set."""

    columns = {"data": Texts()}

    def update(
        self,
        data: list[str],
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
        return perplexities.text_perplexities(model_name, data, batch_size, add_start_token, device, max_length)
