"""Strips of models that give nothing but answers: take words away, ask again, see what becomes of the answer."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dynabench.errors import Invalid
from dynabench.models.attribution.faithfulness import without
from dynabench.models.protocol import Attribution, Card, Inputs, Model, Output, WordWeight
from dynabench.models.words import first_words

LONGEST = 256
"""Words of a field that are looked at."""
BATCH = 32
FLOOR = 1e-6
"""Probabilities are kept this far from 0 and 1 before log-odds are taken."""


def explain(model: Model, inputs: Inputs, label: str, method: str) -> Attribution:
    """Weights of all words towards `label`; raises `Invalid` for another label or method than the card's."""
    if method not in model.card.methods:
        raise Invalid({"method": f"One of {', '.join(model.card.methods)}."})
    words = {
        name: [WordWeight(word.text, word.start, word.end, 0.0) for word in first_words(str(inputs[name]), LONGEST)]
        for name in model.card.inputs
        if name not in model.card.images
    }
    places = [(name, word) for name, found in words.items() for word in found]
    return _occlusion(model, inputs, label, places)


def _occlusion(model: Model, inputs: Inputs, label: str, places: Sequence[tuple[str, WordWeight]]) -> Attribution:
    """What the log-odds of the label lose when one word at a time is cut out (Zeiler and Fergus, ECCV 2014)."""
    asked: list[Mapping[str, Any]] = [inputs, *(without(inputs, [place]) for place in places)]
    outputs = [out for at in range(0, len(asked), BATCH) for out in model.predict(asked[at : at + BATCH])]
    values = np.array([value(model.card, output, label) for output in outputs])
    lost = values[0] - values[1:]
    scale = float(np.abs(lost).max(initial=0.0)) or 1.0
    fields: dict[str, list[WordWeight]] = {name: [] for name in model.card.inputs if name not in model.card.images}
    for (name, word), weight in zip(places, lost / scale, strict=True):
        fields[name].append(WordWeight(word.text, word.start, word.end, float(weight)))
    return Attribution("occlusion", label, fields)


def value(card: Card, output: Output, label: str) -> float:
    """How much an output speaks for the label: its log-odds, or 1 and 0 where there are no probabilities."""
    if output.probabilities is None or label not in output.probabilities:
        return float(output.answer[card.answer] == label)
    p = min(max(output.probabilities[label], FLOOR), 1 - FLOOR)
    return float(np.log(p / (1 - p)))
