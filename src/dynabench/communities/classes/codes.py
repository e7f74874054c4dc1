"""Codes that people read from a board and type: no letter or digit is like another one."""

import secrets

ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"
GROUP = 4


def draw_code(groups: int) -> str:
    """Return a random code of groups of four, such as `k3f9-x2m7`: 19.8 bits for each group."""
    return "-".join("".join(secrets.choice(ALPHABET) for _ in range(GROUP)) for _ in range(groups))


def clean_code(text: str) -> str:
    """Return a typed code in its normal form: small letters, with a hyphen after every four."""
    letters = "".join(letter for letter in text.lower() if letter.isascii() and letter.isalnum())
    return "-".join(letters[start : start + GROUP] for start in range(0, len(letters), GROUP))
