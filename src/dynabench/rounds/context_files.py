"""Contexts from files: rows of a table, and zips of a table with the media files that its cells name."""

import json
import re
import shutil
import struct
import uuid
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Any
from uuid import UUID

from dynabench.intake import reader
from dynabench.intake.mapping import ColumnMapping
from dynabench.intake.rows import FileRow
from dynabench.kit import errors
from dynabench.kit.db import Database
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.media import service as media
from dynabench.media.file_formats import MediaFacts, UploadRefused
from dynabench.media.store import MediaStore
from dynabench.models import archives
from dynabench.rounds import contexts, service, uploaded_files
from dynabench.rounds.contexts import ContextRow, UploadResult, split_batches
from dynabench.tasks import TaskConfig
from dynabench.tasks.fields import MediaField

WRAPPERS = ("values", "context")  # members that hold a row's fields; `context` is the older platform's


def upload_contexts(
    db: Database, task_id: str, file: Path, progress: Callable[[int], object], mapping: ColumnMapping | None = None
) -> UploadResult:
    """Store a file's contexts, a batch per transaction; `progress` is told the bytes read so far.

    Lines are counted from 1 (in CSV the header is line 1). Raises `Invalid` for a file of another kind.
    """
    config = db.read(service.newest_config, task_id)
    result = UploadResult()
    rows = (context_row(config, row, mapping) for row in read_fields(file, progress))
    for batch in contexts.split_batches(rows):
        result += db.write(contexts.add_contexts, task_id, config, batch)
    db.write(service.record_act, None, "contexts.uploaded", task=task_id, created=result.created)
    return result


def job_mapping(payload: dict[str, Any]) -> ColumnMapping | None:
    """Return the mapping in a job's payload; None means that the columns are called like the fields."""
    return ColumnMapping.model_validate(payload["mapping"]) if payload.get("mapping") else None


def read_fields(file: Path, progress: Callable[[int], object] = lambda _: None) -> Iterator[FileRow]:
    """Yield the rows of a file; fields that are wrapped in `values` stand beside the other members."""
    return map(unwrap_fields, reader.read_rows(file, progress=progress))


def unwrap_fields(row: FileRow) -> FileRow:
    """Return a row whose fields were wrapped in `values` or `context` with these fields, its `tag` and `language`."""
    wrapped = (row.values.get(name) for name in WRAPPERS) if row.values else ()
    fields = next((values for values in wrapped if isinstance(values, dict)), None)
    if fields is None or row.values is None:
        return row
    beside: dict[str, Any] = {name: row.values[name] for name in ("tag", "language") if name in row.values}
    return FileRow(row.number, {**fields, **beside})


def context_row(config: TaskConfig, row: FileRow, mapping: ColumnMapping | None = None) -> ContextRow:
    """Return a row of a file as a context; without a mapping its columns are the fields, `tag` and `language`.

    Where the task has a context field `language`, the column of this name is that field.
    """
    if row.values is None:
        return ContextRow(row.number, None, error=row.error)
    is_field = any(field.name == "language" for field in config.context)
    language = "" if is_field else row.values.get("language", "")
    if mapping is None:
        values = {name: value for name, value in row.values.items() if is_field or name != "language"}
        return ContextRow(row.number, values, values.pop("tag", ""), language=language)
    values, tag = mapping.read_context(row.values)
    return ContextRow(row.number, values, str(tag) if isinstance(tag, int | float) else tag, language=language)


ZIP_ENDING = ".zip"
MOST_FILES = 20_000
LARGEST_TOTAL = 2 * 2**30  # bytes of all files together
TABLES = (".csv", ".tsv", ".jsonl", ".ndjson")
MOST_NAMED_FILES = 5  # refused files that a message names
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


def sole_media_field(config: TaskConfig) -> MediaField | None:
    """The field of a context that files without a table fill: the only one of its kind, where no other is required."""
    media_fields = [field for field in config.context if isinstance(field, MediaField)]
    others = [field for field in config.context if field.required and field not in media_fields]
    return media_fields[0] if len(media_fields) == 1 and not others else None


def pack_files(settings: Settings, task: str, sent: Sequence[tuple[str, Any]]) -> UUID:
    """Keep files that were sent together, names and open files, as the zip that might have been sent instead."""
    id = uuid.uuid4()
    place = uploaded_files.uploads_folder(settings, task)
    uploaded_files.sweep_folder(place)
    with zipfile.ZipFile(place / f"{id}{ZIP_ENDING}", "x") as packed:
        for name, file in sent:
            with packed.open(PurePosixPath(name.replace("\\", "/")).name[-120:], "w") as entry:
                shutil.copyfileobj(file, entry)
    return id


def extract_zip_rows(db: Database, settings: Settings, task: str, person_id: int | None, path: Path) -> Path:
    """Store the files of the zip at `path`, put a JSONL file of its rows beside it, and throw the zip away.

    Raises `Invalid` under `file` for what is no honest archive, and for files that are not taken, which it names; what
    was stored until then is thrown away with whatever nothing shows.
    """
    target = path.with_suffix(".jsonl")
    try:
        with path.open("rb") as file:
            archives.check_zip_end(file, MOST_FILES)
            with zipfile.ZipFile(file) as opened, target.open("x", encoding="utf-8") as out:
                reader = _ZipReader(db, settings, task, person_id, opened, path.stat().st_size)
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


