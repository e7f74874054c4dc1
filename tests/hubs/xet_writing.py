"""Xorbs and shards as a client writes them, for tests that change one byte of what a client would send."""

import hashlib
import struct
from collections.abc import Sequence

from dynabench.hubs.xet.hashing import ChunkTree, chunk_hash, hash_text, term_hash
from dynabench.hubs.xet.shards import BOOKEND, DESCRIBED, MARK, VERIFIED

CHUNK = 64 * 1024


def split(content: bytes, size: int = CHUNK) -> list[bytes]:
    """Cut a content into chunks."""
    return [content[start : start + size] for start in range(0, len(content), size)]


def tree_of(chunks: Sequence[bytes]) -> ChunkTree:
    """Return the tree over chunks."""
    tree = ChunkTree()
    for chunk in chunks:
        tree.add(chunk_hash(chunk), len(chunk))
    return tree


def packed_chunk(packed: bytes, size: int, compression: int = 0, version: int = 0) -> bytes:
    """Return a chunk with its header."""
    sizes = (len(packed).to_bytes(3, "little"), size.to_bytes(3, "little"))
    return bytes([version]) + sizes[0] + bytes([compression]) + sizes[1] + packed


def xorb_of(chunks: Sequence[bytes]) -> tuple[str, bytes]:
    """Return the hash and the bytes of a xorb without compression."""
    return hash_text(tree_of(chunks).root()), b"".join(packed_chunk(chunk, len(chunk)) for chunk in chunks)


def hash_bytes(text: str) -> bytes:
    """Return a hash from its text."""
    return struct.pack("<4Q", *(int(text[start : start + 16], 16) for start in range(0, 64, 16)))


def entry(value: bytes, *numbers: int) -> bytes:
    """Return an entry of a shard: 48 bytes."""
    return struct.pack("<32s4I", value, *numbers, *[0] * (4 - len(numbers)))


def shard_of(
    chunks: Sequence[bytes],
    *,
    xorb: str = "",
    digest: str = "",
    size: int = -1,
    end: int = -1,
    proof: bytes = b"",
    name: bytes = b"",
    flags: int = VERIFIED | DESCRIBED,
    repeated: int = 1,
) -> bytes:
    """Return a shard with one file that has all chunks of one xorb; arguments replace single facts by lies."""
    content = b"".join(chunks) * repeated
    term = entry(
        hash_bytes(xorb or xorb_of(chunks)[0]),
        0,
        len(content) // repeated if size < 0 else size,
        0,
        len(chunks) if end < 0 else end,
    )
    file = [
        entry(name or tree_of(list(chunks) * repeated).file_hash(), flags, repeated),
        term * repeated,
        entry(proof or term_hash(chunk_hash(chunk) for chunk in chunks)) * repeated,
        entry(hash_bytes(digest or hashlib.sha256(content).hexdigest())),
    ]
    return struct.pack("<32sQQ", MARK, 2, 0) + b"".join(file) + entry(BOOKEND) + entry(BOOKEND)
