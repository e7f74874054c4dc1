"""Gender left open: neutral names, singular they, a person for a man or a woman."""

from collections.abc import Mapping, Sequence
from random import Random

from dynabench.adversaries.perturbations import agreement, gendered
from dynabench.adversaries.perturbations.base import Axis, Texts
from dynabench.adversaries.perturbations.edits import Edit, Edited, Span, edit
from dynabench.adversaries.perturbations.given import gender
from dynabench.adversaries.perturbations.names import chosen
from dynabench.adversaries.perturbations.words import Word, like

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
        old = list(dict.fromkeys(one.name for each in row.names.values() for one in each if one.name in gender()))
        new = chosen(old, {key: ["neutral"] for key in old}, set(), rng)
        made = dict[str, Edited]()
        for field, text in texts.items():
            edits = [Edit(*one.span, new[one.name]) for one in row.names[field] if one.name in new]
            told = _words(text, row.words[field], {one.start for one in edits})
            if told is None:
                return None
            if changed := edit(text, [*edits, *told]):
                made[field] = changed
        return made or None


TRANSFORMATION = Neutral()


def _words(text: str, found: Sequence[Word], taken: set[int]) -> list[Edit] | None:
    edits = list[Edit]()
    for at, word in enumerate(found):
        said = gendered.base(word.text)
        if word.start in taken or said not in gendered.ALL:
            continue
        if said in ("he", "she", "he's", "she's"):
            verb = agreement.they(text, found, at)
            if verb is None:
                return None
            edits += verb
            continue
        new = _neutral(text, found, at)
        if new is None:
            return None
        put = gendered.article(text, found, at, new)
        edits += [Edit(word.start, word.end, like(word.text, new)), *([put] if put else [])]
    return edits


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
