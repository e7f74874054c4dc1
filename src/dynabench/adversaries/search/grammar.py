"""Parts of speech and inflections of English: a word is replaced by one of its kind, in its form."""

from functools import cache, lru_cache
from typing import Any

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
