"""Model folders as zip files: read without trust, and written with the same bytes each time."""

import bz2
import gzip
import lzma
import os
import pickletools
import shutil
import stat
import struct
import tempfile
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Iterable
from io import BytesIO
from pathlib import Path
from typing import IO, Any

import numpy as np

from dynabench.kit.errors import Invalid
from dynabench.models import spec
from dynabench.models.sandbox.process import HANDLER

FILES = 2000
LISTING = 4 * 2**20
"""Bytes of an archive's list of entries."""
END, SIZE, ZIP64_LOCATOR, LOCATOR_SIZE = b"PK\5\6", 22, b"PK\6\7", 20


def check_zip_end(file: IO[bytes], files: int = FILES) -> None:
    """Raises ValueError for what is no zip file, and for a list of entries that would fill memory when it is read."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - LOCATOR_SIZE - SIZE - 0xFFFF))
    tail = file.read()
    place = tail.rfind(END)
    if place < 0 or len(tail) < place + SIZE:
        raise ValueError("it is no zip file, or not all of one")
    entries, listing = struct.unpack_from("<HL", tail, place + 10)
    if entries > files or listing > LISTING or tail[max(0, place - LOCATOR_SIZE) :].startswith(ZIP64_LOCATOR):
        raise ValueError(f"it has more than {files} files, or is larger than a plain zip file may be")


SUFFIXES = {".pkl", ".pickle", ".pt", ".pth", ".bin", ".joblib", ".ckpt", ".dill", ".p7", ".mar"}
REMEDY = "Save the weights as safetensors, or the model as ONNX."
NAMES = {"GLOBAL", "STACK_GLOBAL", "INST", "EXT1", "EXT2", "EXT4"}
"""What names code, without which a pickle is but data: so texts that happen to read as old pickles are let pass."""
HEAD = 1 << 16
PACKED: dict[bytes, Callable[[BytesIO], Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ": lzma.open,
}
PROTOCOLS = range(2, 6)
OPCODES = {code.code.encode("latin-1") for code in pickletools.opcodes}
ENOUGH = 20
"""Operations in a row that no text makes by chance."""


def find_pickles(folder: Path, files: Iterable[Path]) -> dict[str, str]:
    """Return the faults of some files, by their paths within the folder."""
    wrong = {}
    for path in files:
        with path.open("rb") as file:
            if fault := _pickle_fault(path.name, file):
                wrong[path.relative_to(folder).as_posix()] = f"{fault} {REMEDY}"
    return wrong


def _pickle_fault(name: str, file: IO[bytes], inside: bool = False) -> str:
    """Return the fault of one file; empty when it has none."""
    if Path(name).suffix.lower() in SUFFIXES:
        return f"{Path(name).suffix} files may be pickles, which run code when they are read."
    head = _head(file)
    if head.startswith(b"\x93NUMPY"):
        return "This array holds Python objects." if _objects(head) else ""
    if _pickled(name, head):
        return "This is a pickle, which runs code when it is read."
    for magic, opener in PACKED.items():
        if head.startswith(magic):
            return _pickle_fault("", BytesIO(_inflated(opener, head)), inside)
    if head.startswith(b"PK\3\4") and not inside:
        file.seek(0)
        return _archive_fault(file)
    return ""


def _archive_fault(file: IO[bytes]) -> str:
    """An archive within the model is data, unless one of its files is a pickle, as in what `torch.save` writes."""
    try:
        check_zip_end(file)
        with zipfile.ZipFile(file) as opened:
            for entry in opened.infolist():
                if entry.flag_bits & 1:
                    return "This archive is encrypted, so that nobody can look into it."
                with opened.open(entry) as inner:
                    if fault := _pickle_fault(entry.filename, inner, inside=True):
                        return f"In it lies {entry.filename[:80]!r}: {fault}"
    except (zipfile.BadZipFile, zlib.error, struct.error, EOFError, NotImplementedError, ValueError, OSError) as error:
        return f"This archive cannot be looked into: {error}."
    return ""


def _head(file: IO[bytes]) -> bytes:
    try:
        return file.read(HEAD)
    except (zlib.error, EOFError, zipfile.BadZipFile, OSError):
        return b""


def _inflated(opener: Callable[[BytesIO], Any], head: bytes) -> bytes:
    """As much as the beginning of a compressed file tells of its content, up to `HEAD` bytes."""
    parts, remaining = [], HEAD
    try:
        with opener(BytesIO(head)) as file:
            while remaining > 0 and (part := file.read(min(remaining, 512))):
                parts.append(part)
                remaining -= len(part)
    except (OSError, EOFError, zlib.error, lzma.LZMAError):
        pass
    return b"".join(parts)


def _objects(head: bytes) -> bool:
    """Return whether an array's header says that it holds pickled objects, or cannot be read."""
    file = BytesIO(head)
    read: dict[tuple[int, int], Any] = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }
    try:
        version = np.lib.format.read_magic(file)
        return bool(read[version](file)[2].hasobject)
    except (ValueError, KeyError):
        return True


