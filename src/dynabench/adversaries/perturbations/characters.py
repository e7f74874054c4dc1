"""Single characters changed: typing errors, digits and look-alikes for letters, invisible characters, accents, case."""

from collections.abc import Callable
from random import Random

from dynabench.adversaries.perturbations.text_edits import Edit
from dynabench.adversaries.perturbations.transformation import EditRule, PerText, Transformation, per_word
from dynabench.adversaries.perturbations.words import REAL_WORDS, Word, words

_KEYBOARD_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_NEIGHBOUR_KEYS = {
    letter: row[max(0, at - 1) : at] + row[at + 1 : at + 2] for row in _KEYBOARD_ROWS for at, letter in enumerate(row)
}  # fmt: skip
_DIGITS_FOR_LETTERS = str.maketrans("aeio", "4310")
_CYRILLIC_FOR_LATIN = str.maketrans("aceopxyijs", "\u0430\u0441\u0435\u043e\u0440\u0445\u0443\u0456\u0458\u0455")
"""Letters that look the same (confusable by Unicode UTS #39)."""
_ACCENTED_VOWELS = dict(zip("aeiou", "\u00e1\u00e9\u00ed\u00f3\u00fa", strict=True))


def typing_error(change: Callable[[str, int, Random], str]) -> EditRule:
    """Return a rule that makes one typing error in one word of ten.

    `change` gets a plain word, a place inside it (not its ends) and the random generator. An error that makes another
    word is not written.
    """

    def misspell(word: Word, rng: Random) -> str | None:
        if not word.plain:
            return None
        new = change(word.text, rng.randrange(1, len(word.text) - 1), rng)
        return None if new in REAL_WORDS else new

    return per_word(misspell)


def _press_neighbour_key(word: str, at: int, rng: Random) -> str:
    return word[:at] + rng.choice(_NEIGHBOUR_KEYS[word[at]]) + word[at + 1 :]


def _swap_letters(word: str, at: int, rng: Random) -> str:
    at = min(at, len(word) - 3)
    return word[:at] + word[at + 1] + word[at] + word[at + 2 :]


def _drop_letter(word: str, at: int, rng: Random) -> str:
    return word[:at] + word[at + 1 :]


def _double_letter(word: str, at: int, rng: Random) -> str:
    return word[:at] + word[at] + word[at:]


def _write_digits(word: Word, rng: Random) -> str | None:
    return word.text.translate(_DIGITS_FOR_LETTERS) if word.plain else None


def _insert_zero_width_space(word: Word, rng: Random) -> str | None:
    if not word.text.isalpha() or len(word.text) < 4:
        return None
    at = rng.randrange(1, len(word.text))
    return f"{word.text[:at]}\u200b{word.text[at:]}"


def _write_cyrillic_letter(word: Word, rng: Random) -> str | None:
    places = [at for at, letter in enumerate(word.text) if ord(letter) in _CYRILLIC_FOR_LATIN]
    if word.may_be_name or len(word.text) < 4 or not places:
        return None
    at = rng.choice(places)
    return word.text[:at] + word.text[at].translate(_CYRILLIC_FOR_LATIN) + word.text[at + 1 :]


def _accent_vowel(word: Word, rng: Random) -> str | None:
    places = [at for at, letter in enumerate(word.text) if letter in _ACCENTED_VOWELS]
    if not word.plain or not places:
        return None
    at = rng.choice(places)
    return word.text[:at] + _ACCENTED_VOWELS[word.text[at]] + word.text[at + 1 :]


def _capitalise_all(text: str, rng: Random) -> list[Edit]:
    return [Edit(word.start, word.end, word.text.upper()) for word in words(text)]


def _lower_all(text: str, rng: Random) -> list[Edit]:
    """Abbreviations such as US keep their capitals, unless the whole text is in capitals."""
    shouted = text.isupper()
    return [
        Edit(word.start, word.end, word.text.lower())
        for word in words(text)
        if shouted or len(word.text) == 1 or not word.text.isupper()
    ]


def _capitalise_word(word: Word, rng: Random) -> str | None:
    return word.text.upper() if len(word.text) > 2 and word.text.islower() else None


TRANSFORMATIONS: tuple[Transformation, ...] = (
    PerText("keyboard_typos", "Typing errors: a key beside", typing_error(_press_neighbour_key)),
    PerText("swapped_letters", "Typing errors: two letters swapped", typing_error(_swap_letters)),
    PerText("dropped_letters", "Typing errors: a letter left out", typing_error(_drop_letter)),
    PerText("doubled_letters", "Typing errors: a letter twice", typing_error(_double_letter)),
    PerText("leetspeak", "Digits for letters", per_word(_write_digits)),
    PerText("zero_width", "Invisible characters", per_word(_insert_zero_width_space)),
    PerText("look_alikes", "Look-alike characters", per_word(_write_cyrillic_letter)),
    PerText("accents", "Accents added", per_word(_accent_vowel)),
    PerText("upper_case", "All in capitals", _capitalise_all),
    PerText("lower_case", "All in small letters", _lower_all),
    PerText("random_case", "Some words in capitals", per_word(_capitalise_word, every=5)),
)
