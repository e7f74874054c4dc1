"""The interface between the evaluator and the models that it evaluates."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple


class BatchAnswers(NamedTuple):
    """One answer for each row, and the number of tokens read (or written, by a model that writes), where known."""

    answers: list[Any]
    tokens: int | None = None


class Predictor(ABC):
    """A model that maps rows to answers; an answer is plain data, since it may go to a checkpoint and come back."""

    labels: tuple[str, ...] = ()  # what it can answer, where that is known beforehand
    device: str | None = None
    warms_up: bool = False  # whether it may be asked once more than there are rows
    whole: bool = False  # whether it answers with `{label, score}` of every label instead of the likeliest alone

    def encode(self, inputs: Sequence[Any]) -> Sequence[Any]:
        """Return all inputs in the form that `predict` takes; called once."""
        return inputs

    def sizes(self, encoded: Sequence[Any]) -> list[int] | None:
        """Return the size of each row by which batches are made, such as its tokens; None keeps the order."""
        return None

    @abstractmethod
    def predict(self, rows: list[Any]) -> BatchAnswers:
        """Return the answers to encoded rows."""

    @abstractmethod
    def identity(self) -> str:
        """Return a text that identifies the model: another identity means other answers."""

    def opened(self) -> AbstractContextManager[Any]:
        """Return a context within which `predict` is called."""
        return nullcontext()
