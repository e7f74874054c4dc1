"""What a transformation is: a named way to change the texts of a row without changing what they mean."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal, Protocol
from zlib import adler32

from dynabench.adversaries.perturbations.edits import Edit, Edited, Span, edit, some
from dynabench.adversaries.perturbations.words import REAL, Word, words

Axis = Literal["fairness", "robustness"]
Texts = Mapping[str, str]
Rule = Callable[[str, Random], Iterable[Edit]]
"""The edits of one text."""
MOST = 100_000
"""Code points of a text; longer ones are left alone."""


class Transformation(Protocol):
    """A way to change texts. `name` is stored with what it makes, so it keeps its meaning for good."""

    name: str
    title: str
    axis: Axis

    def apply(
        self, texts: Texts, rng: Random, locked: Mapping[str, Sequence[Span]] | None = None
    ) -> dict[str, Edited] | None:
        """The changed ones among the texts of one row, by field; None where nothing changes, or nothing safely can.

        `locked` has spans by field that robustness leaves alone; what is random comes from `rng`.
        """
        ...


@dataclass(frozen=True)
class PerText:
    """A transformation of robustness that changes each text on its own, by a `rule`."""

    name: str
    title: str
    rule: Rule
    axis: Axis = "robustness"

    def apply(
        self, texts: Texts, rng: Random, locked: Mapping[str, Sequence[Span]] | None = None
    ) -> dict[str, Edited] | None:
        """See `Transformation.apply`."""
        found = {
            field: changed
            for field, text in texts.items()
            if len(text) <= MOST
            if (changed := edit(text, self.rule(text, rng), (locked or {}).get(field, ())))
        }
        return found or None


def per_word(change: Callable[[Word, Random], str | None], every: int = 10) -> Rule:
    """A rule that changes one word in `every`, at least one: `change` gives the new word, or None to leave it."""

    def rule(text: str, rng: Random) -> list[Edit]:
        found = words(text)
        order = rng.sample(found, len(found))
        wanted, made = max(1, len(found) // every), list[Edit]()
        for word in order:
            new = change(word, rng)
            if new is not None and new != word.text:
                made.append(Edit(word.start, word.end, new))
                if len(made) == wanted:
                    break
        return made

    return rule


def per_match(candidates: Callable[[str, Sequence[Word]], Iterable[Edit]], every: int = 10) -> Rule:
    """A rule that makes one of all possible edits for `every` words, at least one."""

    def rule(text: str, rng: Random) -> list[Edit]:
        found = words(text)
        return some(list(candidates(text, found)), len(found), rng, every)

    return rule


def typo(change: Callable[[str, int, Random], str]) -> Rule:
    """A rule for typing errors: `change` gets a plain word, a place inside it (not its ends) and the generator.

    What happens to be another word is not written.
    """

    def once(word: Word, rng: Random) -> str | None:
        if not word.plain:
            return None
        new = change(word.text, rng.randrange(1, len(word.text) - 1), rng)
        return None if new in REAL else new

    return per_word(once)


def generator(seed: int, uid: str, name: str) -> Random:
    """Random numbers that belong to a seed, a row and a transformation, in whatever order rows come."""
    return Random(f"{seed}:{adler32(uid.encode('utf-8', 'surrogatepass'))}:{uid}:{name}")
