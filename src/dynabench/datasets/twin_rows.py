"""Copies beside their originals, a page at a time, straight from the files."""

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from dynabench.datasets import stored
from dynabench.datasets.stored import Stored
from dynabench.kit.settings import Settings
from dynabench.tasks.words import DiffPiece, PieceKind, word_differences

CLOSE = 200  # code points of a changed stretch that is compared letter by letter
ALIKE = 0.7  # share of letters that must have stayed for it; another word is told as such


@dataclass(frozen=True)
class Pair:
    """An original and one of its copies; `number` is the copy's place in the file, from 1."""

    number: int
    original: Stored
    copy: Stored

    def changes(self) -> dict[str, tuple[DiffPiece, ...]]:
        """Return the changes in each text, letter by letter; unchanged texts are left out."""
        return {
            name: letters(str(self.original.inputs.get(name) or ""), value)
            for name, value in self.copy.inputs.items()
            if isinstance(value, str) and value != self.original.inputs.get(name)
        }

    def before(self, name: str) -> str:
        """The original's text of a field."""
        return str(self.original.inputs.get(name) or "")


def letters(before: str, after: str) -> tuple[DiffPiece, ...]:
    """Return the changes from `before` to `after`: by words, and by letters within a changed stretch.

    Invisible characters in a changed stretch are named.
    """
    pieces, found = list(word_differences(before, after)), list[DiffPiece]()
    while pieces:
        first = pieces.pop(0)
        paired = first.kind == "out" and pieces and pieces[0].kind == "in"
        if paired and max(len(first.text), len(pieces[0].text)) <= CLOSE:
            found += _letters(first.text, pieces.pop(0).text)
        else:
            found.append(DiffPiece(first.kind, first.text if first.kind == "same" else shown(first.text)))
    return tuple(found)


def _letters(before: str, after: str) -> Iterator[DiffPiece]:
    match = SequenceMatcher(None, before, after, autojunk=False)
    alike = [("replace", 0, len(before), 0, len(after))] if match.ratio() < ALIKE else match.get_opcodes()
    for kind, a, b, c, d in alike:
        if kind == "equal":
            yield DiffPiece("same", before[a:b])
            continue
        told: tuple[tuple[PieceKind, str], ...] = (("out", before[a:b]), ("in", after[c:d]))
        yield from (DiffPiece(which, shown(text)) for which, text in told if text)


def shown(text: str) -> str:
    """A changed stretch with what cannot be seen in it named: spaces as a mark, other invisible characters by code."""
    if text.isspace():
        return "\u2423" * len(text)
    return "".join(f"[U+{ord(each):04X}]" if unicodedata.category(each) == "Cf" else each for each in text)


def pairs(
    settings: Settings, originals: str, twin: str, transformation: str = "", after: int = 0, limit: int = 50
) -> list[Pair]:
    """Up to `limit` copies behind number `after`, of one transformation or of all, with their originals.

    Raises FileNotFoundError where a file is gone. A file's small columns are read through, its texts only where wanted.
    """
    numbers = _numbers(settings, twin, transformation, after, limit)
    copies = [next(stored.read(settings, twin, number - 1, 1)) for number in numbers]
    held = _by_uid(settings, originals, {copy.of for copy in copies})
    return [Pair(number, held[copy.of], copy) for number, copy in zip(numbers, copies, strict=True) if copy.of in held]


def _numbers(settings: Settings, digest: str, transformation: str, after: int, limit: int) -> list[int]:
    found, at = list[int](), 0
    with pq.ParquetFile(stored.path(settings, digest)) as file:
        for group in range(file.num_row_groups):
            size = file.metadata.row_group(group).num_rows
            if after < at + size:
                column = file.read_row_group(group, columns=["transformation"]).column(0)
                mask = pc.equal(column, transformation).to_pylist() if transformation else [True] * size
                found += [at + n + 1 for n, good in enumerate(mask) if good and at + n + 1 > after]
            if len(found) >= limit:
                break
            at += size
    return found[:limit]


def _by_uid(settings: Settings, digest: str, uids: set[str]) -> dict[str, Stored]:
    found, at = dict[str, Stored](), 0
    with pq.ParquetFile(stored.path(settings, digest)) as file:
        for group in range(file.num_row_groups):
            if len(found) == len(uids):
                break
            column = file.read_row_group(group, columns=["uid"]).column(0)
            for place in pc.indices_nonzero(pc.is_in(column, value_set=pa.array(sorted(uids)))).to_pylist():
                row = next(stored.read(settings, digest, at + place, 1))
                found[row.uid] = row
            at += len(column)
    return found
