"""Given names by group, the persons' names in a text, and the transformations that replace them.

The lists lie in `given_names.txt`; docs/explanation/fairness.md says how they were made.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from random import Random

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
    words,
)

GROUPS = ("asian", "black", "hispanic", "white")
MIN_NAMES_PER_GROUP = 200
"""Names to draw from in each group."""
TITLES = frozenset(
    "mr mrs ms miss mx dr prof uncle aunt auntie sister brother cousin grandma grandpa named called".split()
)
_ACTIONS_OF_PEOPLE = frozenset(
    """
    smiled smiles laughed laughs cried cries walked walks sat sits ate eats drank drinks slept sleeps wore wears
    hugged hugs kissed kisses married sang sings danced dances whispered whispers himself herself
    """.split()
)
"""Neither places nor things that are named after people do this."""
_ACTIONS_OF_PEOPLE_OR_GROUPS = frozenset(
    """
    said says told tells asked asks thinks thought knows knew likes liked loves loved wants wanted went goes came
    comes lives lived bought buys plays played writes wrote reads talks talked gave gives arrived decided tried
    waited
    """.split()
)
"""Governments and teams do this at times."""
_PREPOSITIONS_OF_PLACE = frozenset(
    "in at from to near around across throughout visit visited leaving toward towards via of".split()
)
_PLACES_AND_INSTITUTIONS = frozenset(
    """
    university college school street avenue road boulevard lane drive inc corp company ltd bank county city river
    lake island islands bay beach hospital church cathedral museum airport station park stadium arena hotel center
    centre day award prize cup bowl act law theorem syndrome disease institute foundation press motors airlines
    group
    """.split()
)
_LONGER_NAME_AFTER = re.compile(r"(?:[ -]|\. )(?!I\b)[A-Z0-9]|[&/@-]")
_POSSESSIVE = re.compile(r"['’]s$")
_LONGER_NAME_BEFORE = re.compile(r"(?:\b[A-Z][\w.'’-]*[ -]|[&/@-])$")


@cache
def _lists() -> dict[str, tuple[str, ...]]:
    """The names of each list, each once, in the order of the file."""
    text = (files("dynabench.adversaries.perturbations") / "given_names.txt").read_text("utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    lists: dict[str, list[str]] = {}
    title = ""
    for line in lines:
        if line.startswith("["):
            title = line.strip("[]")
        else:
            lists.setdefault(title, []).extend(line.split())
    return {title: tuple(dict.fromkeys(names)) for title, names in lists.items()}


def names_in_list(title: str) -> tuple[str, ...]:
    """Return the names of a list, each once, in the list's order."""
    return _lists()[title]


@cache
def uncertain_names() -> frozenset[str]:
    """Return the names that are places, days, brands or words as well."""
    return frozenset(names_in_list("ambiguous") + names_in_list("common"))


@cache
def names_to_draw(title: str) -> tuple[str, ...]:
    """Return the names of a list that may be put into texts: of the gendered lists no uncertain names."""
    if title == "neutral":
        return names_in_list(title)
    return tuple(name for name in names_in_list(title) if name not in uncertain_names())


@cache
def gender_by_name() -> dict[str, str]:
    """Return `female` or `male` for each name that is only one of these; names of both are left out."""
    sides = {
        side: {name for title in (side, *(f"{group}_{side}" for group in GROUPS)) for name in names_in_list(title)}
        for side in ("female", "male")
    }
    both = sides["female"] & sides["male"] | set(names_in_list("neutral"))
    return {name: side for side, names in sides.items() for name in names if name not in both}


@cache
def _all_names() -> frozenset[str]:
    return frozenset(gender_by_name()) | frozenset(names_in_list("neutral"))


@dataclass(frozen=True, slots=True)
class NameInText:
    """A name in a field. `kind` is `person`, `other` (part of a longer name, or of a place) or `unclear`."""

    name: str
    span: Span
    kind: str


@lru_cache(CACHE_SIZE)
def find_names(text: str) -> tuple[NameInText, ...]:
    """Return the words that stand in a list of given names.

    A name beside another capital belongs to something that has one bearer (a celebrity, a firm, a street): `other`. A
    name that is a place or a word as well is a `person` only where the words beside it say so.
    """
    text_words = words(text)
    in_title = mostly_capitals(text_words)
    names = []
    for at, word in enumerate(text_words):
        name = _POSSESSIVE.sub("", word.text)
        if name not in _all_names():
            continue
        near = text[text_words[at - 1].end : word.start] in (" ", ". ") if at else False
        before = text_words[at - 1].text.lower() if near else ""
        close = at + 1 < len(text_words) and text[word.end : text_words[at + 1].start] == " "
        after = text_words[at + 1].text.lower() if close else ""
        span = word.start, word.start + len(name)
        names.append(NameInText(name, span, _kind_of_name(text, word, name, before, after, in_title)))
    return tuple(names)


