"""Whether a strip is worth looking at: do the words it marks matter more to the model than words at random?"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dynabench.models.protocol import Attributable, Attribution, WordWeight
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


def check(model: Attributable, examples: Sequence[Mapping[str, Any]], method: str = "", seed: int = 0) -> Faithfulness:
    """Compare, for each example, the predicted label's probability without the strip's `REMOVED` heaviest words
    towards that label and, on average over `DRAWS` draws, without as many words drawn evenly from all its fields.
    """
    method = method or model.card.methods[0]
    rng = random.Random(seed)
    outputs = model.predict(examples)
    asked: list[Texts] = []
    labels: list[tuple[str, float]] = []
    for inputs, output in zip(examples, outputs, strict=True):
        label = str(output.answer[model.card.answer])
        found = model.attribute(inputs, label, method)
        places = [(field, word) for field, words in found.fields.items() for word in words]
        if len(places) <= REMOVED:
            continue
        asked.append(without(inputs, top(found)))
        asked += [without(inputs, rng.sample(places, REMOVED)) for _ in range(DRAWS)]
        labels.append((label, (output.probabilities or {})[label]))
    answers = model.predict(asked)
    drops = []
    for index, (label, before) in enumerate(labels):
        part = answers[index * (1 + DRAWS) : (index + 1) * (1 + DRAWS)]
        lost = [before - (answer.probabilities or {})[label] for answer in part]
        drops.append((lost[0], sum(lost[1:]) / DRAWS))
    return _summary(method, drops, len(examples) - len(drops))


def top(found: Attribution, count: int = REMOVED) -> list[tuple[str, WordWeight]]:
    """The `count` words of all fields that weigh most towards the label, heaviest first."""
    places = [(field, word) for field, words in found.fields.items() for word in words]
    return sorted(places, key=lambda place: -place[1].weight)[:count]


def without(inputs: Mapping[str, Any], places: Sequence[tuple[str, WordWeight]]) -> Texts:
    """The inputs with these words cut out of their fields' texts."""
    texts = {name: str(text) for name, text in inputs.items()}
    for field, word in sorted(places, key=lambda place: -place[1].start):
        texts[field] = f"{texts[field][: word.start].rstrip()} {texts[field][word.end :].lstrip()}".strip()
    return texts


def sample(examples: Sequence[Mapping[str, Any]], count: int, seed: int = 0) -> list[Mapping[str, Any]]:
    """At most `count` examples, drawn at random."""
    return list(examples) if len(examples) <= count else random.Random(seed).sample(list(examples), count)


def _summary(method: str, drops: Sequence[tuple[float, float]], skipped: int) -> Faithfulness:
    n = len(drops)
    rate = wilson(sum(mine > other for mine, other in drops), n)
    mine, other = (sum(column) / max(n, 1) for column in (list(zip(*drops, strict=True)) or [(), ()]))
    share, low, high = (round(value or 0.0, 4) for value in (rate.value, rate.low, rate.high))
    return Faithfulness(method, share, low, high, n, round(mine, 4), round(other, 4), skipped)
