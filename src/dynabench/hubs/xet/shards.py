"""Shards: lists of files, each with the parts of xorbs of which it consists. Read file by file, in bounded memory."""

import struct
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from dynabench.hubs.problems import BrokenUpload
from dynabench.hubs.xet.hashing import HASH_BYTES, hash_text
from dynabench.kit.language import _

MARK = b"HFRepoMetaData\0" + bytes.fromhex("556967456a7b815783a5bdd95ccdd14aa9")
VERSION = 2
ENTRY = struct.Struct("<32s4I")
HEADER = struct.Struct("<32sQQ")
BOOKEND = b"\xff" * HASH_BYTES
VERIFIED, DESCRIBED = 1 << 31, 1 << 30
"""Flags of a file: a hash for each part, and its SHA-256."""
MOST_BYTES = 64 * 2**20
MOST_TERMS = 250_000
"""Parts of one file."""


class ShardTerm(NamedTuple):
    """A part of a file: chunks of a xorb, their bytes, and the hash that proves that the client has them."""

    xorb: str
    size: int
    first: int
    end: int
    proof: bytes


class ShardFile(NamedTuple):
    """A file of a shard: its Xet hash, its SHA-256 in hexadecimal digits, and its parts."""

    hash: bytes
    digest: str
    terms: list[ShardTerm]

    @property
    def size(self) -> int:
        """The bytes of the file."""
        return sum(term.size for term in self.terms)


def _broken() -> BrokenUpload:
    return BrokenUpload(_("This is no valid shard, or it ends too early. Nothing was saved."))


def _entry(file: BinaryIO) -> tuple[bytes, int, int, int, int]:
    content = file.read(ENTRY.size)
    if len(content) < ENTRY.size:
        raise _broken()
    return ENTRY.unpack(content)


def shard_files(file: BinaryIO) -> Iterator[ShardFile]:
    """Yield the files of a shard. Raises `BrokenUpload`, also where the list of xorbs after them is damaged."""
    header = file.read(HEADER.size)
    if len(header) < HEADER.size or HEADER.unpack(header)[:2] != (MARK, VERSION):
        raise _broken()
    while (head := _entry(file))[0] != BOOKEND:
        yield _read_file(file, *head[:3])
    while (head := _entry(file))[0] != BOOKEND:
        for _number in range(head[2]):
            _entry(file)


def _read_file(file: BinaryIO, value: bytes, flags: int, count: int) -> ShardFile:
    if not flags & VERIFIED or not flags & DESCRIBED or count > MOST_TERMS:
        raise _broken()
    parts = [_entry(file) for _number in range(count)]
    proofs = [_entry(file)[0] for _number in range(count)]
    # The SHA-256 is written like the other hashes: its digits are four little-endian numbers.
    digest = hash_text(_entry(file)[0])
    terms = [
        ShardTerm(hash_text(xorb), size, first, end, proof)
        for (xorb, _flags, size, first, end), proof in zip(parts, proofs, strict=True)
    ]
    return ShardFile(value, digest, terms)
