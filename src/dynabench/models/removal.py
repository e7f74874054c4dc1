"""Attributions by leaving words out, for models that give nothing but answers."""

import random
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from dynabench.evaluate.metrics.squad import normalize_answer, word_f1
from dynabench.kit.errors import Invalid
from dynabench.models.protocol import (
    Attributable,
    Attribution,
    Inputs,
    Model,
    ModelCard,
    ModelOutput,
    WordWeight,
    explained,
)
from dynabench.models.words import first_words
from dynabench.stats.rates import wilson

REMOVED = 3
"""Words removed at once."""
DRAWS = 8
"""Random choices of words that the strip's choice is compared with, on average."""

Texts = dict[str, str]


@dataclass(frozen=True)
class Faithfulness:
    """`share` of `n` examples in which the strip's words mattered more, with its 95 % interval.

    `drop` and `random_drop` are mean losses of the predicted label's probability. Examples with fewer than four words
    cannot be told apart and are `skipped`.
    """

    method: str
    share: float
    low: float
    high: float
    n: int
    drop: float
    random_drop: float
    skipped: int


@dataclass(frozen=True)
class ExplainedAnswer:
    """A model's answer: the `label` to explain, and the words that are never removed (`protected`).

    `before` is the probability of `text`: of the label, or of the text of an extracted answer.
    """

    label: str
    text: str
    before: float
    protected: frozenset[tuple[str, int]] = frozenset()


def check_faithfulness(
    model: Attributable, examples: Sequence[Mapping[str, Any]], method: str = "", seed: int = 0
) -> Faithfulness:
    """Compare, for each example, the predicted label's probability without the strip's `REMOVED` heaviest words
    towards that label and, on average over `DRAWS` draws, without as many words drawn evenly from all its fields.

    Of an extracted answer, the strip of its start is looked at, the probability is that of its text, and its own words
    are never removed.
    """
    method = method or model.card.methods[0]
    rng = random.Random(seed)
    outputs = model.predict(examples)
    questions: list[Texts] = []
    answers: list[ExplainedAnswer] = []
    for inputs, output in zip(examples, outputs, strict=True):
        explained_answer = _explained_answer(model.card, output)
        attribution = model.attribute(inputs, explained_answer.label, method)
        places = [
            place
            for place in top_words(attribution, None)
            if (place[0], place[1].start) not in explained_answer.protected
        ]
        if len(places) <= REMOVED:
            continue
        questions.append(without_words(inputs, places[:REMOVED]))
        questions += [without_words(inputs, rng.sample(places, REMOVED)) for _ in range(DRAWS)]
        answers.append(explained_answer)
    again = model.predict(questions)
    drops = []
    for index, explained_answer in enumerate(answers):
        part = again[index * (1 + DRAWS) : (index + 1) * (1 + DRAWS)]
        lost = [
            explained_answer.before - (answer.probabilities or {}).get(explained_answer.text, 0.0) for answer in part
        ]
        drops.append((lost[0], sum(lost[1:]) / DRAWS))
    return _summary(method, drops, len(examples) - len(drops))


def _explained_answer(card: ModelCard, output: ModelOutput) -> ExplainedAnswer:
    answer, probabilities = output.answer[card.answer], output.probabilities or {}
    if card.labels:
        return ExplainedAnswer(str(answer), str(answer), probabilities[str(answer)])
    span: Mapping[str, Any] = answer[0] if answer else {"start": 0, "end": 0, "text": ""}
    own = frozenset((card.inputs[1], place) for place in range(span["start"], span["end"]))
    return ExplainedAnswer(explained(card)[0], span["text"], probabilities.get(span["text"], 0.0), own)


def top_words(attribution: Attribution, count: int | None = REMOVED) -> list[tuple[str, WordWeight]]:
    """The `count` words of all fields that weigh most towards the label, heaviest first; all without a count."""
    places = [(field, word) for field, words in attribution.fields.items() for word in words]
    return sorted(places, key=lambda place: -place[1].weight)[:count]


def without_words(inputs: Mapping[str, Any], places: Sequence[tuple[str, WordWeight]]) -> Texts:
    """The inputs with these words cut out of their fields' texts."""
    texts = {name: str(text) for name, text in inputs.items()}
    for field, word in sorted(places, key=lambda place: -place[1].start):
        texts[field] = f"{texts[field][: word.start].rstrip()} {texts[field][word.end :].lstrip()}".strip()
    return texts


