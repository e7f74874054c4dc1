"""Pickled objects among files: known by their suffix and by what they hold, whatever they are called.

Unpickling runs code. Sources: the module pickletools, numpy's NEP 1 (.npy), PyTorch's zip files that hold `data.pkl`.
"""

import bz2
import gzip
import lzma
import pickletools
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterable
from io import BytesIO
from pathlib import Path
from typing import IO, Any

import numpy as np

from dynabench.models import zips

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


def found(folder: Path, files: Iterable[Path]) -> dict[str, str]:
    """Return the faults of some files, by their paths within the folder."""
    wrong = {}
    for path in files:
        with path.open("rb") as file:
            if told := _told(path.name, file):
                wrong[path.relative_to(folder).as_posix()] = f"{told} {REMEDY}"
    return wrong


def _told(name: str, file: IO[bytes], inside: bool = False) -> str:
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
            return _told("", BytesIO(_inflated(opener, head)), inside)
    if head.startswith(b"PK\3\4") and not inside:
        file.seek(0)
        return _told_archive(file)
    return ""


def _told_archive(file: IO[bytes]) -> str:
    """An archive within the model is data, unless one of its files is a pickle, as in what `torch.save` writes."""
    try:
        zips.look_at_end(file)
        with zipfile.ZipFile(file) as opened:
            for entry in opened.infolist():
                if entry.flag_bits & 1:
                    return "This archive is encrypted, so that nobody can look into it."
                with opened.open(entry) as inner:
                    if told := _told(entry.filename, inner, inside=True):
                        return f"In it lies {entry.filename[:80]!r}: {told}"
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
    parts, left = [], HEAD
    try:
        with opener(BytesIO(head)) as file:
            while left > 0 and (part := file.read(min(left, 512))):
                parts.append(part)
                left -= len(part)
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
