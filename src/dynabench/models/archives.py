"""Model folders as zip files: read without trust, made the same byte by byte each time.

Reading looks at what is really there, not at what a header says: entries are counted before the list of them is read,
and bytes while they are inflated.
"""

import shutil
import stat
import struct
import tempfile
import unicodedata
import zipfile
import zlib
from pathlib import Path

from dynabench.kit.errors import Invalid
from dynabench.models import pickles, spec, zips
from dynabench.models.sandbox.keeper import HANDLER
from dynabench.models.zips import FILES

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
                zips.look_at_end(file)
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
        with zipfile.ZipFile(fresh, "w", zipfile.ZIP_STORED) as made:
            for path in own(folder):
                entry = zipfile.ZipInfo(checked_name(path.relative_to(folder).as_posix()), UNTOUCHED)
                entry.create_system, entry.external_attr = 3, (stat.S_IFREG | 0o644) << 16
                with path.open("rb") as source, made.open(entry, "w") as target:
                    shutil.copyfileobj(source, target, CHUNK)
        fresh.replace(archive)
    finally:
        fresh.unlink(missing_ok=True)
    return archive


def check(folder: Path) -> None:
    """Raises `Invalid` for a folder that is no model: by `model.yaml`, for pickles, and for a handler without code."""
    if not (folder / spec.FILE).is_file():
        inner = [path.parent.name for path in folder.glob(f"*/{spec.FILE}")]
        told = f"It lies in the folder {inner[0]!r}; pack what is in that folder." if inner else "There is none."
        raise Invalid({spec.FILE: f"An archive has {spec.FILE} at its top. {told}"})
    files = own(folder)
    if len(files) > FILES or sum(path.stat().st_size for path in files) > LARGEST:
        raise Invalid({"archive": TOO_MUCH})
    if wrong := pickles.found(folder, files):
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
        told = "is no path within the archive's folder"
    elif any(part.startswith(".") or part.endswith((".", " ")) or part in JUNK for part in parts):
        told = "is hidden, or has a name that some systems change; leave it out (`dynabench model pack` does)"
    elif len(name.encode(errors="surrogatepass")) > NAME or any(
        unicodedata.category(letter)[0] == "C" for letter in name
    ):
        told = f"is longer than {NAME} bytes or has characters that cannot be shown"
    else:
        return name
    raise Invalid({"archive": f"{name[:NAME]!r} {told}."})


def _write(opened: zipfile.ZipFile, folder: Path, packed: int) -> None:
    """All entries into the folder; raises `Invalid`."""
    entries = opened.infolist()
    seen: dict[str, str] = {}
    left = min(LARGEST, max(SLACK, RATIO * packed))
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
                left -= len(chunk)
                if left < 0:
                    told = f"Its files are more than {LARGEST // 2**30} GiB, or {RATIO} times as large as the archive."
                    raise Invalid({"archive": told})
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


def own(folder: Path) -> list[Path]:
    """The files of a folder by name, without hidden ones and caches; raises `Invalid` for links and devices."""
    found = []
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if spec.hidden(name):
            continue
        if path.is_symlink() or not (path.is_file() or path.is_dir()):
            raise Invalid({name.as_posix(): "A link or a device cannot be packed; put the file itself here."})
        if path.is_file():
            found.append(path)
    return found
