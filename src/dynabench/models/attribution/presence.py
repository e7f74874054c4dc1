"""A model's answer as a function of which words are there: what all ways of taking words away have in common."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynabench.evaluate.metrics.squad import normalize_answer, word_f1
from dynabench.models.attribution.faithfulness import without
from dynabench.models.protocol import Attribution, Card, Inputs, Model, Output, WordWeight
from dynabench.models.words import first_words

LONGEST = 256
"""Words of a field that are looked at; later ones weigh nothing."""
BATCH = 32
FLOOR = 1e-6
"""Probabilities are kept this far from 0 and 1 before log-odds are taken."""

Place = tuple[str, WordWeight]
Floats = NDArray[np.float64]


class OutOfTime(Exception):
    """The time for an explanation is over."""


class Presence:
    """Asks a model about inputs without some of their words; every distinct question once, until the time is over."""

    def __init__(self, model: Model, inputs: Inputs, label: str, seconds: float) -> None:
        """Raises whatever the model raises when asked about the inputs."""
        self._model, self._inputs, self._label = model, inputs, label
        self._until = time.monotonic() + seconds
        self._said = model.predict([inputs])[0]
        self._fields = {
            name: [WordWeight(word.text, word.start, word.end, 0.0) for word in first_words(str(inputs[name]), LONGEST)]
            for name in model.card.inputs
            if name not in model.card.images
        }
        own = _own(model.card, self._said)
        self.places: list[Place] = [
            (name, word) for name, words in self._fields.items() for word in words if not _within(name, word, own)
        ]
        """The words that can be taken away."""
        whole = np.ones(len(self.places), bool)
        self._known = {whole.tobytes(): value(model.card, self._said, self._said, label)}

    def values(self, rows: NDArray[Any]) -> Floats:
        """The value (B,) of the answer for each row of presences (B, words): a word is there above one half.

        Raises `OutOfTime`; what was answered by then stays known.
        """
        wanted = np.asarray(rows) > 0.5
        new = {row.tobytes(): row for row in wanted if row.tobytes() not in self._known}
        waiting = list(new.items())
        for at in range(0, len(waiting), BATCH):
            if time.monotonic() > self._until:
                raise OutOfTime
            part = waiting[at : at + BATCH]
            outputs = self._model.predict([self._texts(row) for _, row in part])
            for (key, _), output in zip(part, outputs, strict=True):
                self._known[key] = value(self._model.card, output, self._said, self._label)
        return np.array([self._known[row.tobytes()] for row in wanted])

    def known(self) -> tuple[Floats, Floats]:
        """Every row of presences (N, words) asked so far, and its value (N,)."""
        rows = np.array([np.frombuffer(key, bool) for key in self._known], float)
        return rows.reshape(len(self._known), len(self.places)), np.array(list(self._known.values()))

    def attribution(
        self, method: str, weights: Floats, error: float | None = None, cut_short: bool = False
    ) -> Attribution:
        """Weights (words,) as an attribution, scaled so that the largest magnitude is 1."""
        scale = float(np.abs(weights).max(initial=0.0)) or 1.0
        found = {(name, word.start): float(w) / scale for (name, word), w in zip(self.places, weights, strict=True)}
        fields = {
            name: [WordWeight(w.text, w.start, w.end, found.get((name, w.start), 0.0)) for w in words]
            for name, words in self._fields.items()
        }
        return Attribution(method, self._label, fields, error, cut_short=cut_short)

    def _texts(self, row: NDArray[np.bool_]) -> Mapping[str, Any]:
        gone = [place for place, there in zip(self.places, row, strict=True) if not there]
        pictures = {name: self._inputs[name] for name in self._model.card.images}
        return {**without({name: self._inputs[name] for name in self._fields}, gone), **pictures}


def value(card: Card, output: Output, first: Output, label: str) -> float:
    """Return how strongly an output supports what is explained; `first` is the model's first output.

    For labels this is the log-odds of `label`, or 1 and 0 where there are no probabilities. For spans and
    texts it is the log-odds of the first answer's text if the probabilities contain it, else the share
    (word F1) of that text which the new answer repeats.
    """
    text = label if card.returns == "label" else _text(first.answer[card.answer])
    if output.probabilities is not None and text in (first.probabilities or {}):
        p = min(max(output.probabilities.get(text, 0.0), FLOOR), 1 - FLOOR)
        return float(np.log(p / (1 - p)))
    said = output.answer[card.answer]
    if card.returns == "label":
        return float(said == label)
    return word_f1(normalize_answer(_text(said)), normalize_answer(text))


def _text(answer: Any) -> str:
    if not isinstance(answer, list):
        return str(answer)
    return " ".join(" ".join((span["text"], span.get("label", ""))).strip() for span in answer)


def _own(card: Card, said: Output) -> Sequence[tuple[str, int, int]]:
    """Return the places of the answer itself in the inputs, as (field, start, end)."""
    if card.returns not in ("spans", "tags"):
        return ()
    return [(card.inputs[-1], span["start"], span["end"]) for span in said.answer[card.answer]]


def _within(name: str, word: WordWeight, own: Sequence[tuple[str, int, int]]) -> bool:
    return any(name == field and word.start < end and word.end > start for field, start, end in own)
