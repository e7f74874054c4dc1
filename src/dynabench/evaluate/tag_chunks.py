"""Read chunks from tags: the schemes, their detection, and both readings of seqeval."""

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
class TaggingScheme:
    """A tagging scheme: its prefixes, and the rules by which a chunk starts, goes on and has ended before a tag."""

    prefixes: str
    start: tuple[Rule, ...]
    inside: tuple[Rule, ...]
    end: tuple[Rule, ...]


SCHEMES = {
    "IOB1": TaggingScheme(
        "IOB",
        (("O", "I", ""), ("I", "I", "!"), ("B", "I", ""), ("IB", "B", "=")),
        (("BI", "I", "="),),
        (("IB", "I", "!"), ("IB", "O", ""), ("I", "B", ""), ("B", "B", "=")),
    ),
    "IOB2": TaggingScheme(
        "IOB",
        ((ANY, "B", ""),),
        (("BI", "I", "="),),
        (("IB", "O", ""), ("IB", "I", "!"), ("IB", "B", "")),
    ),
    "IOE1": TaggingScheme(
        "IOE",
        (("O", "I", ""), ("I", "I", "!"), ("E", "I", ""), ("E", "E", "=")),
        (("I", "IE", "="),),
        (("I", "IE", "!"), ("I", "O", ""), ("E", "IE", "=")),
    ),
    "IOE2": TaggingScheme(
        "IOE",
        (("OE", "IE", ""), ("I", "IE", "!")),
        (("I", "IE", "="),),
        (("E", ANY, ""),),
    ),
    "IOBES": TaggingScheme("IOBES", ((ANY, "BS", ""),), (("BI", "IE", "="),), (("SE", ANY, ""),)),
    "BILOU": TaggingScheme("BILOU", ((ANY, "BU", ""),), (("BI", "IL", "="),), (("UL", ANY, ""),)),
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


def parse_tags(
    column: Sequence[Sequence[str]], name: str, allowed: str, suffix: bool, hint: str, kinds: dict[str, int]
) -> Tags:
    """Return prefixes and types of all tags, the types as codes; `kinds` maps types to codes and gets new ones.

    Raises ValueError for a tag without an allowed prefix, with its row.
    """
    flat = [tag for tags in column for tag in ("O", *tags)] + ["O"]
    codes = {tag: code for code, tag in enumerate(dict.fromkeys(flat))}  # O comes first
    table = [(0, 0)]
    for tag in list(codes)[1:]:
        letter, kind = _split(tag, suffix)
        if letter not in tuple(allowed) or letter == "O":
            row = next(row for row, tags in enumerate(column) if tag in tags)
            allowed_tags = ", ".join(
                f"X-{prefix_letter}" if suffix else f"{prefix_letter}-X" for prefix_letter in allowed.replace("O", "")
            )
            raise ValueError(f"{name}: row {row} has the tag {tag!r}; tags are O, {allowed_tags}. {hint}")
        table.append((LETTERS.index(letter), kinds.setdefault(kind, len(kinds))))
    tag_codes = np.fromiter(map(codes.__getitem__, flat), np.int64, len(flat))
    prefix, kind_of = np.array(table, np.int64).T
    lengths = [len(tags) + 1 for tags in column]
    row_of = np.append(np.repeat(np.arange(len(lengths)), lengths), max(len(lengths) - 1, 0))
    return Tags(prefix[tag_codes], kind_of[tag_codes], row_of)


def _split(tag: str, suffix: bool) -> tuple[str, str]:
    """Prefix and type of a tag; "" for the prefix of what is no tag. A prefix alone has the type "_"."""
    if len(tag) < 2:
        return tag, "_"
    if suffix:
        return (tag[-1], tag[:-2] or "_") if tag[-2] == "-" else ("", "")
    return (tag[0], tag[2:] or "_") if tag[1] == "-" else ("", "")


def detect_scheme(column: Iterable[Sequence[str]], suffix: bool) -> str:
    """Return the name of the scheme that the prefixes of these tags belong to.

    Raises ValueError where there is none.
    """
    letters = {_split(tag, suffix)[0] for tag in set().union(*column)} - {"O"}
    if letters <= set("BIES") and ("S" in letters or letters >= set("BE")):
        return "IOBES"
    if letters <= set("BILU") and letters & set("LU"):
        return "BILOU"
    if letters in ({"B"}, {"B", "I"}):
        return "IOB2"
    if letters in ({"E"}, {"E", "I"}):
        return "IOE2"
    prefixes = " ".join(sorted(letters)) or "O alone"
    raise ValueError(f"the scheme cannot be told from {prefixes}; give scheme=, one of {', '.join(SCHEMES)}")


def tolerant_chunks(tags: Tags) -> Chunks:
    """Return chunks as conlleval reads them: the prefixes B, I, E, S and O of all schemes at once."""
    inside = tags.prefix != LETTERS.index("O")
    before, now = tags.prefix[:-1], tags.prefix[1:]
    breaks = _among(before, "OES") | _among(now, "OBS") | (tags.kind[:-1] != tags.kind[1:])
    start = np.flatnonzero(inside[1:] & breaks) + 1
    last = np.flatnonzero(inside[:-1] & breaks)
    return Chunks(start, last + 1, tags.kind[start], tags.row[start])


def strict_chunks(tags: Tags, scheme: TaggingScheme) -> Chunks:
    """Return the chunks that are tagged exactly as the scheme says.

    A tag that cannot go on is the head of a stretch; in each stretch the first tag that may start a chunk starts
    one, which takes the rest of it, and counts if it has ended before the next head.
    """
    heads = np.flatnonzero(~_holds(tags, scheme.inside))
    starts = np.flatnonzero(_holds(tags, scheme.start))
    ended = _holds(tags, scheme.end)
    stretch = np.searchsorted(heads, starts, side="right") - 1
    first = np.append(True, stretch[1:] != stretch[:-1])[: len(starts)]
    starts, stretch = starts[first], stretch[first]
    ends = heads[stretch + 1]  # the O at the end of all tags is a head, and starts nothing
    whole = ended[ends]
    starts, ends = starts[whole], ends[whole]
    return Chunks(starts, ends, tags.kind[starts], tags.row[starts])


def _holds(tags: Tags, rules: tuple[Rule, ...]) -> Bools:
    """For each tag: one of the rules holds between the tag before and it; never true for the first."""
    before, now = tags.prefix[:-1], tags.prefix[1:]
    same = tags.kind[:-1] == tags.kind[1:]
    matches = np.zeros(len(tags.prefix), bool)
    for earlier, later, kind in rules:
        fits = _among(before, earlier) & _among(now, later)
        matches[1:] |= fits & (same if kind == "=" else ~same if kind == "!" else True)
    return matches


def _among(prefix: Ints, letters: str) -> Bools:
    matches: Bools = np.array([letter in letters for letter in LETTERS])[prefix]
    return matches
