"""Female for male and male for female: names, pronouns, titles and words for kin and work."""

from collections.abc import Mapping, Sequence
from random import Random

from dynabench.adversaries.perturbations import gendered
from dynabench.adversaries.perturbations.base import Axis, Texts
from dynabench.adversaries.perturbations.edits import Edit, Edited, Span
from dynabench.adversaries.perturbations.given import gender
from dynabench.adversaries.perturbations.names import chosen
from dynabench.adversaries.perturbations.words import Word

_OTHER = {"female": "male", "male": "female"}


class Swapped:
    """Everybody's gender swapped, so that who is who stays clear; rows that it would make odd are left alone."""

    name = "gender_swapped"
    title = "Female and male swapped"
    axis: Axis = "fairness"

    def apply(
        self, texts: Texts, rng: Random, locked: Mapping[str, Sequence[Span]] | None = None
    ) -> dict[str, Edited] | None:
        """See `Transformation.apply`."""
        if (row := gendered.read(texts)) is None:
            return None
        names = row.given()
        new = chosen(names, {name: [_OTHER[gender()[name]]] for name in names}, set(), rng)
        return gendered.rewritten(texts, row, new, _edits)


TRANSFORMATION = Swapped()


def _edits(text: str, found: Sequence[Word], at: int) -> list[Edit] | None:
    new = _swapped(text, found, at)
    return None if new is None else gendered.put(text, found, at, new)


def _swapped(text: str, found: Sequence[Word], at: int) -> str | None:
    """The counterpart of a gendered word where it stands; None where one cannot tell."""
    word = gendered.base(found[at].text)
    before, after = gendered.beside(text, found, at)
    if word == "her":
        owns = gendered.possessive(before, after)
        return None if owns is None else "his" if owns else "him"
    if word == "his":
        return "her" if gendered.owns(after) else "hers"
    fixed = {"him": "her", "hers": "his", **dict(gendered.TITLES.items())}
    new = fixed.get(word) or gendered.SWAP.get(word)
    tail = found[at].text[len(word) :]
    return None if new is None else new + tail
