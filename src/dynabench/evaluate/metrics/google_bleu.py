"""Google BLEU (GLEU)."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from dynabench.evaluate.columns import Floats, References, Texts
from dynabench.evaluate.labels import Ints
from dynabench.evaluate.module import Metric
from dynabench.evaluate.ratios import ratio
from dynabench.evaluate.states import Sums
from dynabench.evaluate.texts.ngram_counts import (
    best_places,
    encode_tokens,
    flatten_references,
    map_in_blocks,
    ngram_overlaps,
    possible_ngrams,
)
from dynabench.evaluate.texts.tokenizers import Tokenizer, tokenize_all


class GoogleBleu(Metric):
    """The smaller of precision and recall of n-grams, made for single sentences."""

    columns = {"predictions": Texts(), "references": References()}

    def update(
        self,
        predictions: list[str],
        references: list[list[str]],
        *,
        tokenizer: str | Tokenizer = "13a",
        min_len: int = 1,
        max_len: int = 4,
    ) -> Sums:
        """Shared n-grams and the more of both sides' n-grams, shape (n, 2)."""
        if not 1 <= min_len <= max_len:
            raise ValueError(f"min_len={min_len} and max_len={max_len} leave no n-grams to compare")
        return Sums(
            map_in_blocks(partial(_rows, tokenizer=tokenizer, low=min_len, high=max_len), predictions, references)
        )

    def formula(self, total: Floats) -> dict[str, Floats]:
        """The ratio of sums of shape (..., 3)."""
        return {"google_bleu": ratio(total[..., 0], total[..., 1])}


def _rows(
    predictions: Sequence[str], references: Sequence[Sequence[str]], *, tokenizer: str | Tokenizer, low: int, high: int
) -> Ints:
    n = len(predictions)
    texts, owners = flatten_references(references)
    tokens = tokenize_all([*predictions, *texts], tokenizer)
    pairs = np.arange(len(texts))
    predicted, right = encode_tokens(([tokens[place] for place in owners.tolist()], pairs), (tokens[n:], pairs))
    shared = ngram_overlaps(predicted, right, len(texts), high)[:, low - 1 :].sum(1)
    most = np.maximum(*(possible_ngrams(side.lengths, high)[:, low - 1 :].sum(1) for side in (predicted, right)))
    rows: Ints = np.stack([shared, most], 1)[best_places(ratio(shared, most, -1.0), owners, n)]
    return rows
