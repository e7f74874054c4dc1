"""Callables, pipelines that are called, and models with a card, without knowing their libraries."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from dynabench.evaluate.columns import native
from dynabench.evaluate.evaluator.predictors.base import Predictor, Said


class Called(Predictor):
    """A callable from a list of inputs to as many outputs; a generator will do. Its rows stay in order."""

    def __init__(self, function: Callable[..., Any], options: Mapping[str, Any] | None = None, name: str = "") -> None:
        """`options` are given as keywords to each call."""
        self.function = function
        self.options = dict(options or {})
        self.name = name or _name(function)

    def predict(self, rows: list[Any]) -> Said:
        """The outputs as a list."""
        found = native(self.function(rows, **self.options))
        if isinstance(found, str | Mapping) or not hasattr(found, "__iter__"):
            raise ValueError(
                f"{self.name} gave {found!r} for a list of inputs; it must give a list with one answer each"
            )
        return Said(found.tolist() if isinstance(found, np.ndarray) else list(found))

    def identity(self) -> str:
        """The qualified name: what a function does cannot be seen from outside."""
        return self.name


class Carded(Predictor):
    """A model with `card` (name, version, inputs, answer, labels) and `predict(rows of fields) -> outputs`.

    An output has `answer`, by field, and `probabilities`, by label or text. The models of this project are such.
    """

    warms_up = True

    def __init__(self, model: Any) -> None:
        self.model = model
        self.labels = tuple(model.card.labels)

    def sizes(self, encoded: Sequence[Any]) -> list[int]:
        """Characters."""
        return [sum(len(text) for text in _fields(row)) for row in encoded]

    def predict(self, rows: list[Any]) -> Said:
        """Labels as `{label, score}` (the `whole`: a list of such), answers as `{answer, score, start, end}`."""
        wanted = self.model.card.inputs
        given = [_fields(row) for row in rows]
        if given and len(given[0]) != len(wanted):
            raise ValueError(
                f"{self.model.card.name} reads {' and '.join(wanted)}; the evaluation gives it {len(given[0])} texts"
            )
        outputs = self.model.predict([dict(zip(wanted, texts, strict=True)) for texts in given])
        return Said([_plain(output, self.model.card.answer, self.whole) for output in outputs])

    def identity(self) -> str:
        """Name and version, which is a fingerprint of the content."""
        return f"{self.model.card.name}@{self.model.card.version}"


def is_carded(model: Any) -> bool:
    """Whether this is a model as `Carded` takes it."""
    return hasattr(model, "predict") and all(
        hasattr(getattr(model, "card", None), name) for name in ("inputs", "answer")
    )


def callable_of(model: Any) -> Callable[..., Any] | None:
    """What of `model` can be called with a list: the model itself, or the `predict` of one as in scikit-learn."""
    if callable(model) and not inspect.isclass(model):
        found: Callable[..., Any] = model
        return found
    method = getattr(model, "predict", None)
    return method if callable(method) else None


def _fields(row: Any) -> tuple[str, ...]:
    return (row,) if isinstance(row, str) else tuple(row.values())


def _plain(output: Any, name: str, whole: bool) -> Any:
    said, chances = output.answer[name], output.probabilities or {}
    if whole and chances:
        return [{"label": label, "score": score} for label, score in chances.items()]
    if not isinstance(said, list):
        return {"label": said, "score": chances.get(said)}
    if not said:
        return {"answer": "", "score": None, "start": 0, "end": 0}
    first = said[0]
    return {"answer": first["text"], "score": chances.get(first["text"]), "start": first["start"], "end": first["end"]}


def _name(function: Any) -> str:
    place = getattr(function, "__module__", None) or type(function).__module__
    return f"{place}.{getattr(function, '__qualname__', None) or type(function).__qualname__}"
