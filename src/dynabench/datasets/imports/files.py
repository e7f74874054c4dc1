"""Exports with files, read back: the files are checked and stored, the rows become a plain file."""

import hashlib
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from dynabench.kit import errors
from dynabench.kit.db import Database
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.media import service as media
from dynabench.media.file_formats import MediaFacts, UploadRefused
from dynabench.media.store import DIGEST, MediaStore
from dynabench.media.tables import Media
from dynabench.models import archives
from dynabench.rounds.context_files import MOST_FILES, UNREADABLE

ROWS, FOLDER = "rows.jsonl", "media/"
LARGEST_ROWS = 8 * 2**30  # bytes of the rows
REFERENCE = re.compile(r'("media": ?")([0-9a-f]{64})(")')


def is_export_zip(path: Path) -> bool:
    """Return whether a file is an export with files."""
    if not zipfile.is_zipfile(path):
        return False
    with path.open("rb") as file:
        try:
            archives.check_zip_end(file, MOST_FILES)
            with zipfile.ZipFile(file) as opened:
                return ROWS in opened.namelist()
        except UNREADABLE:
            return False


def extract_rows(db: Database, settings: Settings, task: str, person_id: int | None, path: Path, target: Path) -> Path:
    """Store the files of the export at `path` and write its rows to `target`.

    A file that is here already stays as it is; any other is checked as an upload is, and rows refer to what is kept of
    it. Raises `Invalid` under `file`.
    """
    try:
        with path.open("rb") as file:
            archives.check_zip_end(file, MOST_FILES)
            with zipfile.ZipFile(file) as opened:
                stored_names = dict(_store_files(db, settings, task, person_id, opened))
                _write_rows(opened, target, stored_names)
    except UNREADABLE as problem:
        raise errors.Invalid({"file": f"This zip file cannot be read: {str(problem)[:100]}"}) from None
    return target


def _store_files(
    db: Database, settings: Settings, task: str, person_id: int | None, opened: zipfile.ZipFile
) -> Iterator[tuple[str, str]]:
    """The digest under which each file is kept, by the one that it is called."""
    most = int(4 * 2**20 * max(settings.media_mb, settings.media_audio_mb))
    for entry in opened.infolist():
        archives.refuse_others(entry)
        named = PurePosixPath(archives.checked_name(entry.orig_filename)).stem
        if entry.is_dir() or not entry.filename.startswith(FOLDER) or not DIGEST.fullmatch(named):
            continue
        with opened.open(entry) as stream:
            content = stream.read(most + 1)
        if len(content) > most:
            raise errors.Invalid({"file": _("%(value)s is too large.", value=entry.filename[:80])})
        try:
            yield named, store_file(db, settings, task, person_id, named, content)
        except UploadRefused as problem:
            raise errors.Invalid({"file": f"{entry.filename[:80]}: {problem.detail}"}) from None


def store_file(db: Database, settings: Settings, task: str, person_id: int | None, named: str, content: bytes) -> str:
    """The digest under which a file that was called `named` is kept for a task; raises `Refused`."""
    same = hashlib.sha256(content).hexdigest() == named  # else a person who names a file would get to see it
    for media_row in db.read(lambda session: session.scalars(media.stored_media([named] if same else [])).all()):
        db.write(media.record_upload, task, person_id, named, _media_facts(media_row))
        return named
    plain, facts = media.check_file(settings, content)
    digest = MediaStore.of(settings).put(plain)
    db.write(media.record_upload, task, person_id, digest, facts)
    return digest


def _media_facts(media_row: Media) -> MediaFacts:
    size = (media_row.size, media_row.width, media_row.height, media_row.seconds)
    return MediaFacts(media_row.kind, media_row.type, *size)  # type: ignore[arg-type]


def _write_rows(opened: zipfile.ZipFile, target: Path, stored_names: dict[str, str]) -> None:
    bytes_left = LARGEST_ROWS
    with opened.open(ROWS) as stream, target.open("w", encoding="utf-8") as out:
        for line in stream:
            bytes_left -= len(line)
            if bytes_left < 0:
                raise errors.TooLarge(_("This zip file is too large when unpacked. Split it."))
            text = line.decode("utf-8")
            out.write(REFERENCE.sub(lambda found: f"{found[1]}{stored_names.get(found[2], found[2])}{found[3]}", text))
