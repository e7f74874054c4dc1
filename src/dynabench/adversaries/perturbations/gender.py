"""Gender swapped or left open: names, pronouns, titles, words for kin and work, and the verbs that agree."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from random import Random

from dynabench.adversaries.perturbations.person_names import (
    NameInText,
    draw_new_names,
    find_persons,
    gender_by_name,
    mostly_capitals,
    names_in_list,
    uncertain_names,
)
from dynabench.adversaries.perturbations.singular_they import replace_with_they
from dynabench.adversaries.perturbations.transformation import (
    CACHE_SIZE,
    MAX_LENGTH,
    Axis,
    Edit,
    EditedText,
    SourceWord,
    Span,
    Texts,
    Transformation,
    apply_edits,
    match_case,
    replace_in_case,
    words,
)

_PAIRS = """
man:woman men:women boy:girl boys:girls guy:gal guys:gals gentleman:lady gentlemen:ladies lad:lass lads:lasses
husband:wife husbands:wives father:mother fathers:mothers dad:mom dads:moms daddy:mommy papa:mama son:daughter
sons:daughters brother:sister brothers:sisters uncle:aunt uncles:aunts nephew:niece nephews:nieces
grandfather:grandmother grandfathers:grandmothers grandpa:grandma grandson:granddaughter grandsons:granddaughters
stepfather:stepmother stepson:stepdaughter boyfriend:girlfriend boyfriends:girlfriends groom:bride grooms:brides
widower:widow widowers:widows actor:actress actors:actresses waiter:waitress waiters:waitresses hero:heroine
heroes:heroines heir:heiress host:hostess steward:stewardess policeman:policewoman policemen:policewomen
businessman:businesswoman businessmen:businesswomen fireman:firewoman firemen:firewomen salesman:saleswoman
chairman:chairwoman spokesman:spokeswoman congressman:congresswoman sportsman:sportswoman cowboy:cowgirl
cowboys:cowgirls schoolboy:schoolgirl schoolboys:schoolgirls landlord:landlady sir:ma'am male:female males:females
masculine:feminine himself:herself he:she he's:she's he'd:she'd he'll:she'll
""".split()
COUNTERPARTS = dict(pair.split(":") for pair in _PAIRS)
COUNTERPARTS |= {second: first for first, second in COUNTERPARTS.items()} | {
    "mum": "dad",
    "mums": "dads",
    "mummy": "daddy",
}
"""The other word of each pair; `her` and `his` depend on what follows (`is_possessive_her`)."""
NEUTRAL_FORMS = dict(
    pair.split(":")
    for pair in """
    man:person woman:person men:people women:people boy:child girl:child boys:children girls:children guy:person
    gal:person guys:people gals:people gentleman:person lady:person gentlemen:people ladies:people lad:youngster
    lass:youngster lads:youngsters lasses:youngsters husband:spouse wife:spouse husbands:spouses wives:spouses
    father:parent mother:parent fathers:parents mothers:parents dad:parent mom:parent mum:parent dads:parents
    moms:parents mums:parents son:child daughter:child sons:children daughters:children brother:sibling sister:sibling
    brothers:siblings sisters:siblings grandfather:grandparent grandmother:grandparent grandfathers:grandparents
    grandmothers:grandparents grandson:grandchild granddaughter:grandchild grandsons:grandchildren
    granddaughters:grandchildren stepfather:stepparent stepmother:stepparent boyfriend:partner girlfriend:partner
    boyfriends:partners girlfriends:partners actor:performer actress:performer actors:performers actresses:performers
    waiter:server waitress:server waiters:servers waitresses:servers policeman:police_officer
    policewoman:police_officer policemen:police_officers policewomen:police_officers businessman:businessperson
    businesswoman:businessperson fireman:firefighter firewoman:firefighter firemen:firefighters firewomen:firefighters
    salesman:salesperson saleswoman:salesperson chairman:chairperson chairwoman:chairperson spokesman:spokesperson
    spokeswoman:spokesperson schoolboy:schoolchild schoolgirl:schoolchild schoolboys:schoolchildren
    schoolgirls:schoolchildren himself:themself herself:themself
    """.split()
)
MALE_WORDS = frozenset(pair.split(":")[0] for pair in _PAIRS) | {"his", "him", "mr"}
FEMALE_WORDS = frozenset(pair.split(":")[1] for pair in _PAIRS) | {
    "her",
    "hers",
    "mum",
    "mums",
    "mummy",
    "mrs",
    "ms",
    "miss",
}
GENDERED = MALE_WORDS | FEMALE_WORDS
TITLES = {"mr": "Ms", "mrs": "Mr", "ms": "Mr", "miss": "Mr"}

_FIXED_EXPRESSIONS = (
    "(?:oh|hey|wow|yo|damn),? (?:man|boy|boys|brother|guys|mama)",
    "mother (?:nature|tongue|lode)",
    "fathers? (?:figure|christmas)",
    "(?:pope|king|queen|prince|princess|emperor|empress|duke|duchess|monk|nun|priest)s?",
    "(?:pregnan|beard|moustache|mustache|breast|menstrua|ovar|uter|vagina|testic|miscarr|abort)[a-z]*",
    "(?:prostate|penis|womb|maternity|paternity|chicks?|gave birth|giving birth|gives birth)",
    "(?:mankind|manhood|womanhood|womanizer|feminis[a-z]*|misogyn[a-z]*|sexis[a-z]*|genders?|trans[a-z]{0,6}|gays?)",
    "(?:lesbians?|boy bands?|girl groups?|old boys|boy scouts?|girl scouts?)",
)
UNCHANGEABLE = re.compile(rf"\b(?:{'|'.join(_FIXED_EXPRESSIONS)})\b", re.IGNORECASE)
"""Fixed expressions, and words about bodies, faith, thrones or gender itself: such rows are left alone."""

COMPOUNDS = re.compile(rf"\b(?:{'|'.join(sorted(GENDERED))})[-/]|[-/](?:{'|'.join(sorted(GENDERED))})\b", re.IGNORECASE)
"""Gendered parts of compounds (mother-in-law, he/she): such rows are left alone."""

_WORDS_THAT_BEGIN_NO_NOUN = frozenset(
    """
    to and or but for with at in on by from as if when while because so that than then until after before about into
    onto over under up down out off away back again too also is was are were be been has had have does did do will
    would can could should may might must a an the this that these those how why what who where not never always
    often very there here today yesterday tomorrow alone it he she they i we you my your some any all both just only
    even now once during through across around towards toward since against like
    """.split()
)
_VERBS_WITH_INFINITIVE = frozenset(
    "let lets made make makes help helps helped saw see sees watch watched watches heard hear hears have had".split()
)
_VERBS_WITH_TWO_OBJECTS = frozenset(
    "give gives gave given tell tells told ask asks asked show shows showed send sent teach taught".split()
)


@dataclass(frozen=True)
class GenderedRow:
    """The words of each field of a row, and the persons' given names."""

    words: Mapping[str, Sequence[SourceWord]]
    names: Mapping[str, Sequence[NameInText]]

    def gendered_names(self) -> list[str]:
        """Return the given names that have one gender, each once, in the order of the texts."""
        every = (name.name for in_field in self.names.values() for name in in_field)
        return list(dict.fromkeys(name for name in every if name in gender_by_name()))

    def genders(self) -> set[str]:
        """Return `male`, `female` or both."""
        row_words = {base_form(word.text) for in_field in self.words.values() for word in in_field}
        sides = {"male" for word in row_words if word in MALE_WORDS}
        sides |= {"female" for word in row_words if word in FEMALE_WORDS}
        return sides | {gender_by_name()[name] for name in self.gendered_names()}