def _pickled(name: str, head: bytes) -> bool:
    """Return whether these bytes begin as a pickle does.

    A pickle of a protocol since 2 is known by its mark, an older one by all of its operations. Where the
    length of a safetensors header looks like the mark, the header follows.
    """
    if head[:1] == b"\x80" and len(head) > 2 and head[1] in PROTOCOLS:
        return bytes(head[2:3]) in OPCODES and not (name.endswith(".safetensors") and head[8:10] == b'{"')
    names, count = False, 0
    try:
        for code, _, _ in pickletools.genops(head):
            names |= code.name in NAMES
            count += 1
    except Exception:
        return names and count > ENOUGH
    return names


LARGEST = 2 * 2**30
"""Bytes of all files together."""
RATIO, SLACK = 200, 16 * 2**20
"""How much larger than the archive the files may be, and from how many bytes on this counts."""
NAME = 200
"""Bytes of a file's path."""
CHUNK = 1 << 20
TOO_MUCH = f"An archive may have {FILES} files and {LARGEST // 2**30} GiB."
UNTOUCHED = (1980, 1, 1, 0, 0, 0)
"""The earliest time a zip file can hold; the same for every file, so that equal folders make equal archives."""
JUNK = {"__MACOSX", spec.CACHE}
UNREADABLE = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, ValueError, OSError, NotImplementedError)
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


