"""Translation edit rate."""

from collections.abc import Sequence

import numpy as np

from dynabench.evaluate.columns import Floats, References, Texts
from dynabench.evaluate.module import Metric
from dynabench.evaluate.ratios import ratio
from dynabench.evaluate.states import Sums
from dynabench.evaluate.texts.ngram_counts import flatten_references
from dynabench.evaluate.texts.ter_edits import count_edits
from dynabench.evaluate.texts.tokenizers import tercom_tokenizer, tokenize_all


class Ter(Metric):
    """Edits that turn predictions into their references, for each word; moving a block of words is one edit."""

    columns = {"predictions": Texts(), "references": References()}

    def update(
        self,
        predictions: list[str],
        references: list[list[str]],
        *,
        normalized: bool = False,
        ignore_punct: bool = False,
        support_zh_ja_chars: bool = False,
        case_sensitive: bool = False,
    ) -> Sums:
        """Edits to the nearest reference and mean length of the references, shape (n, 2)."""
        texts, owners = flatten_references(references)
        split = tercom_tokenizer(normalized, ignore_punct, support_zh_ja_chars, case_sensitive)
        predicted, right = tokenize_all(predictions, split), tokenize_all(texts, split)
        return Sums(_rows(predicted, right, owners.tolist()))

    def formula(self, total: Floats) -> dict[str, Floats]:
        """The rate of sums of shape (..., 3)."""
        number, length = total[..., 0], total[..., 1]
        rate = np.where(length > 0, ratio(number, length), number > 0)
        return {"score": 100 * rate, "num_edits": number.astype(np.int64), "ref_length": length}


def _rows(predicted: Sequence[Sequence[str]], right: Sequence[Sequence[str]], owners: Sequence[int]) -> Floats:
    fewest = np.full(len(predicted), np.inf)
    lengths, sizes = np.zeros(len(predicted)), np.zeros(len(predicted))
    for row, words in zip(owners, right, strict=True):
        fewest[row] = min(fewest[row], count_edits(predicted[row], words))
        lengths[row] += len(words)
        sizes[row] += 1
    return np.stack([fewest, lengths / sizes], 1)
