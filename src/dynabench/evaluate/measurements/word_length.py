"""How many words texts have, and how long these are."""

from typing import Any

import numpy as np

from dynabench.evaluate.card import Card, Example, Output
from dynabench.evaluate.columns import Floats, Texts
from dynabench.evaluate.module import Measurement
from dynabench.evaluate.ratios import ratio
from dynabench.evaluate.states import Sums
from dynabench.evaluate.texts.words import Tokenizer, is_word, tokens
from dynabench.language import N_


class WordLength(Measurement):
    """The mean number of words of texts, and the mean length of words."""

    card = Card(
        description=N_("How many tokens a text has on average, and how many characters a word has."),
        formula=r"\frac{1}{n} \sum_i |\mathrm{tokens}(x_i)|, \qquad "
        r"\frac{\sum_i \sum_{w \in \mathrm{words}(x_i)} |w|}{\sum_i |\mathrm{words}(x_i)|}",
        inputs={"data": "texts"},
        options={
            "tokenizer": "a function from a text to its tokens; by default words, numbers and signs in the manner of "
            "the Penn Treebank"
        },
        outputs=(
            Output("average_word_length", "mean number of tokens of a text (so called by Hugging Face evaluate)", 0),
            Output("mean_word_length", "mean number of characters of a word", 0),
        ),
        examples=(
            Example(
                "Two words of five letters",
                {"data": ["hello world"]},
                {"average_word_length": 2.0, "mean_word_length": 5.0},
            ),
            Example(
                "Signs count as tokens, not as words",
                {"data": ["No!", "I don't."]},
                {"average_word_length": 3.0, "mean_word_length": 2.0},
            ),
            Example("Nothing", {"data": [""]}, {"average_word_length": 0.0, "mean_word_length": 0.0}),
            Example("A number is no text", {"data": [3]}, error="row 0 is 3, not a text"),
        ),
        limits=(
            "The key average_word_length is misnamed in Hugging Face evaluate: it is the number of tokens of a text; "
            "the length of words is mean_word_length, which is 0 where there are no words. The default tokenizer "
            "differs a little from NLTK's, which needs downloaded data; languages that put no spaces between words "
            "need a tokenizer of their own."
        ),
        citation="Marcus, Santorini and Marcinkiewicz, Building a large annotated corpus of English, 1993.",
        tasks=("text-generation", "text-classification"),
    )
    columns = {"data": Texts()}

    def update(self, data: list[str], *, tokenizer: Tokenizer | None = None) -> Sums:
        """Tokens, words and characters of words of each text, shape (n, 3)."""
        cut = tokenizer or tokens
        rows = np.zeros((len(data), 3))
        for row, text in enumerate(data):
            found = cut(text)
            words = [token for token in found if is_word(token)]
            rows[row] = len(found), len(words), sum(map(len, words))
        return Sums(rows)

    def formula(self, total: Floats) -> dict[str, Floats]:
        """Tokens by text, and characters by word."""
        return {
            "average_word_length": ratio(total[..., 0], total[..., -1]),
            "mean_word_length": ratio(total[..., 2], total[..., 1]),
        }

    def compatible(self, result: dict[str, Any]) -> dict[str, Any]:
        """Without `mean_word_length`."""
        return {"average_word_length": result["average_word_length"]}