def rewrite_row(
    texts: Texts,
    row: GenderedRow,
    new_names: Mapping[str, str],
    edit_word: Callable[[str, Sequence[SourceWord], int], list[Edit] | None],
) -> dict[str, EditedText] | None:
    """Return the texts with `new_names` and each other gendered word edited; None where nothing can be changed safely.

    `edit_word` gets a text, its words and the place of one; it returns None where the right form is not certain.
    """
    edited_texts = dict[str, EditedText]()
    for field, text in texts.items():
        edits = [Edit(*name.span, new_names[name.name]) for name in row.names[field] if name.name in new_names]
        name_starts = {edit.start for edit in edits}
        for at, word in enumerate(row.words[field]):
            if word.start in name_starts or base_form(word.text) not in GENDERED:
                continue
            if (word_edits := edit_word(text, row.words[field], at)) is None:
                return None
            edits += word_edits
        if edited := apply_edits(text, edits):
            edited_texts[field] = edited
    return edited_texts or None


def replace_word(text: str, text_words: Sequence[SourceWord], at: int, new: str) -> list[Edit]:
    """Return the edits that put a word in the place of another, after the right article."""
    word = text_words[at]
    before = _correct_article(text, text_words, at, new)
    return [replace_in_case(word, new), *([before] if before else [])]


