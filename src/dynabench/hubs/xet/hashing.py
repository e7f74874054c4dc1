"""Hashes of the Xet protocol: keyed BLAKE3 over chunks, a tree over the chunks of a xorb or a file."""

import re
import struct
from collections.abc import Iterable

from blake3 import blake3

HASH_BYTES = 32
HASH_TEXT = re.compile(r"[0-9a-f]{64}")
CHUNK_KEY = bytes.fromhex("6697f5775b9550de3135cbaca597181c9de421109beb2b58b4d0b04b93adf229")
NODE_KEY = bytes.fromhex("017ec5c7a5472996fd946666b48a02e65ddd536f37c76dd2f86352e64a53713f")
TERM_KEY = bytes.fromhex("7f1857d6ce56ed66127ff913e7a5c3f3a4cd26d5b5db49e64124987f28fb94c3")
FILE_KEY = bytes(HASH_BYTES)
BRANCHES, MOST_BRANCHES = 4, 9
"""The mean and the largest number of children of a node."""


def chunk_hash(content: bytes) -> bytes:
    """Return the hash of a chunk."""
    return blake3(content, key=CHUNK_KEY).digest()


def term_hash(chunk_hashes: Iterable[bytes]) -> bytes:
    """Return the hash by which a client proves that it has the chunks of a part of a file."""
    return blake3(b"".join(chunk_hashes), key=TERM_KEY).digest()


def hash_text(value: bytes) -> str:
    """Return a hash as it stands in addresses: four little-endian numbers in hexadecimal digits."""
    return "".join(f"{number:016x}" for number in _numbers(value))


def _numbers(value: bytes) -> tuple[int, ...]:
    return struct.unpack("<4Q", value)


class ChunkTree:
    """The tree over a sequence of chunks, built as they come: only unfinished nodes are held."""

    def __init__(self) -> None:
        self._waiting: list[list[tuple[bytes, int]]] = []  # children of the open node, by level
        self._counts: list[int] = []

    def add(self, value: bytes, size: int) -> None:
        """Add a chunk by its hash and its bytes."""
        self._add(0, value, size)

    def _add(self, level: int, value: bytes, size: int) -> None:
        if level == len(self._waiting):
            self._waiting.append([])
            self._counts.append(0)
        children = self._waiting[level]
        children.append((value, size))
        self._counts[level] += 1
        cuts = len(children) > 2 and _numbers(value)[3] % BRANCHES == 0
        if cuts or len(children) == MOST_BRANCHES:
            self._close(level)

    def _close(self, level: int) -> None:
        children = self._waiting[level]
        lines = "".join(f"{hash_text(value)} : {size}\n" for value, size in children)
        total = sum(size for _value, size in children)
        children.clear()
        self._add(level + 1, blake3(lines.encode(), key=NODE_KEY).digest(), total)

    def root(self) -> bytes:
        """Return the hash of all chunks; zeros for none. Nothing can be added afterwards."""
        level = 0
        while level < len(self._waiting):
            children = self._waiting[level]
            if self._counts[level] == 1 and children:
                return children[0][0]
            if children:
                self._close(level)
            level += 1
        return bytes(HASH_BYTES)

    def file_hash(self) -> bytes:
        """Return the hash of a file that consists of these chunks."""
        root = self.root()
        return blake3(root, key=FILE_KEY).digest() if any(root) else root
