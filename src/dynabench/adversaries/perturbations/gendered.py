"""Words that say somebody's gender, their counterparts, and where they are left alone."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from dynabench.adversaries.perturbations.base import MOST, Texts
from dynabench.adversaries.perturbations.edits import Edit, Edited, edit
from dynabench.adversaries.perturbations.given import Named, gender, listed, mostly_capitals, persons, uncertain
from dynabench.adversaries.perturbations.words import SHARED, Word, like, words

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
SWAP = dict(pair.split(":") for pair in _PAIRS)
SWAP |= {right: left for left, right in SWAP.items()} | {"mum": "dad", "mums": "dads", "mummy": "daddy"}
"""The other word of each pair; `her` and `his` depend on what follows (`possessive`)."""
NEUTRAL = dict(
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
MALE = frozenset(pair.split(":")[0] for pair in _PAIRS) | {"his", "him", "mr"}
FEMALE = frozenset(pair.split(":")[1] for pair in _PAIRS) | {"her", "hers", "mum", "mums", "mummy", "mrs", "ms", "miss"}
ALL = MALE | FEMALE
TITLES = {"mr": "Ms", "mrs": "Mr", "ms": "Mr", "miss": "Mr"}

_FIXED = (
    "(?:oh|hey|wow|yo|damn),? (?:man|boy|boys|brother|guys|mama)",
    "mother (?:nature|tongue|lode)",
    "fathers? (?:figure|christmas)",
    "(?:pope|king|queen|prince|princess|emperor|empress|duke|duchess|monk|nun|priest)s?",
    "(?:pregnan|beard|moustache|mustache|breast|menstrua|ovar|uter|vagina|testic|miscarr|abort)[a-z]*",
    "(?:prostate|penis|womb|maternity|paternity|chicks?|gave birth|giving birth|gives birth)",
    "(?:mankind|manhood|womanhood|womanizer|feminis[a-z]*|misogyn[a-z]*|sexis[a-z]*|genders?|trans[a-z]{0,6}|gays?)",
    "(?:lesbians?|boy bands?|girl groups?|old boys|boy scouts?|girl scouts?)",
)
FIXED = re.compile(rf"\b(?:{'|'.join(_FIXED)})\b", re.IGNORECASE)
"""Fixed expressions, and what is said of bodies, faith, thrones or gender itself: such rows are left alone."""

JOINED = re.compile(rf"\b(?:{'|'.join(sorted(ALL))})[-/]|[-/](?:{'|'.join(sorted(ALL))})\b", re.IGNORECASE)
"""Gendered parts of compounds (mother-in-law, he/she): such rows are left alone."""

_NO_NOUN = frozenset(
    """
    to and or but for with at in on by from as if when while because so that than then until after before about into
    onto over under up down out off away back again too also is was are were be been has had have does did do will
    would can could should may might must a an the this that these those how why what who where not never always
    often very there here today yesterday tomorrow alone it he she they i we you my your some any all both just only
    even now once during through across around towards toward since against like
    """.split()
)
_LETS = frozenset(
    "let lets made make makes help helps helped saw see sees watch watched watches heard hear hears have had".split()
)
_GAVE = frozenset(
    "give gives gave given tell tells told ask asks asked show shows showed send sent teach taught".split()
)


@dataclass(frozen=True)
class Row:
    """What is gendered in the texts of one row: words by field, and persons' given names."""

    words: Mapping[str, Sequence[Word]]
    names: Mapping[str, Sequence[Named]]

    def given(self) -> list[str]:
        """The given names that say a gender, each once, in the order of the texts."""
        every = (one.name for each in self.names.values() for one in each)
        return list(dict.fromkeys(name for name in every if name in gender()))

    def genders(self) -> set[str]:
        """`male`, `female` or both."""
        said = {base(word.text) for each in self.words.values() for word in each}
        sides = {"male" for one in said if one in MALE} | {"female" for one in said if one in FEMALE}
        return sides | {gender()[name] for name in self.given()}


