"""Files of twins: pairs of originals and copies read from the store, and copies that owners send."""

import sqlite3
import tempfile
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from dynabench.datasets import stored
from dynabench.datasets.stored import StoredRow
from dynabench.datasets.twins import CopyFields
from dynabench.intake import reader
from dynabench.intake.rows import BadRowReport, FileRow
from dynabench.kit.settings import Settings
from dynabench.kit.storable import unstorable
from dynabench.tasks.words import DiffPiece, PieceKind, word_differences

LONGEST_STRETCH = 200  # code points of a changed stretch that is compared letter by letter
LEAST_ALIKE = 0.7  # share of letters that must have stayed for it; another word is told as such


@dataclass(frozen=True)
class TwinPair:
    """An original and one of its copies; `number` is the copy's place in the file, from 1."""

    number: int
    original: StoredRow
    copy: StoredRow

    def changes(self) -> dict[str, tuple[DiffPiece, ...]]:
        """Return the changes in each text, letter by letter; unchanged texts are left out."""
        return {
            name: letter_differences(str(self.original.inputs.get(name) or ""), value)
            for name, value in self.copy.inputs.items()
            if isinstance(value, str) and value != self.original.inputs.get(name)
        }

    def before(self, name: str) -> str:
        """The original's text of a field."""
        return str(self.original.inputs.get(name) or "")


def letter_differences(before: str, after: str) -> tuple[DiffPiece, ...]:
    """Return the changes from `before` to `after`: by words, and by letters within a changed stretch.

    Invisible characters in a changed stretch are named.
    """
    pieces, differences = list(word_differences(before, after)), list[DiffPiece]()
    while pieces:
        first = pieces.pop(0)
        paired = first.kind == "out" and pieces and pieces[0].kind == "in"
        if paired and max(len(first.text), len(pieces[0].text)) <= LONGEST_STRETCH:
            differences += _letters(first.text, pieces.pop(0).text)
        else:
            differences.append(
                DiffPiece(first.kind, first.text if first.kind == "same" else mark_invisible(first.text))
            )
    return tuple(differences)


def _letters(before: str, after: str) -> Iterator[DiffPiece]:
    match = SequenceMatcher(None, before, after, autojunk=False)
    alike = [("replace", 0, len(before), 0, len(after))] if match.ratio() < LEAST_ALIKE else match.get_opcodes()
    for kind, a, b, c, d in alike:
        if kind == "equal":
            yield DiffPiece("same", before[a:b])
            continue
        sides: tuple[tuple[PieceKind, str], ...] = (("out", before[a:b]), ("in", after[c:d]))
        yield from (DiffPiece(which, mark_invisible(text)) for which, text in sides if text)


def mark_invisible(text: str) -> str:
    """A changed stretch with what cannot be seen in it named: spaces as a mark, other invisible characters by code."""
    if text.isspace():
        return "\u2423" * len(text)
    return "".join(
        f"[U+{ord(character):04X}]" if unicodedata.category(character) == "Cf" else character for character in text
    )


def read_pairs(
    settings: Settings, originals: str, twin: str, transformation: str = "", after: int = 0, limit: int = 50
) -> list[TwinPair]:
    """Up to `limit` copies behind number `after`, of one transformation or of all, with their originals.

    Raises FileNotFoundError where a file is gone. A file's small columns are read through, its texts only where wanted.
    """
    numbers = _copy_numbers(settings, twin, transformation, after, limit)
    copies = [next(stored.read_rows(settings, twin, number - 1, 1)) for number in numbers]
    held = _originals_by_uid(settings, originals, {copy.original_uid for copy in copies})
    return [
        TwinPair(number, held[copy.original_uid], copy)
        for number, copy in zip(numbers, copies, strict=True)
        if copy.original_uid in held
    ]


def _copy_numbers(settings: Settings, digest: str, transformation: str, after: int, limit: int) -> list[int]:
    numbers, at = list[int](), 0
    with pq.ParquetFile(stored.rows_path(settings, digest)) as file:
        for group in range(file.num_row_groups):
            size = file.metadata.row_group(group).num_rows
            if after < at + size:
                column = file.read_row_group(group, columns=["transformation"]).column(0)
                mask = pc.equal(column, transformation).to_pylist() if transformation else [True] * size
                numbers += [at + n + 1 for n, good in enumerate(mask) if good and at + n + 1 > after]
            if len(numbers) >= limit:
                break
            at += size
    return numbers[:limit]


def _originals_by_uid(settings: Settings, digest: str, uids: set[str]) -> dict[str, StoredRow]:
    originals, at = dict[str, StoredRow](), 0
    with pq.ParquetFile(stored.rows_path(settings, digest)) as file:
        for group in range(file.num_row_groups):
            if len(originals) == len(uids):
                break
            column = file.read_row_group(group, columns=["uid"]).column(0)
            for place in pc.indices_nonzero(pc.is_in(column, value_set=pa.array(sorted(uids)))).to_pylist():
                row = next(stored.read_rows(settings, digest, at + place, 1))
                originals[row.uid] = row
            at += len(column)
    return originals


MOST_REFUSED = 1_000
"""Refused rows that are kept with their reason; all are counted."""
LONGEST = 200
_OWN = ("uid", "input_id", "of", "transformation", "tag", "tags", "answers")


