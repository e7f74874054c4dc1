"""Perplexity of the texts of a data set."""

from typing import Any

from dynabench.evaluate.card import Card
from dynabench.evaluate.columns import Texts
from dynabench.evaluate.module import Measurement
from dynabench.evaluate.networks import perplexities
from dynabench.evaluate.states import Sums
from dynabench.language import N_


class Perplexity(perplexities.PerplexityOfTexts, Measurement):
    """How surprising the texts of a data set are."""

    card = Card(
        description=N_(
            "How surprising texts of a data set are to a language model: the number of equally likely tokens among "
            "which it would be as uncertain about the next one. High values find odd, broken or foreign texts."
        ),
        formula=perplexities.FORMULA,
        inputs={"data": "texts of the data set"},
        options=perplexities.OPTIONS,
        outputs=perplexities.OUTPUTS,
        examples=perplexities.examples("data"),
        limits=perplexities.LIMITS,
        citation=perplexities.CITATION,
        tasks=("text-generation", "language-modeling"),
        needs=("models",),
        references=("https://huggingface.co/docs/transformers/perplexity",),
    )
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
        chosen = perplexities.chosen_of(model_id, model, self.name)
        return perplexities.perplexities_of(chosen, data, batch_size, add_start_token, device, max_length)
