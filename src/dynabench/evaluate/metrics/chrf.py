"""chrF."""

from typing import Any

from dynabench.evaluate.card import Card, Example, Output
from dynabench.evaluate.columns import Floats, References, Texts
from dynabench.evaluate.module import Metric
from dynabench.evaluate.states import Sums
from dynabench.evaluate.texts.chrfs import chrf, chrf_state
from dynabench.language import N_

INPUTS = {
    "predictions": "translation to score, a text for each example",
    "references": "right translation of each example, or a list of right ones, of which the nearest counts",
}
OPTIONS = {
    "char_order": "characters in the longest n-gram of characters",
    "word_order": "words in the longest n-gram of words: 0 for chrF, 2 for chrF++",
    "beta": "how many times recall weighs as much as precision",
    "lowercase": "True ignores case",
    "whitespace": "True counts white space among the characters",
    "eps_smoothing": "True takes the mean of the F scores of all orders, those without n-grams too, as NLTK does",
}
OUTPUTS = (
    Output("score", "F score of n-grams", 0, 100, "higher"),
    Output("char_order", "the option"),
    Output("word_order", "the option"),
    Output("beta", "the option"),
)
CATS = {
    "predictions": [
        "The relationship between cats and dogs is not exactly friendly.",
        "a good bookshop is just a genteel black hole that knows how to read.",
    ],
    "references": [
        ["The relationship between dogs and cats is not exactly friendly."],
        ["A good bookshop is just a genteel Black Hole that knows how to read."],
    ],
}
LIMITS = (
    "Needs no tokeniser and suits languages with many word forms, but rewards letters, not meaning: an opposite "
    "(possible, impossible) scores high. Where a text has several references, the best one by this score counts. "
    "Empty predictions and references score 0, also when both are."
)


class Chrf(Metric):
    """The F score of n-grams of characters, and of words if asked for."""

    card = Card(
        description=N_("The F score of the n-grams of characters (of 1 to 6) that predictions share with references."),
        formula=(
            r"100 (1 + \beta^2) \frac{P R}{\beta^2 P + R}, \quad P, R: \text{ mean precision and recall over orders of "
            r"n-grams, of counts summed over the corpus}"
        ),
        inputs=INPUTS,
        options=OPTIONS,
        outputs=OUTPUTS,
        examples=(
            Example("Two words swapped, two in lower case", CATS, {"score": 84.64214891738334}),
            Example(
                "The same with words, ignoring case: chrF++",
                CATS,
                {"score": 92.12853119829202, "word_order": 2},
                {"word_order": 2, "lowercase": True},
            ),
            Example("Nothing was said", {"predictions": [""], "references": ["a cat"]}, {"score": 0.0}),
            Example(
                "Nothing to compare",
                {"predictions": ["a cat"], "references": ["a cat"]},
                {},
                {"char_order": 0},
                error="leave no n-grams",
            ),
        ),
        limits=LIMITS,
        citation="Popovic, chrF: character n-gram F-score for automatic MT evaluation, WMT 2015, 392-395.",
        tasks=("translation", "text2text-generation"),
        references=("https://aclanthology.org/W15-3049", "https://github.com/mjpost/sacrebleu"),
    )
    columns = {"predictions": Texts(), "references": References()}

    def update(
        self,
        predictions: list[str],
        references: list[list[str]],
        *,
        char_order: int = 6,
        word_order: int = 0,
        beta: float = 2,
        lowercase: bool = False,
        whitespace: bool = False,
        eps_smoothing: bool = False,
    ) -> Sums:
        """Counts of n-grams of each row: see `chrfs`."""
        return chrf_state(predictions, references, char_order, word_order, beta, lowercase, whitespace, eps_smoothing)

    def formula(self, total: Floats, *, beta: float = 2, eps_smoothing: bool = False) -> dict[str, Floats]:
        """The F score of counts of shape (..., 3 * orders + 1)."""
        return {"score": chrf(total[..., :-1], beta, eps_smoothing)}

    def result(
        self, state: Sums, *, char_order: int = 6, word_order: int = 0, beta: float = 2, **options: Any
    ) -> dict[str, Any]:
        """The score and the options that it depends on."""
        found = super().result(state, beta=beta, **options)
        return {**found, "char_order": char_order, "word_order": word_order, "beta": beta}
