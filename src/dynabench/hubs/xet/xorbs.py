"""Xorbs: files of compressed chunks, checked when they come and read by chunk numbers afterwards.

A chunk has a header of eight bytes: version, size here, kind of compression, size of its content. What follows the
last chunk repeats facts that the chunks have, and is not read.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
import pyarrow as pa

from dynabench.hubs.problems import BrokenUpload
from dynabench.hubs.xet.hashing import ChunkTree, chunk_hash, hash_text
from dynabench.kit.language import _

HEADER_BYTES = 8
FOOTER = b"XETBLOB"
MOST_CHUNK = 128 * 1024
MOST_CONTENT = 64 * 2**20
"""Bytes of the chunks of a xorb, unpacked."""
MOST_BYTES = MOST_CONTENT + 4 * 2**20
"""Bytes of a xorb as it is sent: content that cannot be compressed, headers, and what follows the chunks."""
MOST_CHUNKS = 32 * 1024
PLAIN, LZ4, GROUPED = 0, 1, 2


class ChunkPlace(NamedTuple):
    """The place of a chunk in a xorb, its compression, and its bytes unpacked."""

    start: int
    packed: int
    compression: int
    size: int


class Chunk(NamedTuple):
    """A chunk with its hash."""

    hash: bytes
    content: bytes


def _broken(message: str) -> BrokenUpload:
    return BrokenUpload(_("This is no valid xorb: %(message)s Nothing was saved.", message=message))


def chunk_places(file: BinaryIO) -> list[ChunkPlace]:
    """Return the places of all chunks of a xorb. Raises `BrokenUpload`."""
    places: list[ChunkPlace] = []
    total, start, end = 0, 0, file.seek(0, 2)
    while start < end:
        file.seek(start)
        header = file.read(HEADER_BYTES)
        if header.startswith(FOOTER):
            break
        packed, size = int.from_bytes(header[1:4], "little"), int.from_bytes(header[5:8], "little")
        place = ChunkPlace(start + HEADER_BYTES, packed, header[4] if len(header) > 4 else 0, size)
        start = place.start + packed
        if len(header) < HEADER_BYTES or start > end:
            raise _broken(_("it ends within a chunk."))
        if header[0] or place.compression > GROUPED:
            raise _broken(_("a chunk has an unknown form."))
        if not 0 < size <= MOST_CHUNK or packed > MOST_CHUNK + HEADER_BYTES:
            raise _broken(_("a chunk has 1 to %(most)s bytes.", most=MOST_CHUNK))
        places.append(place)
        total += size
        if total > MOST_CONTENT or len(places) > MOST_CHUNKS:
            raise _broken(_("it unpacks to more than %(most)s MiB.", most=MOST_CONTENT // 2**20))
    if not places:
        raise _broken(_("it has no chunks."))
    return places


def read_chunk(file: BinaryIO, place: ChunkPlace) -> Chunk:
    """Return a chunk, unpacked into no more bytes than its header says. Raises `BrokenUpload`."""
    file.seek(place.start)
    content = file.read(place.packed)
    if place.compression != PLAIN:
        try:
            content = pa.Codec("lz4").decompress(content, place.size).to_pybytes()
        except OSError:
            raise _broken(_("a chunk cannot be unpacked.")) from None
        if place.compression == GROUPED:
            content = _ungroup(content)
    if len(content) != place.size:
        raise _broken(_("a chunk has another size than it says."))
    return Chunk(chunk_hash(content), content)


def _ungroup(content: bytes) -> bytes:
    """Undo the grouping of every fourth byte, by which numbers are compressed better."""
    grouped = np.frombuffer(content, np.uint8)
    plain = np.empty_like(grouped)
    start = 0
    for first in range(4):
        size = len(plain[first::4])
        plain[first::4] = grouped[start : start + size]
        start += size
    return plain.tobytes()


def check_xorb(path: Path, name: str) -> None:
    """Read a whole xorb, and refuse one that is damaged or has another hash than its name. Raises `BrokenUpload`."""
    tree = ChunkTree()
    with path.open("rb") as file:
        for place in chunk_places(file):
            chunk = read_chunk(file, place)
            tree.add(chunk.hash, place.size)
    if hash_text(tree.root()) != name:
        raise _broken(_("its chunks have another hash than its address."))


class XorbReader:
    """Reads chunks of checked xorbs; the places of the chunks of some xorbs are remembered."""

    REMEMBERED = 32

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._places: dict[str, list[ChunkPlace]] = {}

    def chunks(self, name: str, first: int, end: int) -> Iterator[Chunk]:
        """Yield the chunks of a xorb from a number on up to another one. Raises `FileNotFoundError`."""
        with (self.folder / name).open("rb") as file:
            places = self._places.pop(name, None) or chunk_places(file)
            self._places[name] = places
            while len(self._places) > self.REMEMBERED:
                del self._places[next(iter(self._places))]
            if not first < end <= len(places):
                raise BrokenUpload(_("This shard names chunks that its xorb does not have. Nothing was saved."))
            for place in places[first:end]:
                yield read_chunk(file, place)
