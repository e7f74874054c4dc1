"""Words of texts, and texts that nearly repeat others.

Shingles decide which texts are nearly equal. The platform's near-duplicates (at submission, in releases, in a
round's measurements) are those of `stats.minhash`, without punctuation; `letter_shingles` are those of the
papers on text corpora, with which the measurement `text_duplicates` is compared: punctuation counts, and it
needs no index.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from math import ceil
from typing import Any

from dynabench.stats.minhash import UnionFind

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


Shingles = list[int]
SIZE = 5
"""Characters of a shingle."""


def letter_shingles(text: str) -> set[str]:
    """Return the text's sets of `SIZE` characters in a row, in lower case and with single spaces."""
    plain = " ".join(text.lower().split())
    return {plain[at : at + SIZE] for at in range(max(len(plain) - SIZE + 1, 1))}


def near_duplicate_groups(
    texts: Sequence[str], least: float, shingles: Callable[[str], Collection[Any]] = letter_shingles
) -> list[list[int]]:
    """Rows of texts that are linked by a chain of pairs with a Jaccard similarity of `least` or more, in order.

    Texts are compared as sets of `shingles`. Exact, without signatures: two sets with similarity t share one of the
    rarest |A| - ceil(t |A|) + 1 shingles of either, so only such pairs are compared (Bayardo, Ma and Srikant, Scaling
    up all pairs similarity search, WWW 2007). Groups have two rows or more. Raises ValueError for a similarity
    outside (0, 1].
    """
    if not 0 < least <= 1:
        raise ValueError(f"near={least}: a similarity lies above 0 and at most at 1; 0.8 finds small changes")
    same: dict[frozenset[Any], list[int]] = defaultdict(list)
    for row, text in enumerate(texts):
        same[frozenset(shingles(text))].append(row)
    rows, linked = list(same.values()), UnionFind()
    for pair in _similar(_numbered(same), least):
        linked.join(pair)
    members_of_root: dict[object, list[int]] = defaultdict(list)
    for place, members in enumerate(rows):
        members_of_root[linked.root(place)] += members
    return sorted(sorted(members) for members in members_of_root.values() if len(members) > 1)


def _numbered(sets: Collection[frozenset[Any]]) -> list[Shingles]:
    """The shingles of each text as numbers, the rarest first: smaller numbers are rarer."""
    counts = Counter(shingle for shingles in sets for shingle in shingles)
    order = sorted(counts, key=lambda shingle: (counts[shingle], shingle))
    number = {shingle: place for place, shingle in enumerate(order)}
    return [sorted(number[shingle] for shingle in shingles) for shingles in sets]


def _similar(sets: list[Shingles], least: float) -> Iterator[tuple[int, int]]:
    """Pairs of rows whose sets have at least this Jaccard similarity."""
    holders: dict[int, list[int]] = defaultdict(list)
    whole = [set(shingles) for shingles in sets]
    for row in sorted(range(len(sets)), key=lambda row: len(sets[row])):
        length = len(sets[row])
        near: set[int] = set()
        for shingle in sets[row][: length - ceil(least * length - 1e-9) + 1]:
            near.update(holders[shingle])
            holders[shingle].append(row)
        for other in near:
            if len(sets[other]) >= least * length - 1e-9:
                shared = len(whole[row] & whole[other])
                if shared >= least * (length + len(sets[other]) - shared) - 1e-9:
                    yield other, row
