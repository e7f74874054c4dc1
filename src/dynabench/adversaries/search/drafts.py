"""A text under change: which words it has, which were replaced, and how it reads now."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

from dynabench.adversaries.perturbations.edits import Edit, edit
from dynabench.adversaries.perturbations.words import Word, words
from dynabench.adversaries.proposing import Context

FIRST = 128
"""Words of a text that may change; the sentence encoder compares little more of it."""
LONGEST = 100_000
"""Characters of a text that is attacked; longer ones are left alone."""


@dataclass(frozen=True)
class Place:
    """The word `at` of a field."""

    field: str
    at: int


@dataclass(frozen=True)
class Draft:
    """Inputs, of which the words of some fields may be replaced; `new` holds what was, by place."""

    inputs: Mapping[str, Any]
    found: Mapping[str, Sequence[Word]]
    new: Mapping[Place, str] = field(default_factory=dict)

    @classmethod
    def of(cls, context: Context, fields: Sequence[str] = ()) -> Self:
        """The context's inputs; what may change is `changeable`."""
        names = changeable(context, fields)
        return cls(context.inputs, {name: words(context.inputs[name]) for name in names})

    @property
    def places(self) -> list[Place]:
        """Words that may be replaced: the first of each field, no names."""
        return [
            Place(name, at)
            for name, found in self.found.items()
            for at, word in enumerate(found[:FIRST])
            if not word.name
        ]

    @property
    def size(self) -> int:
        """Words of all fields that may change."""
        return sum(map(len, self.found.values()))

    def word(self, place: Place) -> Word:
        """The original's word there."""
        return self.found[place.field][place.at]

    def said(self, name: str) -> list[str]:
        """The words of a field as they are now."""
        return [self.new.get(Place(name, at), word.text) for at, word in enumerate(self.found[name])]

    def put(self, place: Place, new: str) -> "Draft":
        """With another word there."""
        return replace(self, new={**self.new, place: new})

    def back(self, place: Place) -> "Draft":
        """With the original's word there again."""
        return replace(self, new={other: new for other, new in self.new.items() if other != place})

    @property
    def changed(self) -> dict[str, str]:
        """The texts of the fields that differ from the original's."""
        texts = {}
        for name in {place.field for place in self.new}:
            edits = [
                Edit(w.start, w.end, new) for p, new in self.new.items() if p.field == name for w in (self.word(p),)
            ]
            if done := edit(self.inputs[name], edits):
                texts[name] = done.text
        return texts

    @property
    def read(self) -> dict[str, Any]:
        """The inputs as they are now."""
        return {**self.inputs, **self.changed}

    def without(self, place: Place) -> dict[str, Any]:
        """The inputs with the word left out, to see what it matters."""
        word, text = self.word(place), self.inputs[place.field]
        end = word.end + 1 if text[word.end : word.end + 1] == " " else word.end
        return {**self.inputs, place.field: text[: word.start] + text[end:]}


def changeable(context: Context, fields: Sequence[str] = ()) -> list[str]:
    """The texts that an adversary may change: `fields`, or all inputs that are not given by the context."""
    texts = [name for name, value in context.inputs.items() if isinstance(value, str) and len(value) <= LONGEST]
    return [name for name in texts if (name in fields if fields else name not in context.values)]
