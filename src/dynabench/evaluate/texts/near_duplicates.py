"""Groups of texts that are nearly the same."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from math import ceil

Shingles = list[int]


def groups(texts: Sequence[str], least: float, size: int = 5) -> list[list[int]]:
    """Rows of texts that are linked by a chain of pairs with a Jaccard similarity of `least` or more, in order.

    Texts are compared as sets of `size` characters in a row, in lower case and with single spaces. Exact, no hashing:
    two sets with similarity t share one of the rarest |A| - ceil(t |A|) + 1 shingles of either, so only such pairs are
    compared (Bayardo, Ma and Srikant, Scaling up all pairs similarity search, WWW 2007). Groups have two rows or more.
    Raises ValueError for a similarity outside (0, 1].
    """
    if not 0 < least <= 1:
        raise ValueError(f"near={least}: a similarity lies above 0 and at most at 1; 0.8 finds small changes")
    same: dict[str, list[int]] = defaultdict(list)
    for row, text in enumerate(texts):
        same[" ".join(text.lower().split())].append(row)
    rows = list(same.values())
    parent = list(range(len(rows)))
    for one, two in _similar(_shingled(same, size), least):
        parent[_root(parent, two)] = _root(parent, one)
    found: dict[int, list[int]] = defaultdict(list)
    for place, members in enumerate(rows):
        found[_root(parent, place)] += members
    return sorted(sorted(members) for members in found.values() if len(members) > 1)


def _shingled(texts: Iterable[str], size: int) -> list[Shingles]:
    """The shingles of each text as numbers, the rarest first: smaller numbers are rarer."""
    sets = [{text[at : at + size] for at in range(max(len(text) - size + 1, 1))} for text in texts]
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


def _root(parent: list[int], row: int) -> int:
    while parent[row] != row:
        parent[row] = row = parent[parent[row]]
    return row
