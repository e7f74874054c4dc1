"""Extractive question answering over the shared encoder: the answer is a piece of the passage."""

import math
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from torch import Tensor

from dynabench.kit.errors import Invalid
from dynabench.models import spec
from dynabench.models.attribution.gradient import METHODS, Asked, log_odds
from dynabench.models.backends import pieces
from dynabench.models.backends.body import SpanHead
from dynabench.models.backends.encoded import Encoded, check, key_of
from dynabench.models.backends.pieces import Pieces, Reading, Window
from dynabench.models.backends.pool import Pool, shared_pool
from dynabench.models.backends.spans import Span, best, likeliest, ranked, spans
from dynabench.models.protocol import SPAN_PARTS, Attribution, Card, Inputs, Output
from dynabench.models.validity import Broken

LEAD = 0.05
"""By how much an answer must lead before the next text, and its place before others of that text, if bfloat16 is not
to have swapped them: twice the most that it did for any of 1,000 questions.
"""


class Found(NamedTuple):
    """Possible answers, the likeliest first, and the highest sum of start and end logits of a window."""

    spans: list[Span]
    strength: float


class ExtractorModel(Encoded):
    """Reads a question and a passage, in this order, and marks the answer in the passage.

    Offsets count code points of the passage as it was given; an answer covers whole words. A passage without words
    has no answer: an empty list.
    """

    def __init__(self, card: Card, max_length: int, pool: Pool, key: str) -> None:
        super().__init__(card, pool, key)
        self._max_length = max_length

    @classmethod
    def load(cls, folder: Path, pool: Pool | None = None) -> "ExtractorModel":
        """Load a model folder into `pool`, by default the process's; raises `Invalid` when it is broken."""
        pool = pool or shared_pool()
        details, card = spec.read(folder), spec.card(folder)
        pool.add(key_of(card), folder, SpanHead)
        return cls(card, details.max_length, pool, key_of(card))

    def prepare(self, inputs: Inputs) -> Reading:
        """The passage as windows with the question before each."""
        question, passage = (check(inputs, self.card)[name] for name in self.card.inputs)
        return pieces.read_passage(question, passage, self._max_length)

    def windows(self, prepared: Reading) -> Sequence[Pieces]:
        """The passage, or what stands in each window of a long one."""
        return [window.pieces for window in prepared.windows]

    def spans(self, prepared: Reading, said: Sequence[Tensor]) -> list[Span]:
        """Possible answers, the likeliest first."""
        return spans(prepared, [logits.numpy() for logits in said])

    def read(self, prepared: Reading, said: Sequence[Tensor]) -> tuple[Output, bool]:
        """The best span, and the probabilities of the likeliest texts."""
        found = self.spans(prepared, said)
        if not found:
            return Output({self.card.answer: []}, {}), True
        (gain, (chosen, *same)), *others = ranked(found)
        leads = [gain - other for other, _ in others[:1]] + [chosen.probability - span.probability for span in same[:1]]
        if math.isnan(chosen.probability):
            raise Broken(f"{self.card.name} computed numbers that are not finite for this input; train it again.")
        answer = {"start": chosen.start, "end": chosen.end, "text": chosen.text}
        output = Output({self.card.answer: [answer]}, likeliest(found, chosen))
        return output, all(lead >= LEAD for lead in leads)

    def candidates(self, batch: Sequence[Inputs]) -> list[Found]:
        """Possible answers to each question, in whatever the pool computes in."""
        read = [self.prepare(inputs) for inputs in batch]
        asked = [window for reading in read for window in self.windows(reading)]
        rows = iter(self._pool.logits([self._key] * len(asked), asked))
        return [self._found(reading, [next(rows) for _ in reading.windows]) for reading in read]

    def _found(self, reading: Reading, said: Sequence[Tensor]) -> Found:
        parts = [
            logits[window.at : window.at + window.count] for window, logits in zip(reading.windows, said, strict=True)
        ]
        strength = max((float(part.max(0).values.sum()) for part in parts if len(part)), default=-math.inf)
        return Found(self.spans(reading, said), strength)

    def predict(self, batch: Sequence[Inputs]) -> list[Output]:
        """One output per input, in order."""
        return self.answer([(self, self.prepare(inputs)) for inputs in batch])

    def attribute(self, inputs: Inputs, label: str, method: str) -> Attribution:
        """Weights of the words of question and passage towards the log-odds, among all places of the passage that
        stand in the answer's window, of the answer's beginning there (`label` is `start`) or ending there (`end`).
        """
        if label not in SPAN_PARTS:
            raise Invalid({"label": f"One of {', '.join(SPAN_PARTS)}."})
        if method not in self.card.methods:
            raise Invalid({"method": f"One of {', '.join(self.card.methods)}."})
        reading = self.prepare(inputs)
        found = self.spans(reading, self._pool.logits([self._key] * len(reading.windows), self.windows(reading), True))
        if not found:
            return Attribution(method, label, {name: [] for name in self.card.inputs})
        chosen = best(found)
        window = reading.windows[chosen.window]
        value = partial(_odds, window=window, side=SPAN_PARTS.index(label), place=_place(chosen, label) - window.at)
        return METHODS[method](self._pool.explainable(self._key), Asked(window.pieces, self.card.inputs, label, value))


def _place(span: Span, label: str) -> int:
    return span.first if label == "start" else span.last


def _odds(logits: Tensor, window: Window, side: int, place: int) -> Tensor:
    """Log-odds (B,) of the window's passage piece `place` against its others, of logits (B, T, 2)."""
    return log_odds(logits[:, window.at : window.at + window.count, side], place)