def sample_rows(examples: Sequence[Mapping[str, Any]], count: int, seed: int = 0) -> list[Mapping[str, Any]]:
    """At most `count` examples, drawn at random."""
    return list(examples) if len(examples) <= count else random.Random(seed).sample(list(examples), count)


def _summary(method: str, drops: Sequence[tuple[float, float]], skipped: int) -> Faithfulness:
    n = len(drops)
    rate = wilson(sum(mine > other for mine, other in drops), n)
    mine, other = (sum(column) / max(n, 1) for column in (list(zip(*drops, strict=True)) or [(), ()]))
    share, low, high = (round(value or 0.0, 4) for value in (rate.value, rate.low, rate.high))
    return Faithfulness(method, share, low, high, n, round(mine, 4), round(other, 4), skipped)


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
        self._first_output = model.predict([inputs])[0]
        self._fields = {
            name: [WordWeight(word.text, word.start, word.end, 0.0) for word in first_words(str(inputs[name]), LONGEST)]
            for name in model.card.inputs
            if name not in model.card.images
        }
        own = _own(model.card, self._first_output)
        self.places: list[Place] = [
            (name, word) for name, words in self._fields.items() for word in words if not _within(name, word, own)
        ]
        """The words that can be taken away."""
        whole = np.ones(len(self.places), bool)
        self._value_by_row = {whole.tobytes(): value(model.card, self._first_output, self._first_output, label)}

    def values(self, rows: NDArray[Any]) -> Floats:
        """The value (B,) of the answer for each row of presences (B, words): a word is there above one half.

        Raises `OutOfTime`; what was answered by then is remembered.
        """
        presences = np.asarray(rows) > 0.5
        new = {row.tobytes(): row for row in presences if row.tobytes() not in self._value_by_row}
        waiting = list(new.items())
        for at in range(0, len(waiting), BATCH):
            if time.monotonic() > self._until:
                raise OutOfTime
            part = waiting[at : at + BATCH]
            outputs = self._model.predict([self._texts(row) for _, row in part])
            for (key, _), output in zip(part, outputs, strict=True):
                self._value_by_row[key] = value(self._model.card, output, self._first_output, self._label)
        return np.array([self._value_by_row[row.tobytes()] for row in presences])

    def answered_rows(self) -> tuple[Floats, Floats]:
        """Every row of presences (N, words) asked so far, and its value (N,)."""
        rows = np.array([np.frombuffer(key, bool) for key in self._value_by_row], float)
        return rows.reshape(len(self._value_by_row), len(self.places)), np.array(list(self._value_by_row.values()))

    def attribution(
        self, method: str, weights: Floats, error: float | None = None, cut_short: bool = False
    ) -> Attribution:
        """Weights (words,) as an attribution, scaled so that the largest magnitude is 1."""
        scale = float(np.abs(weights).max(initial=0.0)) or 1.0
        scaled = {(name, word.start): float(w) / scale for (name, word), w in zip(self.places, weights, strict=True)}
        fields = {
            name: [WordWeight(w.text, w.start, w.end, scaled.get((name, w.start), 0.0)) for w in words]
            for name, words in self._fields.items()
        }
        return Attribution(method, self._label, fields, error, cut_short=cut_short)

    def _texts(self, row: NDArray[np.bool_]) -> Mapping[str, Any]:
        gone = [place for place, present in zip(self.places, row, strict=True) if not present]
        pictures = {name: self._inputs[name] for name in self._model.card.images}
        return {**without_words({name: self._inputs[name] for name in self._fields}, gone), **pictures}


def value(card: ModelCard, output: ModelOutput, first: ModelOutput, label: str) -> float:
    """Return how strongly an output supports what is explained; `first` is the model's first output.

    For labels this is the log-odds of `label`, or 1 and 0 where there are no probabilities. For spans and
    texts it is the log-odds of the first answer's text if the probabilities contain it, else the share
    (word F1) of that text which the new answer repeats.
    """
    text = label if card.returns == "label" else _text(first.answer[card.answer])
    if output.probabilities is not None and text in (first.probabilities or {}):
        p = min(max(output.probabilities.get(text, 0.0), FLOOR), 1 - FLOOR)
        return float(np.log(p / (1 - p)))
    answer = output.answer[card.answer]
    if card.returns == "label":
        return float(answer == label)
    return word_f1(normalize_answer(_text(answer)), normalize_answer(text))


def _text(answer: Any) -> str:
    if not isinstance(answer, list):
        return str(answer)
    return " ".join(" ".join((span["text"], span.get("label", ""))).strip() for span in answer)


