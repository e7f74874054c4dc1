"""Bits per byte."""

from typing import Any

from dynabench.evaluate.columns import Floats, Texts
from dynabench.evaluate.module import Metric
from dynabench.evaluate.networks.perplexities import choose_model, text_bits
from dynabench.evaluate.ratios import ratio
from dynabench.evaluate.states import Sums


class BitsPerByte(Metric):
    """Number of bits that a language model needs for a byte of text."""

    columns = {"predictions": Texts()}

    def update(
        self,
        predictions: list[str],
        *,
        model_id: str | None = None,
        model: Any = None,
        batch_size: int = 16,
        device: str | None = None,
        max_length: int | None = None,
    ) -> Sums:
        """Bits, bytes and tokens of each text."""
        chosen = choose_model(model_id, model, self.name)
        state = text_bits(chosen, predictions, batch_size, device, max_length)
        empty = (state.rows[:, 1] == 0) & (state.rows[:, 0] > 0)
        if empty.any():
            raise ValueError(f"row {int(empty.argmax())} is empty, but the model gave its tokens log-probabilities")
        return state

    def formula(self, total: Floats) -> dict[str, Floats]:
        """Bits / bytes, and bytes / tokens; 0 where there are none."""
        return {
            "bits_per_byte": ratio(total[..., 0], total[..., 1]),
            "bytes_per_token": ratio(total[..., 1], total[..., 2]),
        }
