"""Models over the shared encoder: classifiers with adapters, logistic heads, and extractors of answers."""

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import ClassVar, NamedTuple, Self
from weakref import WeakKeyDictionary

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from dynabench.kit.errors import Invalid
from dynabench.models import removal, spec
from dynabench.models.backends.base import Backend, Prepared, check_explained, output
from dynabench.models.backends.body import Head, SpanHead
from dynabench.models.backends.encoder_gradients import METHODS, ExplainedWindow, log_odds
from dynabench.models.backends.pieces import Pieces, Reading, Window, encode, read_passage
from dynabench.models.backends.pool import Pool, shared_pool
from dynabench.models.backends.spans import Span, best, likeliest, ranked, spans
from dynabench.models.protocol import SPAN_PARTS, Attribution, Inputs, ModelCard, ModelOutput
from dynabench.models.validity import Broken

_uses: WeakKeyDictionary[Pool, Counter[str]] = WeakKeyDictionary()
"""How many models of a pool answer by the same adapter."""


class Encoded(ABC):
    """A model that asks the pool about one or more windows of pieces and makes an answer of what its head says."""

    lane = "encoder"
    room: int | None = 2048
    """Pieces of one batch at most: long inputs keep short ones waiting no longer than a full batch of short ones."""
    adapted: ClassVar[bool] = True
    """True if the folder holds an adapter of the encoder beside the head."""

    def __init__(self, card: ModelCard, max_length: int, pool: Pool) -> None:
        self.card = card
        self.key = adapter_key(card)
        """The name of its adapter within the pool."""
        self._max_length, self._pool = max_length, pool
        _uses.setdefault(pool, Counter())[self.key] += 1
        self._open = True

    @staticmethod
    @abstractmethod
    def make_head(card: ModelCard, width: int) -> nn.Module:
        """Return an untrained head over hidden states of a width."""

    @classmethod
    def load(cls, folder: Path, pool: Pool | None = None) -> Self:
        """Load a model folder into `pool`, by default the process's; raises `Invalid` when it is broken."""
        pool = pool or shared_pool()
        details, card = spec.read(folder), spec.card(folder)
        pool.add(adapter_key(card), folder, partial(cls.make_head, card), adapted=cls.adapted)
        return cls(card, details.max_length, pool)

    @classmethod
    def open(cls, folder: Path, bulk: bool = False) -> Self:
        """Load a model folder into the process's pool; many inputs take no other way than one."""
        return cls.load(folder)

    @abstractmethod
    def windows(self, prepared: Prepared) -> Sequence[Pieces]:
        """Return the windows of pieces that the encoder has to read for one call."""

    @abstractmethod
    def read(self, prepared: Prepared, head_outputs: Sequence[Tensor]) -> tuple[ModelOutput, bool]:
        """The answer, given what the head says of each window; and whether it leads so clearly that rounding, in a
        pool that computes in less than fp32, cannot have changed it.
        """

    @abstractmethod
    def attribute(self, inputs: Inputs, label: str, method: str) -> Attribution:
        """Weights of all words towards `label`."""

    def close(self) -> None:
        """Free the adapter, unless the same model was opened twice and the other is still there."""
        if not self._open:
            return
        self._open = False
        uses = _uses[self._pool]
        uses[self.key] -= 1
        if not uses[self.key]:
            self._pool.remove(self.key)

    @abstractmethod
    def prepare(self, inputs: Inputs) -> Prepared:
        """The inputs as word pieces; raises `Invalid` for inputs without text."""

    def predict(self, batch: Sequence[Inputs]) -> list[ModelOutput]:
        """One output per input, in order."""
        return self.answer([(self, self.prepare(inputs)) for inputs in batch])

    def answer(self, calls: Sequence[tuple[Backend, Prepared]]) -> list[ModelOutput]:
        """Answers to calls of any models of this model's pool, mixed in one batch."""
        ours = [(model, prepared) for model, prepared in calls if isinstance(model, Encoded)]
        answers = self._ask(ours)
        unsure = [index for index, (_, sure) in enumerate(answers) if not (sure or self._pool.exact)]
        if unsure:
            again = self._ask([ours[index] for index in unsure], exact=True)
            for index, better in zip(unsure, again, strict=True):
                answers[index] = better
        return [output for output, _ in answers]

    def _ask(self, calls: Sequence[tuple["Encoded", Prepared]], exact: bool = False) -> list[tuple[ModelOutput, bool]]:
        windows_by_call = [model.windows(prepared) for model, prepared in calls]
        keys = [model.key for (model, _), windows in zip(calls, windows_by_call, strict=True) for _ in windows]
        rows = iter(self._pool.logits(keys, [window for windows in windows_by_call for window in windows], exact))
        rows_by_call = [[next(rows) for _ in windows] for windows in windows_by_call]
        return [model.read(prepared, rows) for (model, prepared), rows in zip(calls, rows_by_call, strict=True)]


