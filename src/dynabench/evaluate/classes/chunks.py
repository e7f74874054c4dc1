"""Chunks (names, phrases) in tagged sequences: where they begin and end, by the rules of each tagging scheme.

Source of the default rules: the script conlleval of the CoNLL-2000 shared task, whose tolerant reading begins a chunk
wherever a tag cannot continue the one before. The strict rules of each scheme accept a chunk only where its first,
inner and last tags are as the scheme says; they are those of the library seqeval.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynabench.evaluate.labels import Ints

Bools = NDArray[np.bool_]
Rule = tuple[str, str, str]  # prefixes before, prefixes now, and whether the types are the same: "=", "!" or any ""
LETTERS = "OIBESUL"
ANY = LETTERS


@dataclass(frozen=True)
class Scheme:
    """Which prefixes there are, and by which rules a chunk starts, goes on and has ended before a tag."""

    prefixes: str
    start: tuple[Rule, ...]
    inside: tuple[Rule, ...]
    end: tuple[Rule, ...]


SCHEMES = {
    "IOB1": Scheme(
        "IOB",
        (("O", "I", ""), ("I", "I", "!"), ("B", "I", ""), ("IB", "B", "=")),
        (("BI", "I", "="),),
        (("IB", "I", "!"), ("IB", "O", ""), ("I", "B", ""), ("B", "B", "=")),
    ),
    "IOB2": Scheme(
        "IOB",
        ((ANY, "B", ""),),
        (("BI", "I", "="),),
        (("IB", "O", ""), ("IB", "I", "!"), ("IB", "B", "")),
    ),
    "IOE1": Scheme(
        "IOE",
        (("O", "I", ""), ("I", "I", "!"), ("E", "I", ""), ("E", "E", "=")),
        (("I", "IE", "="),),
        (("I", "IE", "!"), ("I", "O", ""), ("E", "IE", "=")),
    ),
    "IOE2": Scheme(
        "IOE",
        (("OE", "IE", ""), ("I", "IE", "!")),
        (("I", "IE", "="),),
        (("E", ANY, ""),),
    ),
    "IOBES": Scheme("IOBES", ((ANY, "BS", ""),), (("BI", "IE", "="),), (("SE", ANY, ""),)),
    "BILOU": Scheme("BILOU", ((ANY, "BU", ""),), (("BI", "IL", "="),), (("UL", ANY, ""),)),
}


@dataclass(frozen=True)
class Tags:
    """All tags of all sequences, one after the other with an O before each and at the end, as codes of shape (N,).

    `prefix` is a place in `LETTERS`, `kind` the code of a type, `row` the number of the sequence.
    """

    prefix: Ints
    kind: Ints
    row: Ints


@dataclass(frozen=True)
class Chunks:
    """Chunks in order of their start, each of shape (C,): start and end (exclusive) among all tags, type, sequence."""

    start: Ints
    end: Ints
    kind: Ints
    row: Ints


def parsed(
    column: Sequence[Sequence[str]], name: str, allowed: str, suffix: bool, hint: str, kinds: dict[str, int]
) -> Tags:
    """Prefixes and types of all tags, the latter as codes that `kinds` holds or gets.

    Raises ValueError for a tag without an allowed prefix, with its row.
    """
    flat = [tag for tags in column for tag in ("O", *tags)] + ["O"]
    codes = {tag: code for code, tag in enumerate(dict.fromkeys(flat))}  # O comes first
    table = [(0, 0)]
    for tag in list(codes)[1:]:
        letter, kind = _split(tag, suffix)
        if letter not in tuple(allowed) or letter == "O":
            row = next(row for row, tags in enumerate(column) if tag in tags)
            shown = ", ".join(f"X-{one}" if suffix else f"{one}-X" for one in allowed.replace("O", ""))
            raise ValueError(f"{name}: row {row} has the tag {tag!r}; tags are O, {shown}. {hint}")
        table.append((LETTERS.index(letter), kinds.setdefault(kind, len(kinds))))
    each = np.fromiter(map(codes.__getitem__, flat), np.int64, len(flat))
    prefix, kind_of = np.array(table, np.int64).T
    lengths = [len(tags) + 1 for tags in column]
    row_of = np.append(np.repeat(np.arange(len(lengths)), lengths), max(len(lengths) - 1, 0))
    return Tags(prefix[each], kind_of[each], row_of)


def _split(tag: str, suffix: bool) -> tuple[str, str]:
    """Prefix and type of a tag; "" for the prefix of what is no tag. A prefix alone has the type "_"."""
    if len(tag) < 2:
        return tag, "_"
    if suffix:
        return (tag[-1], tag[:-2] or "_") if tag[-2] == "-" else ("", "")
    return (tag[0], tag[2:] or "_") if tag[1] == "-" else ("", "")


def detected(column: Iterable[Sequence[str]], suffix: bool) -> str:
    """The scheme that the prefixes of these tags are of. Raises ValueError where they are of none."""
    letters = {_split(tag, suffix)[0] for tag in set().union(*column)} - {"O"}
    if letters <= set("BIES") and ("S" in letters or letters >= set("BE")):
        return "IOBES"
    if letters <= set("BILU") and letters & set("LU"):
        return "BILOU"
    if letters in ({"B"}, {"B", "I"}):
        return "IOB2"
    if letters in ({"E"}, {"E", "I"}):
        return "IOE2"
    told = " ".join(sorted(letters)) or "O alone"
    raise ValueError(f"the scheme cannot be told from {told}; give scheme=, one of {', '.join(SCHEMES)}")


def tolerant(tags: Tags) -> Chunks:
    """Chunks as conlleval reads them: the prefixes B, I, E, S and O of all schemes at once."""
    inside = tags.prefix != LETTERS.index("O")
    before, now = tags.prefix[:-1], tags.prefix[1:]
    apart = _among(before, "OES") | _among(now, "OBS") | (tags.kind[:-1] != tags.kind[1:])
    start = np.flatnonzero(inside[1:] & apart) + 1
    last = np.flatnonzero(inside[:-1] & apart)
    return Chunks(start, last + 1, tags.kind[start], tags.row[start])


def strict(tags: Tags, scheme: Scheme) -> Chunks:
    """Chunks that are tagged as the scheme says.

    A tag that cannot go on is the head of a stretch; in each stretch the first tag that may start a chunk starts one,
    which takes the rest of it, and counts if it has ended before the next head.
    """
    going = np.flatnonzero(~_holds(tags, scheme.inside))
    starts = np.flatnonzero(_holds(tags, scheme.start))
    ended = _holds(tags, scheme.end)
    stretch = np.searchsorted(going, starts, side="right") - 1
    first = np.append(True, stretch[1:] != stretch[:-1])[: len(starts)]
    starts, stretch = starts[first], stretch[first]
    ends = going[stretch + 1]  # the O at the end of all tags is a head, and starts nothing
    whole = ended[ends]
    starts, ends = starts[whole], ends[whole]
    return Chunks(starts, ends, tags.kind[starts], tags.row[starts])


def _holds(tags: Tags, rules: tuple[Rule, ...]) -> Bools:
    """Of each tag whether one of the rules holds between the tag before and it; never of the first."""
    before, now = tags.prefix[:-1], tags.prefix[1:]
    same = tags.kind[:-1] == tags.kind[1:]
    found = np.zeros(len(tags.prefix), bool)
    for earlier, later, kind in rules:
        fits = _among(before, earlier) & _among(now, later)
        found[1:] |= fits & (same if kind == "=" else ~same if kind == "!" else True)
    return found


def _among(prefix: Ints, letters: str) -> Bools:
    found: Bools = np.array([letter in letters for letter in LETTERS])[prefix]
    return found