def _own(card: ModelCard, output: ModelOutput) -> Sequence[tuple[str, int, int]]:
    """Return the places of the answer itself in the inputs, as (field, start, end)."""
    if card.returns not in ("spans", "tags"):
        return ()
    return [(card.inputs[-1], span["start"], span["end"]) for span in output.answer[card.answer]]


def _within(name: str, word: WordWeight, own: Sequence[tuple[str, int, int]]) -> bool:
    return any(name == field and word.start < end and word.end > start for field, start, end in own)


SECONDS = 6.0
"""Time after which the best so far is the answer."""
PERMUTATIONS = 25
SAMPLES_A_WORD, SAMPLES = 6, 100
"""LIME asks about so many texts a word, and so many besides."""
RIDGE = 1e-2
_captum = threading.Lock()  # Captum draws from torch's one generator; a seed must hold for a whole explanation


def explain(model: Model, inputs: Inputs, label: str, method: str, seconds: float = SECONDS) -> Attribution:
    """Weights of all words towards `label`, scaled so that the largest magnitude is 1.

    Words of the answer itself, where it is a part of the text, stay and weigh nothing. After `seconds` the best so far
    is returned, with `cut_short` set. Raises `Invalid` for another label or method than the card's, and whatever the
    model raises.
    """
    if label not in explained(model.card):
        raise Invalid({"label": f"One of {', '.join(explained(model.card))}."})
    if method not in METHODS or method not in model.card.methods:
        raise Invalid({"method": f"One of {', '.join(model.card.methods)}."})
    presence = Presence(model, inputs, label, seconds)
    if not presence.places:
        return presence.attribution(method, np.zeros(0))
    try:
        return METHODS[method](presence)
    except OutOfTime:
        return presence.attribution(method, _fitted(presence), cut_short=True)


def _occlusion(presence: Presence) -> Attribution:
    count = len(presence.places)
    values = presence.values(np.vstack([np.ones(count), 1 - np.eye(count)]))
    return presence.attribution("occlusion", values[0] - values[1:])


def _shapley(presence: Presence) -> Attribution:
    import torch
    from captum.attr import ShapleyValueSampling

    count = len(presence.places)
    whole, none = presence.values(np.vstack([np.ones(count), np.zeros(count)]))
    sampler, total, drawn = ShapleyValueSampling(_forward(presence)), np.zeros(count), 0
    try:
        with _captum, torch.random.fork_rng():
            torch.manual_seed(_seed(presence))
            for _ in range(PERMUTATIONS):
                part = sampler.attribute(torch.ones(1, count), n_samples=1, perturbations_per_eval=32)
                total, drawn = total + part.double().numpy()[0], drawn + 1
    except OutOfTime:
        if not drawn:
            raise
    shares = total / drawn
    error = abs(float(shares.sum()) - (whole - none)) / max(abs(whole - none), 1e-6)
    return presence.attribution("shapley", shares, round(error, 6), cut_short=drawn < PERMUTATIONS)


def _lime(presence: Presence) -> Attribution:
    import torch
    from captum.attr import Lime
    from captum.attr._core.lime import get_exp_kernel_similarity_function

    count = len(presence.places)
    near = get_exp_kernel_similarity_function("cosine", kernel_width=0.25)
    with _captum, torch.random.fork_rng():
        torch.manual_seed(_seed(presence))
        weights = Lime(_forward(presence), similarity_func=near).attribute(
            torch.ones(1, count), n_samples=SAMPLES + SAMPLES_A_WORD * count, perturbations_per_eval=32
        )
    return presence.attribution("lime", weights.double().numpy()[0])


METHODS: dict[str, Callable[[Presence], Attribution]] = {"occlusion": _occlusion, "shapley": _shapley, "lime": _lime}


def _forward(presence: Presence) -> Callable[..., object]:
    """The value of each row of presences (B, words) as Captum wants it."""
    import torch

    return lambda rows: torch.from_numpy(presence.values(rows.detach().numpy()))


def _seed(presence: Presence) -> int:
    """The same question is drawn for in the same way."""
    return crc32("\0".join(word.text for _, word in presence.places).encode())


def _fitted(presence: Presence) -> Floats:
    """Return the weights of a ridge regression on the answers that came in time; zeros for fewer than two."""
    rows, values = presence.answered_rows()
    if len(values) < 2:
        return np.zeros(len(presence.places))
    centred = rows - rows.mean(0)
    gram = centred.T @ centred + RIDGE * len(values) * np.eye(rows.shape[1])
    return np.asarray(np.linalg.solve(gram, centred.T @ (values - values.mean())))