def adapter_key(card: ModelCard) -> str:
    """The name that a model's adapter has within the pool."""
    return f"{card.name}@{card.version}".replace(".", "_")


def check_texts(inputs: Inputs, card: ModelCard) -> Inputs:
    """The inputs, if they hold text for every field of the card; raises `Invalid` otherwise."""
    wrong = {name: "A text is needed here." for name in card.inputs if not isinstance(inputs.get(name), str)}
    if wrong:
        raise Invalid(wrong)
    return inputs


class AdapterModel(Encoded):
    """A classifier over one or two text fields, with an adapter of its own."""

    LEAD = 0.3
    """Log-odds between the two likeliest labels above which bfloat16 has not swapped them: of 4,500 test inputs it
    changed them by at most 0.16 in any, and swapped labels that were up to 0.09 apart."""

    @staticmethod
    def make_head(card: ModelCard, width: int) -> nn.Module:
        """Return an untrained classifier."""
        return Head(width, len(card.labels))

    def prepare(self, inputs: Inputs) -> Pieces:
        """The inputs' word pieces."""
        return encode([check_texts(inputs, self.card)], self.card.inputs, self._max_length)[0]

    def windows(self, prepared: Pieces) -> Sequence[Pieces]:
        """The input is read at once, as far as it fits."""
        return (prepared,)

    def read(self, prepared: Pieces, head_outputs: Sequence[Tensor]) -> tuple[ModelOutput, bool]:
        """The likeliest label."""
        logits = head_outputs[0].numpy()
        second, first = np.partition(logits, -2)[-2:]
        return output(self.card, logits), bool(first - second >= self.LEAD)

    def predict(self, batch: Sequence[Inputs]) -> list[ModelOutput]:
        """One output per input, in order."""
        pieces = encode([check_texts(inputs, self.card) for inputs in batch], self.card.inputs, self._max_length)
        return self.answer([(self, row) for row in pieces])

    def attribute(self, inputs: Inputs, label: str, method: str) -> Attribution:
        """Weights of all words towards the log-odds of `label`."""
        check_explained(self.card, label, method)
        value = partial(log_odds, label=self.card.labels.index(label))
        subject = ExplainedWindow(self.prepare(inputs), self.card.inputs, label, value)
        return METHODS[method](self._pool.explainable(self.key), subject)


class MeanHead(nn.Module):
    """The mean state of each text, and one linear layer over the features of all texts of an input."""

    def __init__(self, width: int, texts: int, labels: int) -> None:
        super().__init__()
        self.out = nn.Linear(width * (1 if texts == 1 else 4), labels)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        """Mean states (B, width) of hidden states (B, T, width), `mask` (B, T) being 1 on pieces."""
        return mean_states(states, mask)


def mean_states(states: Tensor, mask: Tensor) -> Tensor:
    """Mean states (B, width), of length 1."""
    weights = mask.to(states.dtype).unsqueeze(-1)
    return normalize((states * weights).sum(1) / weights.sum(1).clamp_min(1e-6), dim=-1)


def relate_texts(means: Sequence[Tensor]) -> Tensor:
    """Features (B, F) of the mean states (B, width) of one text or of two."""
    if len(means) == 1:
        return means[0]
    first, second = means
    return torch.cat([first, second, (first - second).abs(), first * second], -1)


@dataclass(frozen=True)
class Apart:
    """The pieces of each text, read one by one."""

    texts: tuple[Pieces, ...]

    def __len__(self) -> int:
        return sum(len(text) for text in self.texts)


class HeadModel(Encoded):
    """A logistic head over the frozen encoder: each text's mean state, and what two texts' states have in common.

    Two texts are read one by one and related as in InferSent (Conneau et al., EMNLP 2017): u, v, |u - v| and u * v.
    """

    LEAD = 1.0
    """Log-odds between the two likeliest labels below which the answer is computed again, exactly."""
    adapted = False

    @staticmethod
    def make_head(card: ModelCard, width: int) -> nn.Module:
        """Return an untrained logistic head."""
        return MeanHead(width, len(card.inputs), len(card.labels))

    def prepare(self, inputs: Inputs) -> Apart:
        """Each input's word pieces."""
        check_texts(inputs, self.card)
        return Apart(tuple(encode([inputs], [name], self._max_length)[0] for name in self.card.inputs))

    def windows(self, prepared: Apart) -> Sequence[Pieces]:
        """Each text by itself."""
        return prepared.texts

    @torch.inference_mode()
    def read(self, prepared: Apart, head_outputs: Sequence[Tensor]) -> tuple[ModelOutput, bool]:
        """The likeliest label."""
        head: nn.Module = self._pool.head(self.key)
        assert isinstance(head, MeanHead)
        logits: Tensor = head.out(relate_texts([text.unsqueeze(0) for text in head_outputs]))[0]
        second, first = logits.sort().values[-2:]
        return output(self.card, logits.numpy()), bool(first - second >= self.LEAD)

    def attribute(self, inputs: Inputs, label: str, method: str, seconds: float | None = None) -> Attribution:
        """Weights of all words towards `label`, by taking words away; the best after `seconds`."""
        return removal.explain(self, inputs, label, method, seconds or removal.SECONDS)