def read_row(texts: Texts) -> GenderedRow | None:
    """Return the gendered parts of a row; None where there are none, or where they cannot be changed safely."""
    return _read_row(tuple(texts.items()))


@lru_cache(CACHE_SIZE)
def _read_row(fields: tuple[tuple[str, str], ...]) -> GenderedRow | None:
    texts = dict(fields)
    if any(len(text) > MAX_LENGTH or _has_fixed_expression(text) for text in texts.values()):
        return None
    if (persons := find_persons(texts)) is None:
        return None
    names, others = persons
    if any(_is_famous(name, kind) for name, kind in others.items()):
        return None  # famous people keep their names, and so their pronouns
    text_words = {field: words(text) for field, text in texts.items()}
    for field, in_field in text_words.items():
        if not mostly_capitals(in_field) and any(_in_title(texts[field], in_field, at) for at in range(len(in_field))):
            return None  # Lady Gaga, Iron Man
    row = GenderedRow(text_words, names)
    return row if row.genders() else None


def _has_fixed_expression(text: str) -> bool:
    return bool(UNCHANGEABLE.search(text) or (("-" in text or "/" in text) and COMPOUNDS.search(text)))


def _is_famous(name: str, kind: str) -> bool:
    return name in gender_by_name() and name not in (
        names_in_list("ambiguous") if kind == "other" else uncertain_names()
    )


def _in_title(text: str, text_words: Sequence[SourceWord], at: int) -> bool:
    """A gendered word is part of a name: Lady Gaga."""
    word = text_words[at]
    base = base_form(word.text)
    if not word.text[0].isupper() or base not in GENDERED or base in TITLES:
        return False
    after = text[word.end : word.end + 2]
    return word.may_be_name or (after[:1] == " " and after[1:].isupper())


@lru_cache(10_000)
def base_form(word: str) -> str:
    """Return a word in lower case without the 's of a possessive; `he's` is a word of its own."""
    lower = word.lower().replace("’", "'")
    return lower if lower in ("he's", "she's") else lower.removesuffix("'s")


def neighbour_words(text: str, text_words: Sequence[SourceWord], at: int) -> tuple[str, str]:
    """Return the words before and after, in lower case; empty where a mark stands between."""
    word = text_words[at]
    before = text_words[at - 1] if at and text[text_words[at - 1].end : word.start] == " " else None
    follows = at + 1 < len(text_words) and text[word.end : text_words[at + 1].start] == " "
    after = text_words[at + 1] if follows else None
    return (before.text.lower() if before else ""), (after.text.lower() if after else "")


