"""What the evaluator asks of whatever it evaluates."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple


class Said(NamedTuple):
    """One answer for each row, and how many tokens were read (or written, by a model that writes), where known."""

    answers: list[Any]
    tokens: int | None = None


class Predictor(ABC):
    """Rows in, answers out; an answer is plain data, since it may go to a checkpoint and come back."""

    labels: tuple[str, ...] = ()  # what it can answer, where that is known beforehand
    device: str | None = None
    warms_up: bool = False  # whether it may be asked once more than there are rows
    whole: bool = False  # whether it answers with `{label, score}` of every label instead of the likeliest alone

    def encode(self, inputs: Sequence[Any]) -> Sequence[Any]:
        """All inputs in the form that `predict` takes, made once."""
        return inputs

    def sizes(self, encoded: Sequence[Any]) -> list[int] | None:
        """By what rows are put into batches, their tokens for example; None keeps their order."""
        return None

    @abstractmethod
    def predict(self, rows: list[Any]) -> Said:
        """Answers to encoded rows."""

    @abstractmethod
    def identity(self) -> str:
        """Which model this is: another answer means other answers."""

    def opened(self) -> AbstractContextManager[Any]:
        """Held while it is being asked."""
        return nullcontext()
