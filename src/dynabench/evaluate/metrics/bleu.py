"""BLEU."""

from typing import Any

import numpy as np

from dynabench.evaluate.columns import Floats, References, Texts
from dynabench.evaluate.module import Metric
from dynabench.evaluate.ratios import ratio
from dynabench.evaluate.states import Sums
from dynabench.evaluate.texts.bleus import bleu_state, brevity, geometric_mean, parts
from dynabench.evaluate.texts.tokenizers import Tokenizer


class Bleu(Metric):
    """How many n-grams of the predictions are in their references, with a penalty for short predictions."""

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
        said, right, hits, grams = parts(total)
        shares = ratio(hits + smooth, grams + smooth)
        penalty = brevity(said, right) * ((said > 0) & (right > 0))
        return {
            "bleu": penalty * geometric_mean(shares, np.full(said.shape, shares.shape[-1])),
            "precisions": shares,
            "brevity_penalty": penalty,
            "length_ratio": ratio(said, right),
            "translation_length": said.astype(np.int64),
            "reference_length": right.astype(np.int64),
        }
