"""Gender left open: neutral names, singular they, a person for a man or a woman."""

from collections.abc import Mapping, Sequence
from random import Random

from dynabench.adversaries.perturbations import agreement, gendered
from dynabench.adversaries.perturbations.base import Axis, Texts
from dynabench.adversaries.perturbations.edits import Edit, Edited, Span
from dynabench.adversaries.perturbations.names import chosen
from dynabench.adversaries.perturbations.words import Word

_TITLES = dict.fromkeys(gendered.TITLES, "Mx")
_PRONOUNS = {"him": "them", "hers": "theirs", "he'd": "they'd", "she'd": "they'd", "he'll": "they'll",
             "she'll": "they'll"}  # fmt: skip


class Neutral:
    """One gender made neutral; rows that tell of both, or whose grammar is beyond `agreement`, are left alone."""

    name = "gender_neutral"
    title = "Gender left open"
    axis: Axis = "fairness"

    def apply(
        self, texts: Texts, rng: Random, locked: Mapping[str, Sequence[Span]] | None = None
    ) -> dict[str, Edited] | None:
        """See `Transformation.apply`."""
        if (row := gendered.read(texts)) is None or len(row.genders()) != 1:
            return None
        names = row.given()
        new = chosen(names, {name: ["neutral"] for name in names}, set(), rng)
        return gendered.rewritten(texts, row, new, _edits)


TRANSFORMATION = Neutral()


def _edits(text: str, found: Sequence[Word], at: int) -> list[Edit] | None:
    if gendered.base(found[at].text) in ("he", "she", "he's", "she's"):
        return agreement.they(text, found, at)
    new = _neutral(text, found, at)
    return None if new is None else gendered.put(text, found, at, new)


def _neutral(text: str, found: Sequence[Word], at: int) -> str | None:
    """The neutral form of a gendered word where it stands; None where there is none or one cannot tell."""
    word = gendered.base(found[at].text)
    before, after = gendered.beside(text, found, at)
    if word == "her":
        owns = gendered.possessive(before, after)
        return None if owns is None else "their" if owns else "them"
    if word == "his":
        return "their" if gendered.owns(after) else "theirs"
    new = _PRONOUNS.get(word) or _TITLES.get(word) or gendered.NEUTRAL.get(word, "").replace("_", " ")
    return new + found[at].text[len(word) :] if new else None
