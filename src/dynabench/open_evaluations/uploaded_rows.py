"""The rows of an uploaded file: a table, a zip of tables or pictures, or words and tags in lines."""

import zipfile
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from dynabench.intake import reader, sources
from dynabench.intake.rows import FileRow, read_lines
from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.open_evaluations.picture_folders import ZippedPictures
from dynabench.open_evaluations.picture_metadata import ENDINGS

TAG_FILES = (".conll", ".bio", ".iob", ".iob2")
"""Endings of files with a word and its tag in each line, and empty lines between sentences."""
DOCUMENT = "-DOCSTART-"
MOST_WORDS = 10_000


def require_known_kind(name: str) -> None:
    """Raise `Invalid` under `file` for a name that tells no kind of file that can be read."""
    if not name.lower().endswith(TAG_FILES):
        sources.kind_of_source(name)


def read_upload(path: Path, name: str, split: str = "") -> Iterator[FileRow]:
    """Yield the rows of a file that is called `name`; raises `Invalid` or `TooLarge`."""
    if name.lower().endswith(TAG_FILES):
        with path.open("rb") as stream:
            reader.refuse_utf16(stream)
            yield from _read_tags(stream)
        return
    pictures = ZippedPictures.open(path, name)
    if pictures and pictures.metadata:
        yield from pictures.metadata_rows(split)
        return
    if pictures and not pictures.tables:
        yield from pictures.folder_rows()
        return
    with sources.open_source(path, name, split) as files:
        for file, file_name in files:
            rows = reader.read_rows(file, file_name)
            yield from pictures.fill(rows) if pictures else rows


def pack_folder(folder: Path, into: Path) -> Path:
    """Make a zip file in `into` of the pictures and tables of a folder, named as it; links out of it are left out.

    Raises `Invalid` for more files or bytes than one dataset has, and for none.
    """
    root = folder.resolve()
    kinds = (*reader.KINDS, *ENDINGS)
    paths = [
        path
        for path in sorted(root.rglob("*"))
        if (path.name == sources.CARD or path.name.lower().endswith(kinds))
        and path.is_file()
        and path.resolve().is_relative_to(root)
    ]
    size = sum(path.stat().st_size for path in paths)
    if not paths or len(paths) > sources.MOST_ENTRIES or size > sources.MOST_BYTES:
        message = _("%(name)s has %(n)s files of data. Give a folder with 1 to %(most)s, of at most 1 GiB in all.",
                    name=folder, n=len(paths), most=sources.MOST_ENTRIES)  # fmt: skip
        raise errors.Invalid({"dataset": message})
    target = into / f"{root.name}{sources.ZIP}"
    with zipfile.ZipFile(target, "w") as archive:
        for path in paths:
            archive.write(path, path.relative_to(root).as_posix())
    return target


def upload_class_names(path: Path, name: str, split: str = "") -> dict[str, list[str]]:
    """Return the names of classes that the file says: those of folders, or beside the schema of Parquet."""
    pictures = ZippedPictures.open(path, name)
    if pictures and not pictures.tables:
        return {"label": pictures.folder_names()}
    if not name.lower().endswith((".parquet", sources.ZIP)) or (pictures and pictures.metadata):
        return {}
    with sources.open_source(path, name, split) as files:
        parquet = [file for file, file_name in files if file_name.lower().endswith(".parquet")]
        return reader.read_class_names(parquet[0]) if parquet else {}


def _read_tags(stream: BinaryIO) -> Iterator[FileRow]:
    """Yield the sentences: `tokens` are the first column of their lines, `tags` the last."""
    words: list[str] = []
    tags: list[str] = []
    number, fault = 0, ""
    for _line, content in chain(read_lines(stream), [(0, b"")]):  # an empty line ends the last sentence
        line = content.decode("utf-8", "replace").strip()
        if not line or line.startswith(DOCUMENT):
            if words or fault:
                number += 1
                yield FileRow(number, None if fault else {"tokens": words, "tags": tags}, fault)
            words, tags, fault = [], [], ""
            continue
        parts = line.split("\t") if "\t" in line else line.split()
        if "\ufffd" in line:
            fault = _("This is not valid UTF-8.")
        elif len(parts) < 2 or len(words) >= MOST_WORDS:
            fault = fault or _("A line needs a word and its tag: %(line)s", line=line[:60])
        else:
            words.append(parts[0].strip())
            tags.append(parts[-1].strip())
    if not number:
        raise errors.Invalid({"file": _("There are no sentences in this file.")})
