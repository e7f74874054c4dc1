"""Gender swapped or left open: names, pronouns, titles and words for kin and work."""

from collections.abc import Mapping, Sequence
from random import Random

from dynabench.adversaries.perturbations import gendered_words, verb_agreement
from dynabench.adversaries.perturbations.person_names import draw_new_names, gender_by_name
from dynabench.adversaries.perturbations.text_edits import Edit, EditedText, Span
from dynabench.adversaries.perturbations.transformation import Axis, Texts, Transformation
from dynabench.adversaries.perturbations.words import Word

_OTHER_GENDER = {"female": "male", "male": "female"}
_NEUTRAL_TITLES = dict.fromkeys(gendered_words.TITLES, "Mx")
_NEUTRAL_PRONOUNS = {"him": "them", "hers": "theirs", "he'd": "they'd", "she'd": "they'd", "he'll": "they'll",
                     "she'll": "they'll"}  # fmt: skip


class GenderSwap:
    """Female for male and male for female in the whole row, so that it stays clear which person is meant.

    Rows that it would make odd are left alone.
    """

    name = "gender_swapped"
    title = "Female and male swapped"
    axis: Axis = "fairness"

    def apply(
        self, texts: Texts, rng: Random, locked: Mapping[str, Sequence[Span]] | None = None
    ) -> dict[str, EditedText] | None:
        """See `Transformation.apply`."""
        if (row := gendered_words.read_row(texts)) is None:
            return None
        names = row.gendered_names()
        new_names = draw_new_names(names, {name: [_OTHER_GENDER[gender_by_name()[name]]] for name in names}, set(), rng)
        return gendered_words.rewrite_row(texts, row, new_names, _swap_word)


class GenderNeutral:
    """Neutral names, singular *they*, a person for a man or a woman.

    Rows that have both genders, or whose grammar is beyond `verb_agreement`, are left alone.
    """

    name = "gender_neutral"
    title = "Gender left open"
    axis: Axis = "fairness"

    def apply(
        self, texts: Texts, rng: Random, locked: Mapping[str, Sequence[Span]] | None = None
    ) -> dict[str, EditedText] | None:
        """See `Transformation.apply`."""
        if (row := gendered_words.read_row(texts)) is None or len(row.genders()) != 1:
            return None
        names = row.gendered_names()
        new_names = draw_new_names(names, {name: ["neutral"] for name in names}, set(), rng)
        return gendered_words.rewrite_row(texts, row, new_names, _neutralise_word)


def _swap_word(text: str, text_words: Sequence[Word], at: int) -> list[Edit] | None:
    new = _counterpart(text, text_words, at)
    return None if new is None else gendered_words.replace_word(text, text_words, at, new)


def _counterpart(text: str, text_words: Sequence[Word], at: int) -> str | None:
    """The counterpart of a gendered word where it stands; None where it is not certain."""
    word = gendered_words.base_form(text_words[at].text)
    before, after = gendered_words.neighbour_words(text, text_words, at)
    if word == "her":
        possessive = gendered_words.is_possessive_her(before, after)
        return None if possessive is None else "his" if possessive else "him"
    if word == "his":
        return "her" if gendered_words.is_possessive_his(after) else "hers"
    pronouns_and_titles = {"him": "her", "hers": "his", **gendered_words.TITLES}
    new = pronouns_and_titles.get(word) or gendered_words.COUNTERPARTS.get(word)
    return None if new is None else new + text_words[at].text[len(word) :]


def _neutralise_word(text: str, text_words: Sequence[Word], at: int) -> list[Edit] | None:
    if gendered_words.base_form(text_words[at].text) in ("he", "she", "he's", "she's"):
        return verb_agreement.replace_with_they(text, text_words, at)
    new = _neutral_form(text, text_words, at)
    return None if new is None else gendered_words.replace_word(text, text_words, at, new)


def _neutral_form(text: str, text_words: Sequence[Word], at: int) -> str | None:
    """The neutral form of a gendered word where it stands; None where there is none or it is not certain."""
    word = gendered_words.base_form(text_words[at].text)
    before, after = gendered_words.neighbour_words(text, text_words, at)
    if word == "her":
        possessive = gendered_words.is_possessive_her(before, after)
        return None if possessive is None else "their" if possessive else "them"
    if word == "his":
        return "their" if gendered_words.is_possessive_his(after) else "theirs"
    noun = gendered_words.NEUTRAL_FORMS.get(word, "").replace("_", " ")
    new = _NEUTRAL_PRONOUNS.get(word) or _NEUTRAL_TITLES.get(word) or noun
    return new + text_words[at].text[len(word) :] if new else None


TRANSFORMATIONS: tuple[Transformation, ...] = (GenderSwap(), GenderNeutral())
