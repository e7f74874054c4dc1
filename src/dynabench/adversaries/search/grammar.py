"""Parts of speech and inflections of English: a word is replaced by one of its kind, in its form."""

from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any

from dynabench.distributions import PLATFORM, install_command
from dynabench.errors import Unavailable

OPEN = ("NOUN", "VERB", "ADJ", "ADV")
"""Parts of speech whose words may be replaced; all others hold a sentence together."""
_PENN = {"NOUN": ("NN", "NNS"), "VERB": ("VB", "VBP", "VBZ", "VBD", "VBN", "VBG"), "ADJ": ("JJ", "JJR", "JJS")}
_PENN["ADV"] = ("RB", "RBR", "RBS")
_VOWELS = tuple("aeiou")
_SILENT = ("hour", "honest", "honour", "honor", "heir")
_GLIDE = ("uni", "use", "usu", "eu", "one", "once", "uti")


def tags(words: Sequence[str]) -> list[str]:
    """The universal part of speech of each word, in its sentence."""
    return [label.partition("|")[0] for label in labels(tuple(words))]


@lru_cache(4096)
def labels(words: tuple[str, ...]) -> list[str]:
    """Part of speech and form of each word, such as `VERB|Fin`."""
    found: list[str] = _tagger().tag(words)
    return found


@lru_cache(65536)
def lemma(word: str, part: str) -> str:
    """The word as a dictionary has it; the word itself where it is unknown."""
    found = _inflections().getLemma(word.lower(), part, lemmatize_oov=False)
    return str(found[0]).lower() if found else word.lower()


@lru_cache(65536)
def forms(word: str, part: str) -> tuple[str, ...]:
    """The Penn tags that `word` can have as this part of speech, such as `VBD` and `VBN` for *walked*."""
    every = _inflections().getAllInflections(lemma(word, part), part)
    return tuple(tag for tag in _PENN.get(part, ()) if word.lower() in every.get(tag, ()))


def inflected(base: str, word: str, part: str) -> str | None:
    """`base` in the form that `word` has as this part of speech; None where there is none, or several differ."""
    wanted = forms(word, part)
    if not wanted:
        return base if word.lower() == lemma(word, part) and base in _base(base, part) else None
    made = {_inflection(base, tag) for tag in wanted}
    return made.pop() if len(made) == 1 else None


def article_fits(before: str, word: str) -> bool:
    """Whether *a* or *an* before a word is the right one; true of any other word before it."""
    if before.lower() not in ("a", "an"):
        return True
    sound = word.lower()
    vowel = sound.startswith(_SILENT) or (sound.startswith(_VOWELS) and not sound.startswith(_GLIDE))
    return vowel == (before.lower() == "an")


@lru_cache(65536)
def _inflection(base: str, tag: str) -> str | None:
    found = _inflections().getInflection(base, tag, inflect_oov=False)
    return str(found[0]) if found else None


def _base(base: str, part: str) -> tuple[str, ...]:
    found = _inflections().getAllLemmas(base, part).get(part, ())
    return tuple(found)


@cache
def _tagger() -> Any:
    try:
        from denckring_en_pos import tagger
    except ImportError as error:
        raise _missing(error) from error
    return tagger()


@cache
def _inflections() -> Any:
    try:
        import lemminflect
    except ImportError as error:
        raise _missing(error) from error
    return lemminflect


def _missing(error: ImportError) -> Unavailable:
    return Unavailable(
        f"This adversary needs {error.name}, which is not installed: {install_command(PLATFORM, 'adversaries')}."
    )
