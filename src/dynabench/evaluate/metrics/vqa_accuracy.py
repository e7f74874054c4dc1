"""VQA accuracy."""

from collections import Counter
from functools import lru_cache

import numpy as np

from dynabench.evaluate.columns import Floats, References, Texts
from dynabench.evaluate.module import Metric
from dynabench.evaluate.ratios import ratio
from dynabench.evaluate.states import Sums
from dynabench.evaluate.texts.vqa import normalised

ENOUGH = 3  # people who gave an answer, for it to be wholly right


class VqaAccuracy(Metric):
    """How far answers to questions about images agree with those of several people."""

    columns = {"predictions": Texts(), "references": References()}

    def update(self, predictions: list[str], references: list[list[str]], *, normalize: bool = True) -> Sums:
        """The accuracy of each answer."""
        alike = lru_cache(1 << 20)(normalised) if normalize else str
        rows = []
        for said, people in zip(predictions, references, strict=True):
            given = Counter(map(alike, people))
            rows.append((given[alike(said)], len(people)))
        same, people_ = np.array(rows, float).reshape(-1, 2).T
        return Sums(agreement(same, people_))

    def formula(self, total: Floats) -> dict[str, Floats]:
        """The mean over questions."""
        return {"vqa_accuracy": ratio(total[..., 0], total[..., 1])}


def agreement(same: Floats, people: Floats) -> Floats:
    """The accuracy of answers that `same` of `people` gave too, shape (n,), averaged over leaving out each person."""
    needed = np.clip(people - 1, 1, ENOUGH)
    without_one_of_them = np.minimum(1, (same - 1) / needed)
    without_another = np.minimum(1, same / needed)
    result: Floats = np.where(
        people == 1, same, (same * without_one_of_them + (people - same) * without_another) / people
    )
    return result
