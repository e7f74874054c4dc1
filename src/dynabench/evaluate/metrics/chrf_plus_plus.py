"""chrF++."""

from typing import Any

from dynabench.evaluate.metrics.chrf import Chrf
from dynabench.evaluate.states import Sums
from dynabench.evaluate.texts.chrfs import chrf_state


class ChrfPlusPlus(Chrf):
    """The F score of n-grams of characters and of words."""

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
