"""Explanations that were given before: by model, version, inputs, label and method."""

import hashlib
import json
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from dynabench.models.protocol import Attribution, Card

WORDS = 200_000
"""Words of all explanations that are kept, some 60 MB; the ones used longest ago go first."""
Key = tuple[str, ...]


class Cache:
    """Keeps the explanations used last, up to so many words. One that was cut short is not kept."""

    def __init__(self, words: int = WORDS) -> None:
        self._limit = words
        self._kept: OrderedDict[Key, Attribution] = OrderedDict()
        self._words = 0

    def get(self, key: Key) -> Attribution | None:
        """Return the explanation that was put under the key; None if it is no longer there."""
        if key not in self._kept:
            return None
        self._kept.move_to_end(key)
        return self._kept[key]

    def put(self, key: Key, found: Attribution) -> None:
        """Keep an explanation."""
        if getattr(found, "cut_short", False) or key in self._kept or _words(found) > self._limit:
            return
        self._kept[key] = found
        self._words += _words(found)
        while self._words > self._limit:
            _, gone = self._kept.popitem(last=False)
            self._words -= _words(gone)


def key(card: Card, inputs: Mapping[str, Any], label: str, method: str) -> Key:
    """The question: the model's version, the SHA-256 of what it reads (pictures are long), label and method."""
    read = json.dumps({name: inputs.get(name) for name in card.inputs}, ensure_ascii=True)
    return (card.name, card.version, label, method, hashlib.sha256(read.encode()).hexdigest())


def _words(found: Attribution) -> int:
    return 1 + sum(map(len, found.fields.values()))
