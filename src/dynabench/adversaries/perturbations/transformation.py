"""The interface of a transformation, and rules that edit one text at a time."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal, Protocol
from zlib import adler32

from dynabench.adversaries.perturbations.text_edits import Edit, EditedText, Span, apply_edits, draw_edits
from dynabench.adversaries.perturbations.words import Word, words

Axis = Literal["fairness", "robustness"]
Texts = Mapping[str, str]
EditRule = Callable[[str, Random], Iterable[Edit]]
"""Returns the edits of one text."""
MAX_LENGTH = 100_000
"""Code points of a text; longer texts are left alone."""


class Transformation(Protocol):
    """A named way to change the texts of a row without changing what they mean.

    `name` is stored with the copies that it makes, so it never changes.
    """

    @property
    def name(self) -> str:
        """The name in configs, commands and stored rows."""
        ...

    @property
    def title(self) -> str:
        """The name on pages."""
        ...

    @property
    def axis(self) -> Axis:
        """The property of models that it tests."""
        ...

    def apply(
        self, texts: Texts, rng: Random, locked: Mapping[str, Sequence[Span]] | None = None
    ) -> dict[str, EditedText] | None:
        """Return the texts of one row that change, by field; None where nothing changes, or nothing safely can.

        `locked` has spans by field that robustness leaves alone; all random choices come from `rng`.
        """
        ...


@dataclass(frozen=True)
class PerText:
    """A transformation of robustness that changes each text on its own, by a `rule`."""

    name: str
    title: str
    rule: EditRule
    axis: Axis = "robustness"

    def apply(
        self, texts: Texts, rng: Random, locked: Mapping[str, Sequence[Span]] | None = None
    ) -> dict[str, EditedText] | None:
        """See `Transformation.apply`."""
        edited_texts = {
            field: edited
            for field, text in texts.items()
            if len(text) <= MAX_LENGTH
            if (edited := apply_edits(text, self.rule(text, rng), (locked or {}).get(field, ())))
        }
        return edited_texts or None


def per_word(change: Callable[[Word, Random], str | None], every: int = 10) -> EditRule:
    """Return a rule that changes one word in `every`, at least one.

    `change` returns the new word, or None to leave it.
    """

    def rule(text: str, rng: Random) -> list[Edit]:
        text_words = words(text)
        order = rng.sample(text_words, len(text_words))
        limit, edits = max(1, len(text_words) // every), list[Edit]()
        for word in order:
            new = change(word, rng)
            if new is not None and new != word.text:
                edits.append(Edit(word.start, word.end, new))
                if len(edits) == limit:
                    break
        return edits

    return rule


def per_match(candidates: Callable[[str, Sequence[Word]], Iterable[Edit]], every: int = 10) -> EditRule:
    """Return a rule that makes one of all candidate edits for `every` words, at least one."""

    def rule(text: str, rng: Random) -> list[Edit]:
        text_words = words(text)
        return draw_edits(list(candidates(text, text_words)), len(text_words), rng, every)

    return rule


def generator(seed: int, uid: str, name: str) -> Random:
    """Return the random generator of a seed, a row and a transformation, the same in whatever order rows come."""
    return Random(f"{seed}:{adler32(uid.encode('utf-8', 'surrogatepass'))}:{uid}:{name}")