class TwinReader:
    """Reads the copies of one dataset version. Originals wait in a temporary file, not in memory.

    `report` has the rows that were refused.
    """

    def __init__(self, settings: Settings, digest: str, fields: CopyFields) -> None:
        self.settings, self.digest, self.fields = settings, digest, fields
        self.report = BadRowReport(MOST_REFUSED)

    def rows(self, path: Path, name: str) -> Iterator[StoredRow]:
        """The valid rows of a file, in its order.

        A row has a unique `uid`, the uid of its original as `input_id` (or `of`), perhaps `transformation`, and the
        input fields; one that it leaves out is as in the original. At least one text must differ. Answers are those of
        the original; where they mark a text that was changed, give them, or have them found where their text stands
        once. Raises `Invalid` for a file that cannot be read.
        """
        with tempfile.NamedTemporaryFile(dir=self.settings.folder, suffix=".originals") as file:
            with sqlite3.connect(file.name) as originals:
                originals.executescript(
                    "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; CREATE TABLE used (uid TEXT PRIMARY KEY);"
                    "CREATE TABLE originals (uid TEXT PRIMARY KEY, row BLOB) WITHOUT ROWID;"
                )
                rows = stored.read_rows(self.settings, self.digest)
                packed = ((r.uid, orjson.dumps([dict(r.inputs), list(r.answers), list(r.tags)])) for r in rows)
                originals.executemany("INSERT INTO originals VALUES (?, ?)", packed)
                for row in reader.read_rows(path, name):
                    try:
                        yield self._read(originals, row)
                    except ValueError as wrong:
                        self.report.add(row.number, str(wrong), row.values)
            originals.close()

    def _read(self, originals: sqlite3.Connection, row: FileRow) -> StoredRow:
        values = row.values
        if values is None:
            raise ValueError(row.error)
        if any(unstorable(values)):
            raise ValueError("It holds a character that cannot be stored.")
        uid, original_uid = _read_name(values, "uid"), _read_name(values, "of" if "of" in values else "input_id")
        stored_original = originals.execute("SELECT row FROM originals WHERE uid = ?", (original_uid,)).fetchone()
        if stored_original is None:
            raise ValueError(f"input_id: the dataset has no row {original_uid!r}.")
        inputs, answers, tags = orjson.loads(stored_original[0])
        original = StoredRow(original_uid, inputs, tuple(answers), tuple(tags))
        copy = self._copy(original, values, uid)
        try:
            originals.execute("INSERT INTO used VALUES (?)", (uid,))
        except sqlite3.IntegrityError:
            raise ValueError(f"uid: {uid!r} stands in an earlier row.") from None
        return copy

    def _copy(self, original: StoredRow, values: Mapping[str, Any], uid: str) -> StoredRow:
        names = {*original.inputs, *self.fields.marks, *_OWN}
        names |= {name for answer in original.answers for name in answer}
        if strange := [name for name in values if name not in names]:
            raise ValueError(f"{strange[0]}: there is no such field.")
        changed = {name: values[name] for name in original.inputs if name in values}
        for name, value in changed.items():
            self._check(name, value, original)
        inputs = {**original.inputs, **changed}
        if inputs == dict(original.inputs):
            raise ValueError("No text differs from the original's.")
        answers = tuple(self._answer(answer, original, inputs, values) for answer in original.answers)
        name = str(values.get("transformation") or "uploaded")[:60]
        return StoredRow(uid, inputs, answers, original.tags, original.uid, name)

    def _check(self, name: str, value: Any, original: StoredRow) -> None:
        if name not in self.fields.lengths:
            if value != original.inputs[name]:
                raise ValueError(f"{name}: only texts may differ from the original.")
        elif not isinstance(value, str) or not value.strip():
            raise ValueError(f"{name}: this must be text.")
        elif len(value) > self.fields.lengths[name]:
            raise ValueError(f"{name}: this has {len(value)} characters, the field takes {self.fields.lengths[name]}.")

    def _answer(
        self, answer: Mapping[str, Any], original: StoredRow, inputs: Mapping[str, Any], values: Mapping[str, Any]
    ) -> dict[str, Any]:
        new = dict(answer)
        for name in answer:
            text_field = self.fields.marks.get(name)
            if text_field is None or inputs.get(text_field) == original.inputs.get(text_field):
                if name in values and not any(values[name] == candidate.get(name) for candidate in original.answers):
                    raise ValueError(f"{name}: a copy has the answer of its original.")
            elif answer[name]:
                text = str(inputs[text_field])
                new[name] = (
                    _read_spans(name, values[name], text) if name in values else _find_spans(name, answer[name], text)
                )
        return new


def _read_name(values: Mapping[str, Any], key: str) -> str:
    value = values.get(key)
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str) or not value or len(value) > LONGEST:
        raise ValueError(f"{key}: give a text of 1 to {LONGEST} characters.")
    return value


def _read_spans(name: str, raw: Any, text: str) -> list[dict[str, Any]]:
    spans = []
    for item in raw if isinstance(raw, list) and raw else [None]:
        span = item if isinstance(item, dict) else {}
        start, end = span.get("start"), span.get("end")
        if type(start) is not int or type(end) is not int or not 0 <= start < end <= len(text):
            raise ValueError(f"{name}: give a list of start and end within the text.")
        if "text" in span and span["text"] != text[start:end]:
            raise ValueError(f"{name}: the text at {start} to {end} is {text[start:end][:40]!r}.")
        spans.append({"start": start, "end": end, "text": text[start:end]})
    return spans


def _find_spans(name: str, spans: list[dict[str, Any]], text: str) -> list[dict[str, Any]]:
    moved = []
    for span in spans:
        if text.count(span["text"]) != 1:
            raise ValueError(f"{name}: {span['text'][:40]!r} does not stand once in the text; give the answer's place.")
        start = text.index(span["text"])
        moved.append({"start": start, "end": start + len(span["text"]), "text": span["text"]})
    return moved