def _correct_article(text: str, text_words: Sequence[SourceWord], at: int, new: str) -> Edit | None:
    before = neighbour_words(text, text_words, at)[0]
    if before not in ("a", "an"):
        return None
    right = "an" if new[0].lower() in "aeiou" or new.startswith("heir") else "a"
    article = text_words[at - 1]
    return Edit(article.start, article.end, match_case(article.text + "x", right)) if right != before else None


def is_possessive_her(before: str, after: str) -> bool | None:
    """Return whether `her` means *his*, not *him*; None where that is not certain.

    `before` and `after` are the words beside, in lower case, `after` empty where a mark or the end follows.
    """
    adverb = after.endswith("ly") and after not in ("family", "belly", "only", "lovely")
    if not after or after in _WORDS_THAT_BEGIN_NO_NOUN or adverb:
        return False
    if before in _VERBS_WITH_INFINITIVE or before in _VERBS_WITH_TWO_OBJECTS:
        return None
    return True


def is_possessive_his(after: str) -> bool:
    """Return whether `his` stands before a noun (*her*), not alone (*hers*)."""
    return bool(after) and after not in _WORDS_THAT_BEGIN_NO_NOUN


_OTHER_GENDER = {"female": "male", "male": "female"}
_NEUTRAL_TITLES = dict.fromkeys(TITLES, "Mx")
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
        if (row := read_row(texts)) is None:
            return None
        names = row.gendered_names()
        new_names = draw_new_names(names, {name: [_OTHER_GENDER[gender_by_name()[name]]] for name in names}, set(), rng)
        return rewrite_row(texts, row, new_names, _swap_word)


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
        if (row := read_row(texts)) is None or len(row.genders()) != 1:
            return None
        names = row.gendered_names()
        new_names = draw_new_names(names, {name: ["neutral"] for name in names}, set(), rng)
        return rewrite_row(texts, row, new_names, _neutralise_word)


def _swap_word(text: str, text_words: Sequence[SourceWord], at: int) -> list[Edit] | None:
    new = _counterpart(text, text_words, at)
    return None if new is None else replace_word(text, text_words, at, new)


def _counterpart(text: str, text_words: Sequence[SourceWord], at: int) -> str | None:
    """The counterpart of a gendered word where it stands; None where it is not certain."""
    word = base_form(text_words[at].text)
    before, after = neighbour_words(text, text_words, at)
    if word == "her":
        possessive = is_possessive_her(before, after)
        return None if possessive is None else "his" if possessive else "him"
    if word == "his":
        return "her" if is_possessive_his(after) else "hers"
    pronouns_and_titles = {"him": "her", "hers": "his", **TITLES}
    new = pronouns_and_titles.get(word) or COUNTERPARTS.get(word)
    return None if new is None else new + text_words[at].text[len(word) :]


def _neutralise_word(text: str, text_words: Sequence[SourceWord], at: int) -> list[Edit] | None:
    if base_form(text_words[at].text) in ("he", "she", "he's", "she's"):
        return replace_with_they(text, text_words, at)
    new = _neutral_form(text, text_words, at)
    return None if new is None else replace_word(text, text_words, at, new)


def _neutral_form(text: str, text_words: Sequence[SourceWord], at: int) -> str | None:
    """The neutral form of a gendered word where it stands; None where there is none or it is not certain."""
    word = base_form(text_words[at].text)
    before, after = neighbour_words(text, text_words, at)
    if word == "her":
        possessive = is_possessive_her(before, after)
        return None if possessive is None else "their" if possessive else "them"
    if word == "his":
        return "their" if is_possessive_his(after) else "theirs"
    noun = NEUTRAL_FORMS.get(word, "").replace("_", " ")
    new = _NEUTRAL_PRONOUNS.get(word) or _NEUTRAL_TITLES.get(word) or noun
    return new + text_words[at].text[len(word) :] if new else None


TRANSFORMATIONS: tuple[Transformation, ...] = (GenderSwap(), GenderNeutral())
