"""VQA accuracy."""

from collections import Counter
from functools import lru_cache

import numpy as np

from dynabench.evaluate.card import Card, Example, Output
from dynabench.evaluate.columns import Floats, References, Texts
from dynabench.evaluate.module import Metric
from dynabench.evaluate.ratios import ratio
from dynabench.evaluate.states import Sums
from dynabench.evaluate.texts.vqa import normalised
from dynabench.language import N_

ENOUGH = 3  # people who gave an answer, for it to be wholly right


class VqaAccuracy(Metric):
    """How far answers to questions about images agree with those of several people."""

    card = Card(
        description=N_(
            "The accuracy of answers that ten people gave, too: an answer is wholly right where at least three others "
            "gave it, a third for each otherwise, averaged over leaving out each person. Answers are compared "
            "without case, punctuation and articles, with digits for number words and apostrophes in contractions."
        ),
        formula=(
            r"\mathrm{acc}(\hat a) = \frac{1}{|A|} \sum_{a \in A} "
            r"\min\left(1, \frac{\#\{b \in A \setminus \{a\} : b = \hat a\}}{\min(3, |A| - 1)}\right)"
        ),
        inputs={
            "predictions": "answer to each question",
            "references": "list of people's answers to each question, usually ten; or one right answer",
        },
        options={"normalize": "False compares the answers as they are"},
        outputs=(Output("vqa_accuracy", "mean accuracy of the answers", 0, 1, "higher"),),
        examples=(
            Example(
                "Two of ten people agree",
                {"predictions": ["Blue."], "references": [["blue", "a blue", *["navy"] * 8]]},
                {"vqa_accuracy": 0.6},
            ),
            Example(
                "Four of ten are enough, one right answer has to be met",
                {"predictions": ["two", "no"], "references": [["2"] * 4 + ["3"] * 6, ["yes"]]},
                {"vqa_accuracy": 0.5},
            ),
            Example(
                "A question that nobody answered",
                {"predictions": ["red"], "references": [[]]},
                error="give a text or a list of at least one text",
            ),
        ),
        limits=(
            "From 0 to 1, where the VQA challenge writes percent. Four people are needed for the rule of three: of "
            "three or two all others have to agree, and one answer is met or not. The original script compares the "
            "answers as they are where all people agree, this one never without normalising them; it makes English "
            "answers alike only, and knows no synonyms."
        ),
        citation="Antol et al., VQA: Visual Question Answering, ICCV 2015, with its evaluation script.",
        tasks=("visual-question-answering",),
    )
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