class _ZipReader:
    """Reads one archive; remembers what was stored, since many rows may name one file."""

    def __init__(
        self, db: Database, settings: Settings, task: str, person_id: int | None, opened: zipfile.ZipFile, packed: int
    ) -> None:
        self.db, self.settings, self.task, self.person_id, self.opened = db, settings, task, person_id, opened
        self.bytes_left = min(LARGEST_TOTAL, max(archives.SLACK, archives.RATIO * packed))
        self.entries = self._entries()
        self.field = sole_media_field(db.read(service.newest_config, task))
        self.digests: dict[str, str] = {}
        self.unrecorded: list[tuple[str, MediaFacts, str]] = []
        self.refused: list[str] = []

    def lines(self) -> Iterator[str]:
        """The table's rows as JSON lines, or one for each file where there is no table and none is needed."""
        tables = [name for name in self.entries if name.lower().endswith(TABLES)]
        if not tables and self.field is not None and self.entries:
            yield from self._file_lines(self.field.name)
        elif len(tables) == 1:
            yield from self._table(tables[0])
        else:
            message = _("These files contain %(n)s tables; exactly one is needed, in CSV or JSONL.", n=len(tables))
            raise errors.Invalid({"file": message})
        if self.refused:
            more = f", and {len(self.refused) - MOST_NAMED_FILES} more" if len(self.refused) > MOST_NAMED_FILES else ""
            message = "Nothing was added. Mend or leave out: " + "; ".join(self.refused[:MOST_NAMED_FILES]) + more
            raise errors.Invalid({"file": message})

    def _file_lines(self, field: str) -> Iterator[str]:
        for batch in split_batches(sorted(self.entries, key=_natural)):
            lines = [json.dumps({field: {"media": self._stored(name)}}) + "\n" for name in batch]
            self._write_down()
            yield from lines

    def _table(self, name: str) -> Iterator[str]:
        with self.opened.open(self.entries[name]) as stream:
            rows = map(unwrap_fields, reader.read_stream(stream, reader.kind_of_file(name)))
            for batch in split_batches(rows):
                lines = [self._line(row, PurePosixPath(name).parent) for row in batch]
                self._write_down()
                yield from lines

    def _entries(self) -> dict[str, zipfile.ZipInfo]:
        entries: dict[str, zipfile.ZipInfo] = {}
        for entry in self.opened.infolist():
            if entry.is_dir() or _junk(entry.filename):
                continue
            archives.refuse_others(entry)
            name = archives.checked_name(entry.orig_filename)
            if name in entries:
                raise errors.Invalid({"file": _("Two files in the zip file are called %(name)s.", name=repr(name))})
            entries[name] = entry
        return entries

    def _line(self, row: FileRow, folder: PurePosixPath) -> str:
        if row.values is None:
            raise errors.Invalid({"file": f"Row {row.number} of the table: {row.error}"})
        values = {name: self._value(value, folder) for name, value in row.values.items()}
        return json.dumps(values, ensure_ascii=False) + "\n"

    def _value(self, value: Any, folder: PurePosixPath) -> Any:
        """A reference, where a cell (or the member `file` of an object) names a file of the archive; groups inside."""
        if isinstance(value, list):
            return [self._value(member, folder) for member in value]
        if isinstance(value, dict) and "file" not in value and "media" not in value:
            return {key: self._value(member, folder) for key, member in value.items()}
        name = value.get("file") if isinstance(value, dict) else value
        place = str(folder / name) if isinstance(name, str) and 0 < len(name) < archives.NAME else ""
        if place not in self.entries:
            return value
        if place not in self.digests:
            self.digests[place] = self._stored(place)
        more = {key: member for key, member in value.items() if key != "file"} if isinstance(value, dict) else {}
        return {"media": self.digests[place], **more}

    def _stored(self, name: str) -> str:
        most = int(4 * 2**20 * max(self.settings.media_mb, self.settings.media_audio_mb))
        with self.opened.open(self.entries[name]) as stream:
            content = stream.read(min(most, self.bytes_left) + 1)
        self.bytes_left -= len(content)
        if self.bytes_left < 0:
            raise errors.Invalid({"file": _("This zip file is too large when unpacked. Split it.")})
        try:
            if len(content) > most:
                raise UploadRefused(_("The file is too large."))
            stored, facts = media.check_file(self.settings, content)
        except UploadRefused as problem:
            self.refused.append(f"{name}: {problem.detail}")
            return ""
        digest = MediaStore.of(self.settings).put(stored)
        self.unrecorded.append((digest, facts, PurePosixPath(name).name))
        return digest

    def _write_down(self) -> None:
        batch, self.unrecorded = self.unrecorded, []
        if batch:
            self.db.write(media.record_uploads, self.task, self.person_id, batch)


def _natural(name: str) -> list[tuple[int, str]]:
    """Return a key that sorts 2.png before 10.png."""
    return [(int(part), "") if part.isdecimal() else (0, part) for part in re.split(r"([0-9]+)", name)]


def _junk(name: str) -> bool:
    """Return whether an entry is one that file managers add."""
    parts = name.split("/")
    return parts[0] == "__MACOSX" or any(part.startswith(".") and part.strip(".") for part in parts)
