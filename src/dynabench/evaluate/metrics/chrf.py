"""chrF and chrF++."""

from typing import Any

from dynabench.evaluate.columns import Floats, References, Texts
from dynabench.evaluate.module import Metric
from dynabench.evaluate.states import Sums
from dynabench.evaluate.texts.chrfs import chrf_score, chrf_state


class Chrf(Metric, name="chrf"):
    """The F score of n-grams of characters, and of words if asked for."""

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
        return {"score": chrf_score(total[..., :-1], beta, eps_smoothing)}

    def result(
        self, state: Sums, *, char_order: int = 6, word_order: int = 0, beta: float = 2, **options: Any
    ) -> dict[str, Any]:
        """The score and the options that it depends on."""
        scores = super().result(state, beta=beta, **options)
        return {**scores, "char_order": char_order, "word_order": word_order, "beta": beta}


class ChrfPlusPlus(Chrf, name="chrf_plus_plus"):
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
