"""Fooled when too few people gave the answer."""

from collections import Counter
from collections.abc import Iterable
from typing import Any, Literal

import numpy as np

from dynabench.evaluate.metrics.short_answers import normalize_vqa_answer, vqa_agreement
from dynabench.kit.language import _
from dynabench.tasks.answer_words import texts_of
from dynabench.tasks.fields.base import NOTHING, Field, Values
from dynabench.tasks.rules.base import Rule
from dynabench.tasks.section import Setting


class VqaBelow(Rule):
    """VQA accuracy under a threshold (Antol et al., VQA: Visual Question Answering, ICCV 2015).

    An answer is wholly right where at least three people gave it, a third for each otherwise, averaged over leaving out
    each person; answers are compared without case, articles and punctuation. One claimed answer has to be met.
    """

    rule: Literal["vqa_below"] = Setting("vqa_below", description="Fooled when VQA accuracy is too low.")
    threshold: float = Setting(1, gt=0, le=1, description="Fooled when VQA accuracy is lower than this.")

    @property
    def bound(self) -> float:
        """The threshold."""
        return self.threshold

    def differs(self, predicted: Any, claimed: Any, field: Field) -> bool:
        """The accuracy among the claimed answers is under the threshold."""
        return self.nearness(predicted, claimed, field) < self.threshold

    def nearness(self, predicted: Any, claimed: Any, field: Field) -> float:
        """VQA accuracy; of several predicted texts the first counts."""
        people = Counter(map(normalize_vqa_answer, texts_of(claimed)))
        predicted_texts = texts_of(predicted)
        if not predicted_texts or not people:
            return 0.0
        same, all_ = people[normalize_vqa_answer(predicted_texts[0])], people.total()
        return round(float(vqa_agreement(np.array([same], float), np.array([all_], float))[0]), 12)

    def right(self, predicted: Any, accepted: Iterable[Any], field: Field, given: Values = NOTHING) -> bool:
        """Return whether the answer is right; the accepted answers are those of all people, and count together."""
        people = [text for accepted_answer in accepted for text in texts_of(accepted_answer)]
        return predicted is None if not people else not self.differs(predicted, people, field)

    @property
    def right_in_words(self) -> str:
        """A sentence that says when an answer counts as right."""
        return _(
            "An answer is right if its VQA accuracy among the accepted ones is %(threshold)s or more.",
            threshold=f"{self.threshold:g}",
        )
