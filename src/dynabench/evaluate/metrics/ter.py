"""Translation edit rate."""

from collections.abc import Sequence

import numpy as np

from dynabench.evaluate.columns import Floats, References, Texts
from dynabench.evaluate.module import Metric
from dynabench.evaluate.ratios import ratio
from dynabench.evaluate.states import Sums
from dynabench.evaluate.texts.gram_counts import flattened
from dynabench.evaluate.texts.shifts import edits
from dynabench.evaluate.texts.tokenizers import tercom, tokenized


class Ter(Metric):
    """How many edits turn the predictions into their references, moving a block of words being one."""

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
        texts, owners = flattened(references)
        split = tercom(normalized, ignore_punct, support_zh_ja_chars, case_sensitive)
        said, right = tokenized(predictions, split), tokenized(texts, split)
        return Sums(_rows(said, right, owners.tolist()))

    def formula(self, total: Floats) -> dict[str, Floats]:
        """The rate of sums of shape (..., 3)."""
        number, length = total[..., 0], total[..., 1]
        rate = np.where(length > 0, ratio(number, length), number > 0)
        return {"score": 100 * rate, "num_edits": number.astype(np.int64), "ref_length": length}


def _rows(said: Sequence[Sequence[str]], right: Sequence[Sequence[str]], owners: Sequence[int]) -> Floats:
    fewest = np.full(len(said), np.inf)
    lengths, sizes = np.zeros(len(said)), np.zeros(len(said))
    for row, words in zip(owners, right, strict=True):
        fewest[row] = min(fewest[row], edits(said[row], words))
        lengths[row] += len(words)
        sizes[row] += 1
    return np.stack([fewest, lengths / sizes], 1)
