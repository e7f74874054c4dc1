"""A model in this process as a target."""

from collections.abc import Sequence

from dynabench.models.protocol import Inputs, Model, Output

BATCH = 64
"""Inputs that a model is given at once."""


class Local:
    """Asks a model in this process, a batch at a time."""

    def __init__(self, model: Model) -> None:
        self.labels: Sequence[str] = model.card.labels
        self._model = model

    def ask(self, batch: Sequence[Inputs]) -> list[Output]:
        """One output for each."""
        parts = (batch[at : at + BATCH] for at in range(0, len(batch), BATCH))
        return [output for part in parts for output in self._model.predict(part)]
