"""Pictures and sounds made here, plain ones and hostile ones."""

import io
import struct
import wave
import zlib

from PIL import Image


def picture(
    form: str = "PNG", size: tuple[int, int] = (12, 8), colour: tuple[int, int, int] = (200, 30, 30), **how
) -> bytes:
    held = io.BytesIO()
    Image.new("RGB", size, colour).save(held, form, **how)
    return held.getvalue()


def moving() -> bytes:
    held = io.BytesIO()
    frames = [Image.new("RGB", (8, 8), (number, 0, 0)) for number in (0, 100, 200)]
    frames[0].save(held, "WEBP", save_all=True, append_images=frames[1:])
    return held.getvalue()


def bomb(width: int = 60_000, height: int = 60_000) -> bytes:
    """A PNG of a few kilobytes that claims billions of pixels."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    packed = chunk(b"IDAT", zlib.compress(b"\0" * 100_000))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + packed + chunk(b"IEND", b"")


def sound(seconds: float = 0.5, rate: int = 8000) -> bytes:
    held = io.BytesIO()
    with wave.open(held, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(b"\0\0" * int(seconds * rate))
    return held.getvalue()


def recording(seconds: int = 3, track: int = 2) -> bytes:
    """WebM as browsers record it: of unknown size, without a duration at its head."""

    def element(name: bytes, body: bytes) -> bytes:
        return name + (0x10000000 | len(body)).to_bytes(4, "big") + body

    def unknown(name: bytes) -> bytes:
        return name + b"\x01" + b"\xff" * 7

    head = element(b"\x1a\x45\xdf\xa3", element(b"\x42\x82", b"webm"))
    info = element(b"\x15\x49\xa9\x66", element(b"\x2a\xd7\xb1", (1_000_000).to_bytes(3, "big")))
    tracks = element(b"\x16\x54\xae\x6b", element(b"\xae", element(b"\x83", bytes([track]))))
    clusters = b""
    for second in range(seconds):
        blocks = b"".join(
            element(b"\xa3", b"\x81" + struct.pack(">h", at) + b"\x80" + b"opus") for at in range(0, 1000, 250)
        )
        clusters += unknown(b"\x1f\x43\xb6\x75") + element(b"\xe7", (second * 1000).to_bytes(3, "big")) + blocks
    return head + unknown(b"\x18\x53\x80\x67") + info + tracks + clusters


SVG = b'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><script>alert(1)</script></svg>'
HTML = b"<!doctype html><script>alert(1)</script>"
