"""A key beside the right one, on a QWERTY keyboard."""

from random import Random

from dynabench.adversaries.perturbations.base import PerText, typo

_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_BESIDE = {
    letter: row[max(0, at - 1) : at] + row[at + 1 : at + 2] for row in _ROWS for at, letter in enumerate(row)
}  # fmt: skip


def _change(word: str, at: int, rng: Random) -> str:
    return word[:at] + rng.choice(_BESIDE[word[at]]) + word[at + 1 :]


_rule = typo(_change)
TRANSFORMATION = PerText("keyboard_typos", "Typing errors: a key beside", _rule)
