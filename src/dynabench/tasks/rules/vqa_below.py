"""Fooled when too few people gave the answer."""

from collections import Counter
from collections.abc import Iterable
from typing import Any, Literal

import numpy as np

from dynabench.evaluate.metrics.vqa_accuracy import agreement
from dynabench.evaluate.texts.vqa import normalised
from dynabench.language import _
from dynabench.tasks.fields.base import NOTHING, Field, Values
from dynabench.tasks.rules.base import Rule
from dynabench.tasks.section import Setting
from dynabench.tasks.words import texts_of


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
        people = Counter(map(normalised, texts_of(claimed)))
        said = texts_of(predicted)
        if not said or not people:
            return 0.0
        same, all_ = people[normalised(said[0])], people.total()
        return round(float(agreement(np.array([same], float), np.array([all_], float))[0]), 12)

    def right(self, predicted: Any, accepted: Iterable[Any], field: Field, given: Values = NOTHING) -> bool:
        """The accepted answers are those of all people, and count together."""
        people = [text for each in accepted for text in texts_of(each)]
        return predicted is None if not people else not self.differs(predicted, people, field)

    @property
    def right_in_words(self) -> str:
        """When an answer counts as right, in a sentence."""
        return _(
            "An answer is right if its VQA accuracy among the accepted ones is %(threshold)s or more.",
            threshold=f"{self.threshold:g}",
        )
