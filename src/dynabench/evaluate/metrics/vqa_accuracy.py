"""VQA accuracy."""

from collections import Counter
from functools import lru_cache

import numpy as np

from dynabench.evaluate.columns import Floats, References, Texts
from dynabench.evaluate.module import Metric
from dynabench.evaluate.ratios import ratio
from dynabench.evaluate.states import Sums
from dynabench.evaluate.texts.vqa import normalize_vqa_answer

FULL_AGREEMENT = 3  # people who gave an answer, for it to be wholly right


class VqaAccuracy(Metric):
    """Agreement of answers to questions about images with those of several people."""

    columns = {"predictions": Texts(), "references": References()}

    def update(self, predictions: list[str], references: list[list[str]], *, normalize: bool = True) -> Sums:
        """The accuracy of each answer."""
        normalize_answer = lru_cache(1 << 20)(normalize_vqa_answer) if normalize else str
        rows = []
        for answer, people in zip(predictions, references, strict=True):
            human_answers = Counter(map(normalize_answer, people))
            rows.append((human_answers[normalize_answer(answer)], len(people)))
        same, people_ = np.array(rows, float).reshape(-1, 2).T
        return Sums(vqa_agreement(same, people_))

    def formula(self, total: Floats) -> dict[str, Floats]:
        """The mean over questions."""
        return {"vqa_accuracy": ratio(total[..., 0], total[..., 1])}


def vqa_agreement(same: Floats, people: Floats) -> Floats:
    """Return the accuracy of answers that `same` of `people` gave too, shape (n,).

    It is averaged over leaving out each person.
    """
    needed = np.clip(people - 1, 1, FULL_AGREEMENT)
    without_one_of_them = np.minimum(1, (same - 1) / needed)
    without_another = np.minimum(1, same / needed)
    result: Floats = np.where(
        people == 1, same, (same * without_one_of_them + (people - same) * without_another) / people
    )
    return result
