"""Contexts with files: a zip with one table (CSV or JSONL), whose cells name files beside it; or of files alone.

It becomes a JSONL file in which each such cell refers to the stored file, so that everything else goes on as for any
table; files without a table are a row each, for tasks whose contexts are a file each. Nothing is unpacked to paths of
the archive's own, and what is really there counts, not what headers say.
"""

import json
import re
import shutil
import struct
import uuid
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Any
from uuid import UUID

from dynabench.intake import reader
from dynabench.intake.text_rows import FileRow
from dynabench.kit import errors
from dynabench.kit.db import Database
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.media import file_formats
from dynabench.media import service as media
from dynabench.media.file_formats import MediaFacts, MediaKind, UploadLimits, UploadRefused, media_type_of
from dynabench.media.store import MediaStore
from dynabench.models import archives
from dynabench.rounds import files, service, waiting
from dynabench.rounds.contexts import batches
from dynabench.tasks import TaskConfig
from dynabench.tasks.fields import MediaField

ENDING = ".zip"
FILES = 20_000
LARGEST = 2 * 2**30  # bytes of all files together
TABLES = (".csv", ".tsv", ".jsonl", ".ndjson")
NAMED = 5  # refused files that a message names
UNREADABLE = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    ValueError,
    OSError,
    NotImplementedError,
    RuntimeError,
)


def alone(config: TaskConfig) -> MediaField | None:
    """The field of a context that files without a table fill: the only one of its kind, where no other is required."""
    found = [field for field in config.context if isinstance(field, MediaField)]
    others = [field for field in config.context if field.required and field not in found]
    return found[0] if len(found) == 1 and not others else None


def pack(settings: Settings, task: str, sent: Sequence[tuple[str, Any]]) -> UUID:
    """Keep files that were sent together, names and open files, as the zip that might have been sent instead."""
    id = uuid.uuid4()
    place = waiting.folder(settings, task)
    waiting.sweep(place)
    with zipfile.ZipFile(place / f"{id}{ENDING}", "x") as packed:
        for name, file in sent:
            with packed.open(PurePosixPath(name.replace("\\", "/")).name[-120:], "w") as entry:
                shutil.copyfileobj(file, entry)
    return id


def rows(db: Database, settings: Settings, task: str, person_id: int | None, path: Path) -> Path:
    """Store the files of the zip at `path`, put a JSONL file of its rows beside it, and throw the zip away.

    Raises `Invalid` under `file` for what is no honest archive, and for files that are not taken, which it names; what
    was stored until then is thrown away with whatever nothing shows.
    """
    target = path.with_suffix(".jsonl")
    try:
        with path.open("rb") as file:
            archives.check_zip_end(file, FILES)
            with zipfile.ZipFile(file) as opened, target.open("x", encoding="utf-8") as out:
                reader = _Reader(db, settings, task, person_id, opened, path.stat().st_size)
                for line in reader.lines():
                    out.write(line)
    except UNREADABLE as problem:
        target.unlink(missing_ok=True)
        raise errors.Invalid({"file": f"This zip file cannot be read: {str(problem)[:100]}"}) from None
    except errors.Problem:
        target.unlink(missing_ok=True)
        raise
    finally:
        path.unlink(missing_ok=True)
    return target