class FoundAnswers(NamedTuple):
    """Possible answers, the likeliest first, and the highest sum of start and end logits of a window."""

    spans: list[Span]
    strength: float


class ExtractorModel(Encoded):
    """Reads a question and a passage, in this order, and marks the answer in the passage.

    Offsets count code points of the passage as it was given; an answer covers whole words. A passage without words
    has no answer: an empty list.
    """

    LEAD = 0.05
    """By how much an answer must lead before the next text, and its place before others of that text, if bfloat16 is
    not to have swapped them: twice the most that it did for any of 1,000 questions."""

    @staticmethod
    def make_head(card: ModelCard, width: int) -> nn.Module:
        """Return an untrained head for the beginning and the end of an answer."""
        return SpanHead(width)

    def prepare(self, inputs: Inputs) -> Reading:
        """The passage as windows with the question before each."""
        question, passage = (check_texts(inputs, self.card)[name] for name in self.card.inputs)
        return read_passage(question, passage, self._max_length)

    def windows(self, prepared: Reading) -> Sequence[Pieces]:
        """The passage, or what stands in each window of a long one."""
        return [window.pieces for window in prepared.windows]

    def spans(self, prepared: Reading, head_outputs: Sequence[Tensor]) -> list[Span]:
        """Possible answers, the likeliest first."""
        return spans(prepared, [logits.numpy() for logits in head_outputs])

    def read(self, prepared: Reading, head_outputs: Sequence[Tensor]) -> tuple[ModelOutput, bool]:
        """The best span, and the probabilities of the likeliest texts."""
        candidates = self.spans(prepared, head_outputs)
        if not candidates:
            return ModelOutput({self.card.answer: []}, {}), True
        (gain, (chosen, *same)), *others = ranked(candidates)
        leads = [gain - other for other, _ in others[:1]] + [chosen.probability - span.probability for span in same[:1]]
        if math.isnan(chosen.probability):
            raise Broken(f"{self.card.name} computed numbers that are not finite for this input; train it again.")
        answer = {"start": chosen.start, "end": chosen.end, "text": chosen.text}
        output = ModelOutput({self.card.answer: [answer]}, likeliest(candidates, chosen))
        return output, all(lead >= self.LEAD for lead in leads)

    def candidates(self, batch: Sequence[Inputs]) -> list[FoundAnswers]:
        """Possible answers to each question, in whatever the pool computes in."""
        read = [self.prepare(inputs) for inputs in batch]
        windows = [window for reading in read for window in self.windows(reading)]
        rows = iter(self._pool.logits([self.key] * len(windows), windows))
        return [self._gather_answers(reading, [next(rows) for _ in reading.windows]) for reading in read]

    def _gather_answers(self, reading: Reading, head_outputs: Sequence[Tensor]) -> FoundAnswers:
        parts = [
            logits[window.at : window.at + window.count]
            for window, logits in zip(reading.windows, head_outputs, strict=True)
        ]
        strength = max((float(part.max(0).values.sum()) for part in parts if len(part)), default=-math.inf)
        return FoundAnswers(self.spans(reading, head_outputs), strength)

    def attribute(self, inputs: Inputs, label: str, method: str) -> Attribution:
        """Weights of the words of question and passage towards the log-odds, among all places of the passage that
        stand in the answer's window, of the answer's beginning there (`label` is `start`) or ending there (`end`).
        """
        check_explained(self.card, label, method)
        reading = self.prepare(inputs)
        candidates = self.spans(
            reading, self._pool.logits([self.key] * len(reading.windows), self.windows(reading), True)
        )
        if not candidates:
            return Attribution(method, label, {name: [] for name in self.card.inputs})
        chosen = best(candidates)
        window = reading.windows[chosen.window]
        place = chosen.first if label == "start" else chosen.last
        value = partial(_odds, window=window, side=SPAN_PARTS.index(label), place=place - window.at)
        return METHODS[method](
            self._pool.explainable(self.key), ExplainedWindow(window.pieces, self.card.inputs, label, value)
        )


def _odds(logits: Tensor, window: Window, side: int, place: int) -> Tensor:
    """Log-odds (B,) of the window's passage piece `place` against its others, of logits (B, T, 2)."""
    return log_odds(logits[:, window.at : window.at + window.count, side], place)
