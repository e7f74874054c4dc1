"""DROP: exact match and F1 of answers that are words, several of them, or numbers."""

from typing import Any

import numpy as np

from dynabench.evaluate.card import Card, Example, Output
from dynabench.evaluate.columns import Floats
from dynabench.evaluate.module import Metric
from dynabench.evaluate.ratios import ratio
from dynabench.evaluate.states import Sums
from dynabench.evaluate.texts.several import Parts, RightSeveral, Several, compared
from dynabench.language import N_


class Drop(Metric):
    """F1 and exact match of answers of one or several parts, with numbers."""

    card = Card(
        description=N_(
            "Of answers that may be words, several things or a number: the mean F1 of their parts' words, each part "
            "paired with the one that suits it best, and the share that is the same. A part with numbers scores 0 "
            "where none of these was said. Of several right answers the best counts."
        ),
        formula=(
            r"F_1 = \frac{1}{n} \sum_i \max_{A \in \mathcal{A}_i} \frac{\max_{\pi} \sum_{p} F_1(\hat a_{i,p}, "
            r"A_{\pi(p)})}{\max(|\hat a_i|, |A|)}"
        ),
        inputs={
            "predictions": "an answer to each question: a text, its parts separated by semicolons, or a list of parts",
            "references": "a text for each question, or a list of right answers, each a text or a list of its parts",
        },
        options={"number_words": "True takes English words from zero to twenty for numbers, too"},
        outputs=(
            Output("f1", "mean F1 of the parts' words", 0, 1, "higher"),
            Output("exact_match", "share of answers that are a right one", 0, 1, "higher"),
        ),
        examples=(
            Example(
                "Two parts in another order, one of three, a number that is another",
                {
                    "predictions": ["Rhine; Main", "Ada", "12 boats"],
                    "references": ["the Main; the Rhine", "Ada; Grace; Edith", "14 boats"],
                },
                {"f1": (1 + 1 / 3 + 0) / 3, "exact_match": 1 / 3},
            ),
            Example(
                "Of several right answers the nearest counts",
                {"predictions": ["in May 1887", "no"], "references": [["1887", "the spring"], ["no", "unanswerable"]]},
                {"f1": (0.5 + 1) / 2, "exact_match": 0.5},
            ),
            Example(
                "Number words are numbers, if asked for",
                {"predictions": ["three"], "references": ["3"]},
                {"f1": 1.0, "exact_match": 1.0},
                {"number_words": True},
            ),
            Example(
                "A question without a right answer",
                {"predictions": ["3"], "references": [[]]},
                error="one at least",
            ),
        ),
        limits=(
            "A semicolon within a text parts it; give lists where answers have semicolons. Scores are not rounded to "
            "two digits question by question, as the original script does, and of equally good right answers it "
            "takes the first. Made for English: articles of other languages stay. Words count once in a part."
        ),
        citation=(
            "Dua et al., DROP: A Reading Comprehension Benchmark Requiring Discrete Reasoning Over Paragraphs, "
            "NAACL 2019, 2368-2378, with its evaluation script."
        ),
        tasks=("question-answering",),
        references=("https://aclanthology.org/N19-1246",),
    )
    columns = {"predictions": Several(), "references": RightSeveral()}

    def update(
        self, predictions: list[Parts], references: list[tuple[Parts, ...]], *, number_words: bool = False
    ) -> Sums:
        """F1 and exact match of each question, from 0 to 1: of the right answer with the best F1."""
        rows = []
        for said, answers in zip(predictions, references, strict=True):
            exact, f1 = max((compared(said, right, number_words) for right in answers), key=lambda pair: pair[::-1])
            rows.append((f1, exact))
        return Sums(np.array(rows, float).reshape(-1, 2))

    def formula(self, total: Floats) -> dict[str, Any]:
        """Means."""
        return {"f1": ratio(total[..., 0], total[..., -1]), "exact_match": ratio(total[..., 1], total[..., -1])}