def unpack(archive: Path, folder: Path) -> Path:
    """Write the archive's files into `folder`, which must not exist yet, and check the model in it.

    Raises `Invalid` with what is wrong by file, and then leaves nothing behind.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".unpacking-", ignore_cleanup_errors=True) as name:
        fresh = Path(name) / "model"
        fresh.mkdir()
        try:
            with archive.open("rb") as file:
                check_zip_end(file)
                with zipfile.ZipFile(file) as opened:
                    _write(opened, fresh, archive.stat().st_size)
        except UNREADABLE as error:
            raise Invalid(
                {"archive": f"This archive cannot be read: {error}. `dynabench model pack` makes one."}
            ) from error
        check(fresh)
        fresh.chmod(0o755)
        try:
            fresh.rename(folder)
        except OSError as error:
            raise Invalid({"archive": f"{folder} cannot be made: {error.strerror}"}) from error
    return folder


def pack(folder: Path, archive: Path) -> Path:
    """Write a model folder, checked, to a zip file that is the same whenever the files are.

    Hidden files and caches of Python are left out, links and devices refused. Nothing is compressed: weights hardly
    shrink, and each compressor would make other bytes. Raises `Invalid`.
    """
    if folder.resolve() in archive.resolve().parents:
        raise Invalid({"archive": f"{archive} lies in the folder that is to be packed; name a place outside it."})
    check(folder)
    fresh = archive.with_name(f".{archive.name}.part")
    try:
        with zipfile.ZipFile(fresh, "w", zipfile.ZIP_STORED) as packed:
            for path in model_files(folder):
                entry = zipfile.ZipInfo(checked_name(path.relative_to(folder).as_posix()), UNTOUCHED)
                entry.create_system, entry.external_attr = 3, (stat.S_IFREG | 0o644) << 16
                with path.open("rb") as source, packed.open(entry, "w") as target:
                    shutil.copyfileobj(source, target, CHUNK)
        fresh.replace(archive)
    finally:
        fresh.unlink(missing_ok=True)
    return archive


def check(folder: Path) -> None:
    """Raises `Invalid` for a folder that is no model: by `model.yaml`, for pickles, and for a handler without code."""
    if not (folder / spec.FILE).is_file():
        inner = [path.parent.name for path in folder.glob(f"*/{spec.FILE}")]
        hint = f"It lies in the folder {inner[0]!r}; pack what is in that folder." if inner else "There is none."
        raise Invalid({spec.FILE: f"An archive has {spec.FILE} at its top. {hint}"})
    files = model_files(folder)
    if len(files) > FILES or sum(path.stat().st_size for path in files) > LARGEST:
        raise Invalid({"archive": TOO_MUCH})
    if wrong := find_pickles(folder, files):
        raise Invalid(wrong)
    if spec.read(folder).kind == "handler" and not (folder / HANDLER).is_file():
        raise Invalid({HANDLER: f"A handler is a file {HANDLER} with a class Model."})


def checked_name(name: str) -> str:
    """An entry's name, if it can be a path within a folder on any system; raises `Invalid`.

    Hidden names are refused, for a model's version does not cover them.
    """
    parts = name.rstrip("/").split("/")
    if (
        not name
        or name.startswith("/")
        or "\\" in name
        or ":" in name
        or any(part in ("", "..", ".") for part in parts)
    ):
        fault = "is no path within the archive's folder"
    elif any(part.startswith(".") or part.endswith((".", " ")) or part in JUNK for part in parts):
        fault = "is hidden, or has a name that some systems change; leave it out (`dynabench model pack` does)"
    elif len(name.encode(errors="surrogatepass")) > NAME or any(
        unicodedata.category(letter)[0] == "C" for letter in name
    ):
        fault = f"is longer than {NAME} bytes or has characters that cannot be shown"
    else:
        return name
    raise Invalid({"archive": f"{name[:NAME]!r} {fault}."})


def _write(opened: zipfile.ZipFile, folder: Path, packed: int) -> None:
    """All entries into the folder; raises `Invalid`."""
    entries = opened.infolist()
    seen: dict[str, str] = {}
    remaining = min(LARGEST, max(SLACK, RATIO * packed))
    for entry in entries:
        name = checked_name(entry.orig_filename)
        _refuse_twins(seen, name)
        refuse_others(entry)
        target = folder / name
        if entry.is_dir():
            target.mkdir(parents=True, exist_ok=True)
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        with opened.open(entry) as source, target.open("xb") as written:
            while chunk := source.read(CHUNK):
                remaining -= len(chunk)
                if remaining < 0:
                    message = (
                        f"Its files are more than {LARGEST // 2**30} GiB, or {RATIO} times as large as the archive."
                    )
                    raise Invalid({"archive": message})
                written.write(chunk)
        target.chmod(0o644)
    for inner in folder.rglob("*"):
        if inner.is_dir():
            inner.chmod(0o755)


def _refuse_twins(seen: dict[str, str], name: str) -> None:
    """Names that some file system takes for the same, and files that are folders too."""
    path, parts = "", name.rstrip("/").split("/")
    for depth, part in enumerate(parts):
        path = f"{path}/{part}" if path else part
        folder = depth < len(parts) - 1 or name.endswith("/")
        key = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", path).casefold())
        mark = f"{path}/" if folder else path
        if key in seen and (seen[key] != mark or not folder):
            raise Invalid({"archive": f"{mark!r} and {seen[key]!r} would be the same file on some systems."})
        seen[key] = mark
    if len(seen) > 2 * FILES:
        raise Invalid({"archive": TOO_MUCH})


def refuse_others(entry: zipfile.ZipInfo) -> None:
    """Raise `Invalid` for an archive entry that is not allowed.

    Refused are links and devices (all but plain files and folders), encrypted entries, and entries
    that are neither stored nor deflated.
    """
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise Invalid({"archive": f"{entry.filename!r} is a link or a device; only files and folders may be packed."})
    if entry.flag_bits & 1:
        raise Invalid({"archive": f"{entry.filename!r} is encrypted; pack it without a password."})
    if entry.compress_type not in METHODS:
        raise Invalid({"archive": f"{entry.filename!r} is compressed in a rare way; use deflate, or none."})


def model_files(folder: Path) -> list[Path]:
    """The files of a folder by name, without hidden ones and caches; raises `Invalid` for links and devices."""
    paths = []
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if spec.hidden(name):
            continue
        if path.is_symlink() or not (path.is_file() or path.is_dir()):
            raise Invalid({name.as_posix(): "A link or a device cannot be packed; put the file itself here."})
        if path.is_file():
            paths.append(path)
    return paths
