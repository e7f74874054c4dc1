"""Predictors: the interface to the models that are evaluated, and those of callables and of models with a card."""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

import numpy as np

from dynabench.evaluate.columns import to_numpy


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


class CallablePredictor(Predictor):
    """A callable from a list of inputs to as many outputs, or a generator of them. Its rows stay in order."""

    def __init__(self, function: Callable[..., Any], options: Mapping[str, Any] | None = None, name: str = "") -> None:
        """Wrap `function`; `options` are passed as keywords to each call."""
        self.function = function
        self.options = dict(options or {})
        self.name = name or _name(function)

    def predict(self, rows: list[Any]) -> BatchAnswers:
        """Return the outputs as a list. Raises ValueError where the callable gives no list."""
        outputs = to_numpy(self.function(rows, **self.options))
        if isinstance(outputs, str | Mapping) or not hasattr(outputs, "__iter__"):
            raise ValueError(
                f"{self.name} gave {outputs!r} for a list of inputs; it must give a list with one answer each"
            )
        return BatchAnswers(outputs.tolist() if isinstance(outputs, np.ndarray) else list(outputs))

    def identity(self) -> str:
        """Return the qualified name: the content of a function cannot be seen from outside."""
        return self.name


class CardedPredictor(Predictor):
    """A model with `card` (name, version, inputs, answer, labels) and `predict(rows of fields) -> outputs`.

    An output has `answer`, by field, and `probabilities`, by label or text. The models of this project are such.
    """

    warms_up = True

    def __init__(self, model: Any) -> None:
        self.model = model
        self.labels = tuple(model.card.labels)

    def sizes(self, encoded: Sequence[Any]) -> list[int]:
        """Return the characters of each row."""
        return [sum(len(text) for text in _fields(row)) for row in encoded]

    def predict(self, rows: list[Any]) -> BatchAnswers:
        """Return labels as `{label, score}`, answers as `{answer, score, start, end}`.

        With `whole` an answer is a list of all labels.
        """
        input_names = self.model.card.inputs
        row_texts = [_fields(row) for row in rows]
        if row_texts and len(row_texts[0]) != len(input_names):
            raise ValueError(
                f"{self.model.card.name} reads {' and '.join(input_names)}; "
                f"the evaluation gives it {len(row_texts[0])} texts"
            )
        outputs = self.model.predict([dict(zip(input_names, texts, strict=True)) for texts in row_texts])
        return BatchAnswers([_plain_answer(output, self.model.card.answer, self.whole) for output in outputs])

    def identity(self) -> str:
        """Return name and version, which is a fingerprint of the content."""
        return f"{self.model.card.name}@{self.model.card.version}"


def is_carded(model: Any) -> bool:
    """Return whether `model` has a card and `predict` as `CardedPredictor` needs them."""
    return hasattr(model, "predict") and all(
        hasattr(getattr(model, "card", None), name) for name in ("inputs", "answer")
    )


def callable_of(model: Any) -> Callable[..., Any] | None:
    """Return the callable of `model` that takes a list: the model, or its `predict` as in scikit-learn; else None."""
    if callable(model) and not inspect.isclass(model):
        function: Callable[..., Any] = model
        return function
    method = getattr(model, "predict", None)
    return method if callable(method) else None


def _fields(row: Any) -> tuple[str, ...]:
    return (row,) if isinstance(row, str) else tuple(row.values())


def _plain_answer(output: Any, name: str, whole: bool) -> Any:
    answer, chances = output.answer[name], output.probabilities or {}
    if whole and chances:
        return [{"label": label, "score": score} for label, score in chances.items()]
    if not isinstance(answer, list):
        return {"label": answer, "score": chances.get(answer)}
    if not answer:
        return {"answer": "", "score": None, "start": 0, "end": 0}
    first = answer[0]
    return {"answer": first["text"], "score": chances.get(first["text"]), "start": first["start"], "end": first["end"]}


def _name(function: Any) -> str:
    place = getattr(function, "__module__", None) or type(function).__module__
    return f"{place}.{getattr(function, '__qualname__', None) or type(function).__qualname__}"