class _Reader:
    """Reads one archive; remembers what was stored, since many rows may name one file."""

    def __init__(
        self, db: Database, settings: Settings, task: str, person_id: int | None, opened: zipfile.ZipFile, packed: int
    ) -> None:
        self.db, self.settings, self.task, self.person_id, self.opened = db, settings, task, person_id, opened
        self.left = min(LARGEST, max(archives.SLACK, archives.RATIO * packed))
        self.entries = self._entries()
        self.field = alone(db.read(service.newest_config, task))
        self.known: dict[str, str] = {}
        self.noted: list[tuple[str, MediaFacts, str]] = []
        self.refused: list[str] = []

    def lines(self) -> Iterator[str]:
        """The table's rows as JSON lines, or one for each file where there is no table and none is needed."""
        tables = [name for name in self.entries if name.lower().endswith(TABLES)]
        if not tables and self.field is not None and self.entries:
            yield from self._each(self.field.name)
        elif len(tables) == 1:
            yield from self._table(tables[0])
        else:
            told = _("There are %(n)s tables among these files; one is needed, in CSV or JSONL.", n=len(tables))
            raise errors.Invalid({"file": told})
        if self.refused:
            more = f", and {len(self.refused) - NAMED} more" if len(self.refused) > NAMED else ""
            told = "Nothing was added. Mend or leave out: " + "; ".join(self.refused[:NAMED]) + more
            raise errors.Invalid({"file": told})

    def _each(self, field: str) -> Iterator[str]:
        for batch in batches(sorted(self.entries, key=_natural)):
            made = [json.dumps({field: {"media": self._stored(name)}}) + "\n" for name in batch]
            self._write_down()
            yield from made

    def _table(self, name: str) -> Iterator[str]:
        with self.opened.open(self.entries[name]) as stream:
            rows = map(files.unwrap_fields, reader.read_stream(stream, reader.kind_of_file(name)))
            for batch in batches(rows):
                made = [self._line(row, PurePosixPath(name).parent) for row in batch]
                self._write_down()
                yield from made

    def _entries(self) -> dict[str, zipfile.ZipInfo]:
        found: dict[str, zipfile.ZipInfo] = {}
        for entry in self.opened.infolist():
            if entry.is_dir() or _junk(entry.filename):
                continue
            archives.refuse_others(entry)
            name = archives.checked_name(entry.orig_filename)
            if name in found:
                raise errors.Invalid({"file": _("Two files of the zip file are called %(name)s.", name=repr(name))})
            found[name] = entry
        return found

    def _line(self, row: FileRow, folder: PurePosixPath) -> str:
        if row.values is None:
            raise errors.Invalid({"file": f"Row {row.number} of the table: {row.error}"})
        values = {name: self._value(value, folder) for name, value in row.values.items()}
        return json.dumps(values, ensure_ascii=False) + "\n"

    def _value(self, value: Any, folder: PurePosixPath) -> Any:
        """A reference, where a cell (or the member `file` of an object) names a file of the archive; groups inside."""
        if isinstance(value, list):
            return [self._value(each, folder) for each in value]
        if isinstance(value, dict) and "file" not in value and "media" not in value:
            return {key: self._value(each, folder) for key, each in value.items()}
        name = value.get("file") if isinstance(value, dict) else value
        place = str(folder / name) if isinstance(name, str) and 0 < len(name) < archives.NAME else ""
        if place not in self.entries:
            return value
        if place not in self.known:
            self.known[place] = self._stored(place)
        more = {key: each for key, each in value.items() if key != "file"} if isinstance(value, dict) else {}
        return {"media": self.known[place], **more}

    def _stored(self, name: str) -> str:
        most = int(4 * 2**20 * max(self.settings.media_mb, self.settings.media_audio_mb))
        with self.opened.open(self.entries[name]) as stream:
            content = stream.read(min(most, self.left) + 1)
        self.left -= len(content)
        if self.left < 0:
            raise errors.Invalid({"file": _("This zip file is too large unpacked. Split it.")})
        try:
            if len(content) > most:
                raise UploadRefused(_("It is too large."))
            kept, facts = file_formats.check_upload(content, _kind(content), _limits(self.settings, content))
        except UploadRefused as problem:
            self.refused.append(f"{name}: {problem.told}")
            return ""
        digest = MediaStore.of(self.settings).put(kept)
        self.noted.append((digest, facts, PurePosixPath(name).name))
        return digest

    def _write_down(self) -> None:
        noted, self.noted = self.noted, []
        if noted:
            self.db.write(media.record_uploads, self.task, self.person_id, noted)


def _natural(name: str) -> list[tuple[int, str]]:
    """Return a key that sorts 2.png before 10.png."""
    return [(int(part), "") if part.isdecimal() else (0, part) for part in re.split(r"([0-9]+)", name)]


def _junk(name: str) -> bool:
    """Return whether an entry is one that file managers add."""
    parts = name.split("/")
    return parts[0] == "__MACOSX" or any(part.startswith(".") and part.strip(".") for part in parts)


def _kind(content: bytes) -> MediaKind:
    found = media_type_of(content).partition("/")[0]
    return "image" if found == "image" else "audio" if found == "audio" else "file"


def _limits(settings: Settings, content: bytes) -> UploadLimits:
    size = settings.media_audio_mb if _kind(content) == "audio" else settings.media_mb
    return UploadLimits(int(size * 2**20), settings.media_pixels, settings.media_seconds)
