"""Faithfulness of a strip: the words it marks must matter more to the model than random words do."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dynabench.models.protocol import Attributable, Attribution, Card, Output, WordWeight, explained
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
class Said:
    """A model's answer: the `label` to explain, and the words that are never removed (`kept`).

    `before` is the probability of `text`: of the label, or of the text of an extracted answer.
    """

    label: str
    text: str
    before: float
    kept: frozenset[tuple[str, int]] = frozenset()


def check(model: Attributable, examples: Sequence[Mapping[str, Any]], method: str = "", seed: int = 0) -> Faithfulness:
    """Compare, for each example, the predicted label's probability without the strip's `REMOVED` heaviest words
    towards that label and, on average over `DRAWS` draws, without as many words drawn evenly from all its fields.

    Of an extracted answer, the strip of its start is looked at, the probability is that of its text, and its own words
    are never removed.
    """
    method = method or model.card.methods[0]
    rng = random.Random(seed)
    outputs = model.predict(examples)
    asked: list[Texts] = []
    answers: list[Said] = []
    for inputs, output in zip(examples, outputs, strict=True):
        said = _said(model.card, output)
        found = model.attribute(inputs, said.label, method)
        places = [place for place in top(found, None) if (place[0], place[1].start) not in said.kept]
        if len(places) <= REMOVED:
            continue
        asked.append(without(inputs, places[:REMOVED]))
        asked += [without(inputs, rng.sample(places, REMOVED)) for _ in range(DRAWS)]
        answers.append(said)
    again = model.predict(asked)
    drops = []
    for index, said in enumerate(answers):
        part = again[index * (1 + DRAWS) : (index + 1) * (1 + DRAWS)]
        lost = [said.before - (answer.probabilities or {}).get(said.text, 0.0) for answer in part]
        drops.append((lost[0], sum(lost[1:]) / DRAWS))
    return _summary(method, drops, len(examples) - len(drops))


def _said(card: Card, output: Output) -> Said:
    answer, probabilities = output.answer[card.answer], output.probabilities or {}
    if card.labels:
        return Said(str(answer), str(answer), probabilities[str(answer)])
    span: Mapping[str, Any] = answer[0] if answer else {"start": 0, "end": 0, "text": ""}
    own = frozenset((card.inputs[1], place) for place in range(span["start"], span["end"]))
    return Said(explained(card)[0], span["text"], probabilities.get(span["text"], 0.0), own)


def top(found: Attribution, count: int | None = REMOVED) -> list[tuple[str, WordWeight]]:
    """The `count` words of all fields that weigh most towards the label, heaviest first; all without a count."""
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
