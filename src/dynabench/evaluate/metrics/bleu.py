"""BLEU."""

from typing import Any

import numpy as np

from dynabench.evaluate.columns import Floats, References, Texts
from dynabench.evaluate.module import Metric
from dynabench.evaluate.ratios import ratio
from dynabench.evaluate.states import Sums
from dynabench.evaluate.texts.bleus import bleu_state, brevity_penalty, geometric_mean, split_total
from dynabench.evaluate.texts.tokenizers import Tokenizer


class Bleu(Metric):
    """Share of the predictions' n-grams that are in their references, with a penalty for short predictions."""

    columns = {"predictions": Texts(), "references": References()}

    def update(
        self,
        predictions: list[str],
        references: list[list[str]],
        *,
        tokenizer: str | Tokenizer = "13a",
        max_order: int = 4,
    ) -> Sums:
        """Lengths, hits and n-grams of each row: see `bleus`."""
        return bleu_state(predictions, references, tokenizer, max_order, closest=False)

    def formula(self, total: Floats, *, smooth: bool = False) -> dict[str, Any]:
        """BLEU of sums of shape (..., 2 + 2 N + 1)."""
        predicted, right, hits, grams = split_total(total)
        shares = ratio(hits + smooth, grams + smooth)
        penalty = brevity_penalty(predicted, right) * ((predicted > 0) & (right > 0))
        return {
            "bleu": penalty * geometric_mean(shares, np.full(predicted.shape, shares.shape[-1])),
            "precisions": shares,
            "brevity_penalty": penalty,
            "length_ratio": ratio(predicted, right),
            "translation_length": predicted.astype(np.int64),
            "reference_length": right.astype(np.int64),
        }