def rewritten(
    texts: Texts, row: Row, new: Mapping[str, str], edits: Callable[[str, Sequence[Word], int], list[Edit] | None]
) -> dict[str, Edited] | None:
    """The texts with names as `new` says and each other gendered word edited; None where one cannot be, or nothing is.

    `edits` gets a text, its words and which of them it is, and returns None where it cannot tell what to write.
    """
    made = dict[str, Edited]()
    for field, text in texts.items():
        found = row.words[field]
        told = [Edit(*one.span, new[one.name]) for one in row.names[field] if one.name in new]
        taken = {one.start for one in told}
        for at, word in enumerate(found):
            if word.start in taken or base(word.text) not in ALL:
                continue
            if (more := edits(text, found, at)) is None:
                return None
            told += more
        if changed := edit(text, told):
            made[field] = changed
    return made or None


def put(text: str, found: Sequence[Word], at: int, new: str) -> list[Edit]:
    """The edits that put a word in the place of another, after the right article."""
    word = found[at]
    before = article(text, found, at, new)
    return [Edit(word.start, word.end, like(word.text, new)), *([before] if before else [])]


def read(texts: Texts) -> Row | None:
    """What is gendered in a row; None where nothing is, or where it cannot be changed safely."""
    return _read(tuple(texts.items()))


@lru_cache(SHARED)
def _read(fields: tuple[tuple[str, str], ...]) -> Row | None:
    texts = dict(fields)
    if any(len(text) > MOST or _fixed(text) for text in texts.values()):
        return None
    if (known := persons(texts)) is None or any(_famous(name, kind) for name, kind in known[1].items()):
        return None  # somebody famous stays who they are, and so do their pronouns
    found = {field: words(text) for field, text in texts.items()}
    for field, each in found.items():
        if not mostly_capitals(each) and any(_title(texts[field], each, at) for at in range(len(each))):
            return None  # Lady Gaga, Iron Man
    row = Row(found, known[0])
    return row if row.genders() else None


def _fixed(text: str) -> bool:
    return bool(FIXED.search(text) or (("-" in text or "/" in text) and JOINED.search(text)))


def _famous(name: str, kind: str) -> bool:
    return name in gender() and name not in (listed("ambiguous") if kind == "other" else uncertain())


def _title(text: str, found: Sequence[Word], at: int) -> bool:
    """Whether a gendered word is part of a name: Lady Gaga."""
    word = found[at]
    if not word.text[0].isupper() or base(word.text) not in ALL or base(word.text) in TITLES:
        return False
    after = text[word.end : word.end + 2]
    return word.name or (after[:1] == " " and after[1:].isupper())


@lru_cache(10_000)
def base(word: str) -> str:
    """A word in lower case without the 's of a possessive; `he's` is a word of its own."""
    lower = word.lower().replace("’", "'")
    return lower if lower in ("he's", "she's") else lower.removesuffix("'s")


def beside(text: str, found: Sequence[Word], at: int) -> tuple[str, str]:
    """The words before and after, in lower case; empty where a mark stands between."""
    before = found[at - 1] if at and text[found[at - 1].end : found[at].start] == " " else None
    after = found[at + 1] if at + 1 < len(found) and text[found[at].end : found[at + 1].start] == " " else None
    return (before.text.lower() if before else ""), (after.text.lower() if after else "")


def article(text: str, found: Sequence[Word], at: int, new: str) -> Edit | None:
    """The edit that makes `a` or `an` before a new word right."""
    before = beside(text, found, at)[0]
    if before not in ("a", "an"):
        return None
    wanted = "an" if new[0].lower() in "aeiou" or new.startswith("heir") else "a"
    said = found[at - 1]
    return Edit(said.start, said.end, like(said.text + "x", wanted)) if wanted != before else None


def possessive(before: str, after: str) -> bool | None:
    """Whether `her` is whose something is (`his`), not whom something befalls (`him`); None where one cannot tell.

    `before` and `after` are the words beside, in lower case, `after` empty where a mark or the end follows.
    """
    if not after or after in _NO_NOUN or (after.endswith("ly") and after not in ("family", "belly", "only", "lovely")):
        return False
    if before in _LETS or before in _GAVE:
        return None
    return True


def owns(after: str) -> bool:
    """Whether `his` stands before what is his (`her`), not alone (`hers`)."""
    return bool(after) and after not in _NO_NOUN
