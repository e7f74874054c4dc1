"""Hashes, xorbs and shards of the Xet protocol, without a server: the draft's examples, properties, damaged input."""

import io
import struct
from pathlib import Path

import pyarrow as pa
import pytest
from blake3 import blake3
from hypothesis import given
from hypothesis import strategies as st

from dynabench.hubs.problems import BrokenUpload
from dynabench.hubs.xet import shards, xorbs
from dynabench.hubs.xet.hashing import NODE_KEY, ChunkTree, chunk_hash, hash_text, term_hash
from tests.hubs import xet_writing as writing

HASHES = st.lists(st.tuples(st.binary(min_size=32, max_size=32), st.integers(1, 131072)), max_size=200)


def test_the_examples_of_the_protocol():
    """The examples of draft-denis-xet."""
    hashed = hash_text(chunk_hash(b"Hello World!"))
    assert hashed == "d8d408e608fb9ca213b9909a65d86d725f2de4d8d540324be8a363e7a6e228cb"
    assert hash_text(bytes(range(32))) == "07060504030201000f0e0d0c0b0a090817161514131211101f1e1d1c1b1a1918"
    first = writing.hash_bytes("c28f58387a60d4aa200c311cda7c7f77f686614864f5869eadebf765d0a14a69")
    second = writing.hash_bytes("6e4e3263e073ce2c0e78cc770c361e2778db3b054b98ab65e277fc084fa70f22")
    tree = ChunkTree()
    tree.add(first, 100)
    tree.add(second, 200)
    assert hash_text(tree.root()) == "be64c7003ccd3cf4357364750e04c9592b3c36705dee76a71590c011766b6c14"
    proof = hash_text(term_hash([first, second]))
    assert proof == "eb06a8ad81d588ac05d1d9a079232d9c1e7d0b07232fa58091caa7bf333a2768"


def plain_root(nodes: list[tuple[bytes, int]]) -> bytes:
    """The tree of the draft, with all nodes of a level at hand."""
    while len(nodes) > 1:
        level, start = [], 0
        while start < len(nodes):
            rest = nodes[start : start + 9]
            cut = next(
                (n + 1 for n in range(2, len(rest)) if struct.unpack("<Q", rest[n][0][24:])[0] % 4 == 0), len(rest)
            )
            lines = "".join(f"{hash_text(value)} : {size}\n" for value, size in rest[:cut])
            level.append((blake3(lines.encode(), key=NODE_KEY).digest(), sum(size for _value, size in rest[:cut])))
            start += cut
        nodes = level
    return nodes[0][0] if nodes else bytes(32)


@given(HASHES)
def test_the_tree_that_grows_is_the_one_of_the_draft(nodes: list[tuple[bytes, int]]):
    tree = ChunkTree()
    for value, size in nodes:
        tree.add(value, size)
    assert tree.root() == plain_root(nodes)


@given(st.binary(min_size=1, max_size=5000), st.sampled_from([xorbs.PLAIN, xorbs.LZ4, xorbs.GROUPED]))
def test_chunks_come_out_as_they_went_in(content: bytes, compression: int):
    packed = b"".join(content[first::4] for first in range(4)) if compression == xorbs.GROUPED else content
    if compression != xorbs.PLAIN:
        packed = pa.Codec("lz4").compress(packed).to_pybytes()
    file = io.BytesIO(writing.packed_chunk(packed, len(content), compression))
    assert xorbs.read_chunk(file, xorbs.chunk_places(file)[0]).content == content


@given(st.binary(max_size=400))
def test_no_input_breaks_the_readers(content: bytes):
    for text in (content, writing.packed_chunk(content[9:], len(content))[: len(content)]):
        file = io.BytesIO(text)
        try:
            for place in xorbs.chunk_places(file):
                xorbs.read_chunk(file, place)
        except BrokenUpload:
            pass
    for text in (content, struct.pack("<32sQQ", shards.MARK, 2, 0) + content):
        with pytest.raises(BrokenUpload):
            list(shards.shard_files(io.BytesIO(text)))


def test_a_shard_cut_at_any_byte_is_refused():
    whole = writing.shard_of([b"one", b"two"])
    assert len(list(shards.shard_files(io.BytesIO(whole)))) == 1
    for end in range(len(whole)):
        with pytest.raises(BrokenUpload):
            list(shards.shard_files(io.BytesIO(whole[:end])))


def bomb(count: int, size: int) -> bytes:
    packed = pa.Codec("lz4").compress(bytes(size)).to_pybytes()
    return writing.packed_chunk(packed, min(size, xorbs.MOST_CHUNK), xorbs.LZ4) * count


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(bomb(1, 16 * 2**20), id="a chunk that unpacks to more than it says"),
        pytest.param(bomb(513, xorbs.MOST_CHUNK), id="many chunks that unpack to more than 64 MiB"),
        pytest.param(writing.packed_chunk(b"x", 1) * (xorbs.MOST_CHUNKS + 1), id="too many chunks"),
        pytest.param(writing.packed_chunk(b"abc", 4), id="a size that lies"),
        pytest.param(writing.packed_chunk(b"abc", 0), id="a chunk of no bytes"),
        pytest.param(writing.packed_chunk(b"abc", 3, 3), id="an unknown compression"),
        pytest.param(writing.packed_chunk(b"abc", 3, version=1), id="an unknown version"),
        pytest.param(writing.packed_chunk(b"no lz4", 6, xorbs.LZ4), id="no LZ4"),
        pytest.param(writing.packed_chunk(b"abc", 3)[:-1], id="the end is missing"),
        pytest.param(b"XETBLOB" + bytes(100), id="no chunks"),
        pytest.param(b"", id="nothing"),
    ],
)
def test_damaged_xorbs_and_bombs_are_refused(content: bytes, tmp_path: Path):
    path = tmp_path / "xorb"
    path.write_bytes(content)
    with pytest.raises(BrokenUpload):
        xorbs.check_xorb(path, "0" * 64)
