"""Zero-shot classification by a language model: the class whose text is the likeliest after the prompt.

Source: Brown et al., Language models are few-shot learners (2020), section 2.4, for the normalisations.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from dynabench.evaluate.evaluator.predictors.base import BatchAnswers
from dynabench.evaluate.evaluator.predictors.network import NetworkPredictor

NORMALIZATIONS = ("sum", "token", "byte", "unconditional")


class LikelihoodClassifier(NetworkPredictor):
    """A language model that scores each row's classes by their log-likelihood after its prompt.

    `normalization` is "sum" (as they are), "token" or "byte" (divided by the class's tokens or UTF-8 bytes), or
    "unconditional" (minus the class's log-likelihood after no prompt).
    """

    auto = "AutoModelForCausalLM"
    normalization = "sum"
    together = 16

    def told(self) -> str:
        """Return the normalization."""
        return self.normalization

    def sizes(self, encoded: Sequence[Any]) -> list[int]:
        """Return the characters of prompt and classes."""
        return [len(row["text"]) + sum(map(len, row["classes"])) for row in encoded]

    def predict(self, rows: list[Any]) -> BatchAnswers:
        """Return a list of scores for each row, one a class."""
        from dynabench.evaluate.networks.language_models import log_likelihoods

        prompts = [row["text"] for row in rows for _ in row["classes"]]
        classes = [text for row in rows for text in row["classes"]]
        likelihoods = log_likelihoods(self.model, self.processor, prompts, classes, self.together)
        scores = np.asarray(likelihoods.log_probabilities, float)
        if self.normalization == "token":
            scores = scores / likelihoods.tokens
        elif self.normalization == "byte":
            scores = scores / likelihoods.bytes
        elif self.normalization == "unconditional":
            alone = list(dict.fromkeys(classes))
            prior = log_likelihoods(self.model, self.processor, [""] * len(alone), alone, self.together)
            prior_of = dict(zip(alone, np.asarray(prior.log_probabilities, float).tolist(), strict=True))
            scores = scores - np.array([prior_of[text] for text in classes])
        parts = np.split(scores, np.cumsum([len(row["classes"]) for row in rows])[:-1])
        return BatchAnswers([part.tolist() for part in parts], int(likelihoods.tokens.sum()))
