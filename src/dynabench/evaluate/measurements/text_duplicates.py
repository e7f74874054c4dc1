"""Texts that occur more than once."""

from collections import Counter
from typing import Any

import numpy as np

from dynabench.evaluate.card import Card, Example, Output
from dynabench.evaluate.columns import Texts
from dynabench.evaluate.module import Measurement
from dynabench.evaluate.states.listed import Listed
from dynabench.evaluate.texts.near_duplicates import groups
from dynabench.language import N_


class TextDuplicates(Measurement):
    """The share of texts that repeat an earlier one."""

    card = Card(
        description=N_(
            "The share of texts that repeat another one, apart from white space at both ends; and with `near` of those "
            "that are nearly the same as another one."
        ),
        formula=r"1 - \frac{|\{x_1, \dots, x_n\}|}{n}; \text{ near: } "
        r"\frac{|A \cap B|}{|A \cup B|} \ge t \text{ for the 5-character shingles } A, B \text{ of two texts}",
        inputs={"data": "texts"},
        options={
            "list_duplicates": "True adds the repeated texts with how often they occur, and groups of rows that are "
            "nearly the same",
            "near": "Jaccard similarity from which texts count as nearly the same, for example 0.8; not looked for by "
            "default",
        },
        outputs=(
            Output("duplicate_fraction", "share of texts that repeat an earlier one", 0, 1, "lower"),
            Output("duplicates_dict", "repeated texts with how often they occur"),
            Output("near_duplicate_fraction", "share of texts nearly the same as an earlier one", 0, 1, "lower"),
            Output("near_duplicates", "groups of rows (counted from 0) that are nearly the same"),
        ),
        examples=(
            Example(
                "One of three repeats another",
                {"data": ["hello sun", "hello moon", "hello sun"]},
                {"duplicate_fraction": 1 / 3, "duplicates_dict": {"hello sun": 2}},
                {"list_duplicates": True},
            ),
            Example(
                "A full stop more",
                {"data": ["The sun shines on the hill", "the sun shines on the hill.", "It rains"]},
                {"duplicate_fraction": 0.0, "near_duplicate_fraction": 1 / 3, "near_duplicates": [[0, 1]]},
                {"near": 0.8, "list_duplicates": True},
            ),
            Example("White space at the ends", {"data": ["a", "a "]}, {"duplicate_fraction": 0.5}),
            Example(
                "A similarity above 1",
                {"data": ["a", "b"]},
                options={"near": 80},
                error="at most at 1",
            ),
        ),
        limits=(
            "The share counts repetitions, so three equal texts of three give 2/3. Duplicates differ in nothing but "
            "white space at the ends; Hugging Face evaluate leaves these out of its dictionary, as compat=True does. "
            "Near duplicates are found by their letters (case and runs of white space aside), exactly and not by "
            "chance; groups are chains, whose ends may differ more than the similarity says."
        ),
        citation=(
            "Broder, On the resemblance and containment of documents, 1997; Lee and others, Deduplicating training "
            "data makes language models better, ACL 2022."
        ),
        tasks=("text-generation", "text-classification"),
    )
    columns = {"data": Texts()}

    def update(self, data: list[str]) -> Listed[str]:
        """The texts."""
        return Listed(tuple(data))

    def result(
        self, state: Any, *, list_duplicates: bool = False, near: float | None = None, **options: Any
    ) -> dict[str, Any]:
        """Shares, and where asked for what repeats."""
        n = len(state)
        stripped = Counter(map(str.strip, state.rows))
        found: dict[str, Any] = {"duplicate_fraction": (n - len(stripped)) / n}
        if list_duplicates:
            counts = Counter(state.rows) if self.compat else stripped
            found["duplicates_dict"] = {text: times for text, times in counts.items() if times > 1}
        if near is not None:
            alike = groups(state.rows, near)
            found["near_duplicate_fraction"] = sum(len(rows) - 1 for rows in alike) / n
            if list_duplicates:
                found["near_duplicates"] = alike
        return found

    def per_example(self, state: Any, **options: Any) -> dict[str, Any]:
        """Whether each text repeats an earlier one, 0 or 1."""
        first: dict[str, int] = {}
        for row, text in enumerate(state.rows):
            first.setdefault(text.strip(), row)
        again = np.ones(len(state), np.int64)
        again[list(first.values())] = 0
        return {"duplicate_fraction": again}
