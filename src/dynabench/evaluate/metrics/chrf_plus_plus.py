"""chrF++."""

from dataclasses import replace
from typing import Any

from dynabench.evaluate.card import Example
from dynabench.evaluate.metrics.chrf import CATS, Chrf
from dynabench.evaluate.states import Sums
from dynabench.evaluate.texts.chrfs import chrf_state
from dynabench.language import N_


class ChrfPlusPlus(Chrf):
    """The F score of n-grams of characters and of words."""

    card = replace(
        Chrf.card,
        description=N_(
            "The F score of the n-grams of characters (of 1 to 6) and of words (of 1 and 2) that predictions share "
            "with references; agrees better with people than chrF, which counts no words."
        ),
        examples=(
            Example("Two words swapped, two in lower case", CATS, {"score": 82.87263732906315, "word_order": 2}),
            Example("Ignoring case", CATS, {"score": 92.12853119829202}, {"lowercase": True}),
            Example("Nothing was said", {"predictions": [""], "references": ["a cat"]}, {"score": 0.0}),
            Example(
                "No shared scale",
                {"predictions": ["a cat"], "references": ["a cat"]},
                {},
                {"beta": -1},
                error="cannot be -1",
            ),
        ),
        citation="Popovic, chrF++: words helping character n-grams, WMT 2017, 612-618.",
        references=("https://aclanthology.org/W17-4770", "https://github.com/mjpost/sacrebleu"),
    )

    def update(
        self,
        predictions: list[str],
        references: list[list[str]],
        *,
        char_order: int = 6,
        word_order: int = 2,
        beta: float = 2,
        lowercase: bool = False,
        whitespace: bool = False,
        eps_smoothing: bool = False,
    ) -> Sums:
        """Counts of n-grams of each row: see `chrfs`."""
        return chrf_state(predictions, references, char_order, word_order, beta, lowercase, whitespace, eps_smoothing)

    def result(
        self, state: Sums, *, char_order: int = 6, word_order: int = 2, beta: float = 2, **options: Any
    ) -> dict[str, Any]:
        """The score and the options that it depends on."""
        return super().result(state, char_order=char_order, word_order=word_order, beta=beta, **options)
