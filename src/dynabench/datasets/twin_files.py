"""Files of perturbed copies that owners send, checked row by row against the originals."""

import sqlite3
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from dynabench.datasets import stored
from dynabench.datasets.copies import Fields
from dynabench.datasets.stored import Stored
from dynabench.intake import reader
from dynabench.intake.bad_rows import BadRowReport
from dynabench.intake.text_rows import FileRow
from dynabench.kit.settings import Settings
from dynabench.kit.storable import unstorable

MOST_REFUSED = 1_000
"""Refused rows that are kept with their reason; all are counted."""
LONGEST = 200
_OWN = ("uid", "input_id", "of", "transformation", "tag", "tags", "answers")


class Reading:
    """Reads the copies of one dataset version. Originals wait in a temporary file, not in memory.

    `report` has the rows that were refused.
    """

    def __init__(self, settings: Settings, digest: str, fields: Fields) -> None:
        self.settings, self.digest, self.fields = settings, digest, fields
        self.report = BadRowReport(MOST_REFUSED)

    def rows(self, path: Path, name: str) -> Iterator[Stored]:
        """The valid rows of a file, in its order.

        A row has a unique `uid`, the uid of its original as `input_id` (or `of`), perhaps `transformation`, and the
        input fields; one that it leaves out is as in the original. At least one text must differ. Answers are those of
        the original; where they mark a text that was changed, give them, or have them found where their text stands
        once. Raises `Invalid` for a file that cannot be read.
        """
        with tempfile.NamedTemporaryFile(dir=self.settings.folder, suffix=".originals") as file:
            with sqlite3.connect(file.name) as known:
                known.executescript(
                    "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; CREATE TABLE used (uid TEXT PRIMARY KEY);"
                    "CREATE TABLE originals (uid TEXT PRIMARY KEY, row BLOB) WITHOUT ROWID;"
                )
                rows = stored.read(self.settings, self.digest)
                packed = ((r.uid, orjson.dumps([dict(r.inputs), list(r.answers), list(r.tags)])) for r in rows)
                known.executemany("INSERT INTO originals VALUES (?, ?)", packed)
                for row in reader.read_rows(path, name):
                    try:
                        yield self._read(known, row)
                    except ValueError as wrong:
                        self.report.add(row.number, str(wrong), row.values)
            known.close()

    def _read(self, known: sqlite3.Connection, row: FileRow) -> Stored:
        values = row.values
        if values is None:
            raise ValueError(row.error)
        if any(unstorable(values)):
            raise ValueError("It holds a character that cannot be stored.")
        uid, of = _name(values, "uid"), _name(values, "of" if "of" in values else "input_id")
        found = known.execute("SELECT row FROM originals WHERE uid = ?", (of,)).fetchone()
        if found is None:
            raise ValueError(f"input_id: the dataset has no row {of!r}.")
        inputs, answers, tags = orjson.loads(found[0])
        original = Stored(of, inputs, tuple(answers), tuple(tags))
        made = self._copy(original, values, uid)
        try:
            known.execute("INSERT INTO used VALUES (?)", (uid,))
        except sqlite3.IntegrityError:
            raise ValueError(f"uid: {uid!r} stands in an earlier row.") from None
        return made

    def _copy(self, original: Stored, values: Mapping[str, Any], uid: str) -> Stored:
        known = {*original.inputs, *self.fields.marks, *_OWN}
        known |= {name for answer in original.answers for name in answer}
        if strange := [name for name in values if name not in known]:
            raise ValueError(f"{strange[0]}: there is no such field.")
        given = {name: values[name] for name in original.inputs if name in values}
        for name, value in given.items():
            self._check(name, value, original)
        inputs = {**original.inputs, **given}
        if inputs == dict(original.inputs):
            raise ValueError("No text differs from the original's.")
        answers = tuple(self._answer(answer, original, inputs, values) for answer in original.answers)
        name = str(values.get("transformation") or "uploaded")[:60]
        return Stored(uid, inputs, answers, original.tags, original.uid, name)

    def _check(self, name: str, value: Any, original: Stored) -> None:
        if name not in self.fields.lengths:
            if value != original.inputs[name]:
                raise ValueError(f"{name}: only texts may differ from the original.")
        elif not isinstance(value, str) or not value.strip():
            raise ValueError(f"{name}: this must be text.")
        elif len(value) > self.fields.lengths[name]:
            raise ValueError(f"{name}: this has {len(value)} characters, the field takes {self.fields.lengths[name]}.")

    def _answer(
        self, answer: Mapping[str, Any], original: Stored, inputs: Mapping[str, Any], values: Mapping[str, Any]
    ) -> dict[str, Any]:
        new = dict(answer)
        for name in answer:
            of = self.fields.marks.get(name)
            if of is None or inputs.get(of) == original.inputs.get(of):
                if name in values and not any(values[name] == each.get(name) for each in original.answers):
                    raise ValueError(f"{name}: a copy has the answer of its original.")
            elif answer[name]:
                text = str(inputs[of])
                new[name] = _spans(name, values[name], text) if name in values else _found(name, answer[name], text)
        return new


def _name(values: Mapping[str, Any], key: str) -> str:
    value = values.get(key)
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str) or not value or len(value) > LONGEST:
        raise ValueError(f"{key}: give a text of 1 to {LONGEST} characters.")
    return value


def _spans(name: str, raw: Any, text: str) -> list[dict[str, Any]]:
    spans = []
    for item in raw if isinstance(raw, list) and raw else [None]:
        each = item if isinstance(item, dict) else {}
        start, end = each.get("start"), each.get("end")
        if type(start) is not int or type(end) is not int or not 0 <= start < end <= len(text):
            raise ValueError(f"{name}: give a list of start and end within the text.")
        if "text" in each and each["text"] != text[start:end]:
            raise ValueError(f"{name}: the text at {start} to {end} is {text[start:end][:40]!r}.")
        spans.append({"start": start, "end": end, "text": text[start:end]})
    return spans


def _found(name: str, spans: list[dict[str, Any]], text: str) -> list[dict[str, Any]]:
    moved = []
    for span in spans:
        if text.count(span["text"]) != 1:
            raise ValueError(f"{name}: {span['text'][:40]!r} does not stand once in the text; give the answer's place.")
        start = text.index(span["text"])
        moved.append({"start": start, "end": start + len(span["text"]), "text": span["text"]})
    return moved
