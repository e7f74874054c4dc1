"""Words of a text."""

import re
from collections.abc import Callable, Sequence

Tokenizer = Callable[[str], Sequence[str]]

WORD = re.compile(
    r"""
    n['’]t\b                                        # the second half of don't
  | ['’](?:s|m|d|ll|re|ve)\b                        # the second half of it's
  | (?:https?://|www\.)[^\s<>"]*[^\s<>"'’.,;:!?)\]] # an address
  | [^\W\d_]\.(?:[^\W\d_]\.)+                       # U.S.
  | \d+(?:[.,:/]\d+)*(?:(?:st|nd|rd|th|s)\b)?       # 1,000.50, 10:30, 2nd, 1990s
  | (?:(?!n['’]t\b)\w)+(?:[-./](?:(?!n['’]t\b)\w)+)* # words, with what joins them
  | \.{2,} | -{2,}                                  # dots and dashes
  | [^\w\s]                                         # any other sign by itself
    """,
    re.VERBOSE | re.IGNORECASE,
)


def word_tokens(text: str) -> list[str]:
    """Return words, numbers and signs of a text, in the manner of the Penn Treebank: "don't" is "do" and "n't".

    Needs no data and no language; writing without spaces between words (Chinese, Thai) stays in one piece.
    """
    return WORD.findall(text)


def is_word(token: str) -> bool:
    """Return whether a token contains a letter or a digit."""
    return any(map(str.isalnum, token))
