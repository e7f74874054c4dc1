"""Length of a WebM recording. Browsers write none at its head, so it is the time of the last block.

Source: RFC 8794 (EBML) and RFC 9559 (Matroska), the elements named below.
"""

import struct
from collections.abc import Iterator

SEGMENT, INFO, SCALE, DURATION, CLUSTER, TIME = 0x18538067, 0x1549A966, 0x2AD7B1, 0x4489, 0x1F43B675, 0xE7
GROUP, BLOCK, SIMPLE, TRACKS, TRACK, TRACK_TYPE = 0xA0, 0xA1, 0xA3, 0x1654AE6B, 0xAE, 0x83
INSIDE = (SEGMENT, INFO, CLUSTER, GROUP, TRACKS, TRACK)
SOUND = 2
MAX_ELEMENTS = 500_000  # elements


def webm_seconds(content: bytes) -> float | None:
    """Return the seconds from the start to the last block, or as the head says.

    None for anything but a single sound.
    """
    scale, stated_duration, at, last = 1_000_000, 0.0, 0, 0
    tracks: list[int] = []
    try:
        if b"webm" not in content[:64]:
            return None
        for element, body in _elements(content):
            if element == SCALE:
                scale = int.from_bytes(body, "big") or scale
            elif element == DURATION:
                stated_duration = struct.unpack(">f" if len(body) == 4 else ">d", body)[0]
            elif element == TIME:
                at = int.from_bytes(body, "big")
            elif element in (BLOCK, SIMPLE):
                _, used = _number(body, 0)
                last = max(last, at + struct.unpack_from(">h", body, used)[0])
            elif element == TRACK_TYPE:
                tracks.append(int.from_bytes(body, "big"))
    except (IndexError, struct.error, ValueError):
        return None
    return max(stated_duration, float(last)) * scale / 1e9 if tracks == [SOUND] else None


def _elements(content: bytes) -> Iterator[tuple[int, bytes]]:
    """Every element that holds a value; those that hold others are entered."""
    at, count = 0, 0
    while at < len(content):
        count += 1
        if count > MAX_ELEMENTS:
            raise ValueError("too many elements")
        element, used = _number(content, at, marked=True)
        size, more = _number(content, at + used)
        at += used + more
        unknown = size == (1 << 7 * more) - 1
        if element in INSIDE:
            continue
        if unknown:
            raise ValueError("an element without an end")
        yield element, content[at : at + size]
        at += size


def _number(content: bytes, at: int, marked: bool = False) -> tuple[int, int]:
    """A number of variable length, with its marker where that belongs to it, and how many bytes it took."""
    first = content[at]
    length = 9 - first.bit_length()
    if length > 8 or at + length > len(content):
        raise ValueError("no number")
    value = int.from_bytes(content[at : at + length], "big")
    return (value if marked else value & ~(1 << 7 * length)), length
