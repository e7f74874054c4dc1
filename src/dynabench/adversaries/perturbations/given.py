"""Given names by group, and whether a word of a text is a person's given name.

The lists lie in `data/`; docs/explanation/fairness.md says how they were made.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files

from dynabench.adversaries.perturbations.edits import Span
from dynabench.adversaries.perturbations.words import SHARED, Word, words

GROUPS = ("asian", "black", "hispanic", "white")
LEAST = 200
"""Names to draw from in each group."""
TITLES = frozenset(
    "mr mrs ms miss mx dr prof uncle aunt auntie sister brother cousin grandma grandpa named called".split()
)
_BODY = frozenset(
    """
    smiled smiles laughed laughs cried cries walked walks sat sits ate eats drank drinks slept sleeps wore wears
    hugged hugs kissed kisses married sang sings danced dances whispered whispers himself herself
    """.split()
)
"""What people do, and neither places nor things that are named after them."""
_MIND = frozenset(
    """
    said says told tells asked asks thinks thought knows knew likes liked loves loved wants wanted went goes came
    comes lives lived bought buys plays played writes wrote reads talks talked gave gives arrived decided tried
    waited
    """.split()
)
"""What people do, and governments and teams at times."""
_PLACED = frozenset("in at from to near around across throughout visit visited leaving toward towards via of".split())
_BODIES = frozenset(
    """
    university college school street avenue road boulevard lane drive inc corp company ltd bank county city river
    lake island islands bay beach hospital church cathedral museum airport station park stadium arena hotel center
    centre day award prize cup bowl act law theorem syndrome disease institute foundation press motors airlines
    group
    """.split()
)
_FOLLOWED = re.compile(r"(?:[ -]|\. )(?!I\b)[A-Z0-9]|[&/@-]")
_OWNED = re.compile(r"['’]s$")
_PRECEDED = re.compile(r"(?:\b[A-Z][\w.'’-]*[ -]|[&/@-])$")


@cache
def listed(name: str) -> tuple[str, ...]:
    """The names of a list of `data/`, each once, in the list's order."""
    text = (files("dynabench.adversaries.perturbations") / "data" / f"{name}.txt").read_text("utf-8")
    found = (one for line in text.splitlines() if not line.startswith("#") for one in line.split())
    return tuple(dict.fromkeys(found))


@cache
def uncertain() -> frozenset[str]:
    """Names that are places, days, brands or words as well."""
    return frozenset(listed("ambiguous") + listed("common"))


@cache
def drawn(name: str) -> tuple[str, ...]:
    """The names of a list that are put into texts: of the gendered ones none that are something else as well."""
    return listed(name) if name == "neutral" else tuple(one for one in listed(name) if one not in uncertain())


@cache
def gender() -> dict[str, str]:
    """`female` or `male` of each name that is one of these alone; names of both are left out."""
    sides = {
        side: {one for list_ in (side, *(f"{group}_{side}" for group in GROUPS)) for one in listed(list_)}
        for side in ("female", "male")
    }
    both = sides["female"] & sides["male"] | set(listed("neutral"))
    return {one: side for side, names in sides.items() for one in names if one not in both}


@cache
def _known() -> frozenset[str]:
    return frozenset(gender()) | frozenset(listed("neutral"))


@dataclass(frozen=True, slots=True)
class Named:
    """A name in a field. `kind` is `person`, `other` (part of a longer name, or of a place) or `unclear`."""

    name: str
    span: Span
    kind: str


@lru_cache(SHARED)
def names(text: str) -> tuple[Named, ...]:
    """The words that stand in a list of given names.

    A name beside another capital belongs to something that has one bearer (a celebrity, a firm, a street): `other`. One
    that is a place or a word as well is a `person` only where what stands beside it says so.
    """
    known, found = _known(), words(text)
    titled = mostly_capitals(found)
    made = []
    for at, word in enumerate(found):
        name = _OWNED.sub("", word.text)
        if name not in known:
            continue
        near = text[found[at - 1].end : word.start] in (" ", ". ") if at else False
        before = found[at - 1].text.lower() if near else ""
        close = at + 1 < len(found) and text[word.end : found[at + 1].start] == " "
        after = found[at + 1].text.lower() if close else ""
        span = word.start, word.start + len(name)
        made.append(Named(name, span, _kind(text, word, name, before, after, titled)))
    return tuple(made)


def mostly_capitals(found: Sequence[Word]) -> bool:
    """Whether most words begin with a capital, as in titles: then capitals tell nothing of names."""
    return sum([word.text[0].isupper() for word in found]) > max(3, 0.5 * len(found))


def _kind(text: str, word: Word, name: str, before: str, after: str, titled: bool) -> str:
    longer = bool(_PRECEDED.search(text[max(0, word.start - 30) : word.start])) and before not in TITLES
    if after in _BODIES or (longer and not word.begins) or _FOLLOWED.match(text, word.end):
        return "other"
    if before in TITLES or after in _BODY:
        return "person"
    if name in listed("ambiguous"):
        return "other" if before in _PLACED else "unclear"
    if name in listed("common") and (word.begins or titled):
        return "person" if after in _MIND else "unclear"
    return "unclear" if titled else "person"


Persons = tuple[Mapping[str, Sequence[Named]], Mapping[str, str]]


def persons(texts: Mapping[str, str]) -> Persons | None:
    """The persons' given names by field, and the kinds of those that are left alone; None where one name is both."""
    return _persons(tuple(texts.items()))


@lru_cache(SHARED)
def _persons(fields: tuple[tuple[str, str], ...]) -> Persons | None:
    texts = dict(fields)
    found = {field: names(text) for field, text in texts.items()}
    sure = {one.name for each in found.values() for one in each if one.kind == "person"}
    left = {one.name: one.kind for each in found.values() for one in each if one.kind != "person"}
    if sure & left.keys():
        return None
    return {field: [one for one in each if one.name in sure] for field, each in found.items()}, left