def mostly_capitals(text_words: Sequence[SourceWord]) -> bool:
    """Return whether most words begin with a capital, as in titles, where capitals are no sign of names."""
    return sum([word.text[0].isupper() for word in text_words]) > max(3, 0.5 * len(text_words))


def _kind_of_name(text: str, word: SourceWord, name: str, before: str, after: str, in_title: bool) -> str:
    preceding = text[max(0, word.start - 30) : word.start]
    longer = bool(_LONGER_NAME_BEFORE.search(preceding)) and before not in TITLES
    inside = longer and not word.begins_sentence
    if after in _PLACES_AND_INSTITUTIONS or inside or _LONGER_NAME_AFTER.match(text, word.end):
        return "other"
    if before in TITLES or after in _ACTIONS_OF_PEOPLE:
        return "person"
    if name in names_in_list("ambiguous"):
        return "other" if before in _PREPOSITIONS_OF_PLACE else "unclear"
    if name in names_in_list("common") and (word.begins_sentence or in_title):
        return "person" if after in _ACTIONS_OF_PEOPLE_OR_GROUPS else "unclear"
    return "unclear" if in_title else "person"


Persons = tuple[Mapping[str, Sequence[NameInText]], Mapping[str, str]]
"""The persons' given names by field, and the kinds of the names that are left alone."""


def find_persons(texts: Mapping[str, str]) -> Persons | None:
    """Return the persons' names of a row and the names to leave alone; None where one name is both."""
    return _find_persons(tuple(texts.items()))


@lru_cache(CACHE_SIZE)
def _find_persons(fields: tuple[tuple[str, str], ...]) -> Persons | None:
    names = {field: find_names(text) for field, text in fields}
    every = [name for in_field in names.values() for name in in_field]
    persons = {name.name for name in every if name.kind == "person"}
    others = {name.name: name.kind for name in every if name.kind != "person"}
    if persons & others.keys():
        return None
    return {field: [name for name in in_field if name.name in persons] for field, in_field in names.items()}, others


def draw_new_names(
    old: Sequence[str], lists: Mapping[str, Sequence[str]], excluded: Iterable[str], rng: Random
) -> dict[str, str]:
    """Draw another name for each of `old` from its lists; no name becomes another of `old`, and no two become one."""
    unavailable, new_names = {*old, *excluded}, dict[str, str]()
    for name in old:
        candidates = [other for title in lists[name] for other in names_to_draw(title) if other not in unavailable]
        new_names[name] = rng.choice(candidates)
        unavailable.add(new_names[name])
    return new_names


@dataclass(frozen=True)
class NamesOfGroup:
    """Every person of a row gets a name of `group`, gender kept; the same person the same name in all fields."""

    group: str
    title: str
    axis: Axis = "fairness"

    @property
    def name(self) -> str:
        """See `Transformation`."""
        return f"names_{self.group}"

    def apply(
        self, texts: Texts, rng: Random, locked: Mapping[str, Sequence[Span]] | None = None
    ) -> dict[str, EditedText] | None:
        """See `Transformation.apply`. Names inside `locked` spans are replaced too, so that fields stay consistent."""
        if any(len(text) > MAX_LENGTH for text in texts.values()) or (row := find_persons(texts)) is None:
            return None
        names, others = row
        old = list(dict.fromkeys(name.name for in_field in names.values() for name in in_field))
        new = draw_new_names(old, {name: self._lists(name) for name in old}, others, rng)
        edited_texts = {
            field: edited
            for field, text in texts.items()
            if (edited := apply_edits(text, [Edit(*name.span, new[name.name]) for name in names[field]]))
        }
        return edited_texts or None

    def _lists(self, name: str) -> list[str]:
        side = gender_by_name().get(name)
        return [f"{self.group}_{side}"] if side else [f"{self.group}_female", f"{self.group}_male"]


_GROUP_TITLES = {"asian": "East, Southeast and South Asian", "black": "Black American"}
TRANSFORMATIONS: tuple[Transformation, ...] = tuple(
    NamesOfGroup(group, f"Names: {_GROUP_TITLES.get(group, group.capitalize())}") for group in GROUPS
)
