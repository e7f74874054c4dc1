"""Perplexity."""

from typing import Any

from dynabench.evaluate.card import Card
from dynabench.evaluate.columns import Texts
from dynabench.evaluate.module import Metric
from dynabench.evaluate.networks import perplexities
from dynabench.evaluate.states import Sums
from dynabench.language import N_


class Perplexity(perplexities.PerplexityOfTexts, Metric):
    """How well a language model predicts texts."""

    card = Card(
        description=N_(
            "How uncertain a language model is, on average, about the next token of texts that were written or "
            "generated: the number of equally likely tokens among which it would be as uncertain."
        ),
        formula=perplexities.FORMULA,
        inputs={"predictions": "texts that a model wrote"},
        options=perplexities.OPTIONS,
        outputs=perplexities.OUTPUTS,
        examples=perplexities.examples("predictions"),
        limits=perplexities.LIMITS,
        citation=perplexities.CITATION,
        tasks=("text-generation", "language-modeling"),
        needs=("models",),
        references=("https://huggingface.co/docs/transformers/perplexity",),
    )
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
        chosen = perplexities.chosen_of(model_id, model, self.name)
        return perplexities.perplexities_of(chosen, predictions, batch_size, add_start_token, device, max_length)
