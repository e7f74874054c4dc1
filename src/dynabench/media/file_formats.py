"""Files that people send: their types, the facts that are kept of them, and the limits of an upload."""

import io
import re
import struct
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from PIL import Image, ImageOps
from tinytag import TinyTag, TinyTagException

from dynabench.kit.errors import Invalid
from dynabench.kit.language import _

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
WEBM = b"\x1a\x45\xdf\xa3"


def media_type_of(content: bytes) -> str:
    """Return the media type of the content; "" for one that is not accepted."""
    if content.startswith(b"%PDF-"):
        return "application/pdf"
    if content.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if content.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "image/webp"
    if sound_type := sound_type_of(content):
        return sound_type
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        return ""
    return "" if _CONTROL.search(text) else "text/plain"


def sound_type_of(content: bytes) -> str:
    """Return the media type of a sound by its first bytes; "" for none that is accepted."""
    if content[:4] == b"RIFF" and content[8:12] == b"WAVE":
        return "audio/wav"
    if content[:3] == b"ID3" or (len(content) > 2 and content[0] == 0xFF and content[1] & 0xE6 == 0xE2):
        return "audio/mpeg"
    heads = {b"OggS": "audio/ogg", b"fLaC": "audio/flac", WEBM: "audio/webm"}
    return heads.get(content[:4], "")


MediaKind = Literal["image", "audio", "file"]
ENDINGS = {
    "image/png": "png",
    "image/jpeg": "jpg",
    "image/webp": "webp",
    "audio/wav": "wav",
    "audio/mpeg": "mp3",
    "audio/ogg": "ogg",
    "audio/flac": "flac",
    "audio/webm": "webm",
    "application/pdf": "pdf",
    "text/plain": "txt",
}
"""Every type that is stored, with the ending of its files."""


@dataclass(frozen=True)
class MediaFacts:
    """Facts of a file: `size` in bytes, `width` and `height` in pixels, `seconds` of sound."""

    kind: MediaKind
    type: str
    size: int
    width: int | None = None
    height: int | None = None
    seconds: float | None = None

    def document(self) -> dict[str, object]:
        """Return the facts that a value carries beside the digest."""
        known_facts = {"type": self.type, "width": self.width, "height": self.height, "seconds": self.seconds}
        return {name: value for name, value in known_facts.items() if value is not None}


@dataclass(frozen=True)
class UploadLimits:
    """Limits of an upload; `types` are the accepted media types, () for all of the kind."""

    size: int
    pixels: int = 25_000_000
    seconds: float = 300.0
    types: tuple[str, ...] = ()


class UploadRefused(Invalid):
    """An upload that is refused; the message stands beside its field."""

    def __init__(self, message: str, field: str = "file") -> None:
        super().__init__({field: message}, message)


def size_text(size: int) -> str:
    """Return a number of bytes as people read it."""
    return f"{size / 2**20:.1f}".removesuffix(".0") + " MiB"


_UNKNOWN_KIND = _("This kind of file is not accepted. Upload PDF, plain text, a picture or a sound.")


def check_upload(content: bytes, kind: MediaKind, limits: UploadLimits) -> tuple[bytes, MediaFacts]:
    """Return the content to store of an upload, and its facts.

    Raises `UploadRefused` for another kind of file, or beyond the limits.
    """
    # Pillow is loaded when the first file comes

    if not content:
        raise UploadRefused(_("This file is empty."))
    if kind == "image":
        return rewrite_image(content, limits)
    if kind == "audio":
        return content, check_sound(content, limits)
    return _file(content, limits)


def _file(content: bytes, limits: UploadLimits) -> tuple[bytes, MediaFacts]:

    if len(content) > limits.size:
        raise UploadRefused(
            _(
                "This file takes %(value)s; the limit is %(size)s.",
                value=size_text(len(content)),
                size=size_text(limits.size),
            )
        )
    media_type = media_type_of(content)
    if limits.types and media_type not in limits.types:
        raise UploadRefused(
            _(
                "This is %(value)s; accepted are %(types)s.",
                value=media_type or "of another kind",
                types=", ".join(limits.types),
            )
        )
    if media_type.startswith("image/"):
        return rewrite_image(content, limits)
    if media_type.startswith("audio/"):
        return content, check_sound(content, limits)
    if not media_type:
        raise UploadRefused(_UNKNOWN_KIND)
    return content, MediaFacts("file", media_type, len(content))


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


FORMATS = {"PNG": "image/png", "JPEG": "image/jpeg", "WEBP": "image/webp"}
MAX_SIDE = 16_384
UNREADABLE = _("This is not a readable PNG, JPEG or WebP picture. Save it again in one of these formats.")
QUALITY = 92


def rewrite_image(content: bytes, limits: UploadLimits) -> tuple[bytes, MediaFacts]:
    """Return the image encoded again and turned upright, and its facts. Raises `UploadRefused`."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of large pictures, which are refused below
            with Image.open(io.BytesIO(content), formats=tuple(FORMATS)) as opened:
                _check_header(opened, limits)
                form, upright = str(opened.format), _upright(opened)
    except Image.DecompressionBombError:
        raise UploadRefused(
            _("This picture has far more than %(pixels)s pixels. Make it smaller.", pixels=f"{limits.pixels:,}")
        ) from None
    except (OSError, ValueError, SyntaxError, EOFError, MemoryError):
        raise UploadRefused(UNREADABLE) from None
    encoded = _encode(upright, form)
    if len(encoded) > limits.size:
        raise UploadRefused(
            _(
                "This picture takes %(value)s; the limit is %(size)s. Make it smaller.",
                value=size_text(len(encoded)),
                size=size_text(limits.size),
            )
        )
    width, height = upright.size
    return encoded, MediaFacts("image", FORMATS[form], len(encoded), width, height)


def _check_header(opened: Image.Image, limits: UploadLimits) -> None:
    width, height = opened.size
    if width * height > limits.pixels or max(width, height) > MAX_SIDE:
        message = _(
            "This picture has %(width)s x %(height)s pixels; the limit is %(pixels)s in total.",
            width=f"{width:,}",
            height=f"{height:,}",
            pixels=f"{limits.pixels:,}",
        )
        raise UploadRefused(_("%(told)s Make it smaller.", told=message))
    if getattr(opened, "n_frames", 1) > 1:
        raise UploadRefused(_("This picture is animated. Upload a single frame."))
    if limits.types and FORMATS[str(opened.format)] not in limits.types:
        raise UploadRefused(
            _(
                "This is %(formats)s; accepted are %(types)s.",
                formats=FORMATS[str(opened.format)],
                types=", ".join(limits.types),
            )
        )


def _upright(opened: Image.Image) -> Image.Image:
    opened.load()
    turned = ImageOps.exif_transpose(opened)
    clear = turned.mode in ("RGBA", "LA", "PA") or "transparency" in turned.info
    plain = turned if turned.mode == "L" and not clear else turned.convert("RGBA" if clear else "RGB")
    image = Image.new(plain.mode, plain.size)
    image.paste(plain)
    return image


def _encode(picture: Image.Image, form: str) -> bytes:
    held = io.BytesIO()
    if form == "PNG":
        picture.save(held, "PNG", optimize=True)
    else:
        picture.save(held, form, quality=QUALITY)
    return held.getvalue()


UNREADABLE_SOUND = _("This is not a readable WAV, MP3, Ogg, FLAC or WebM sound. Save it again in one of these formats.")


def check_sound(content: bytes, limits: UploadLimits) -> MediaFacts:
    """Return the facts of a sound. Raises `UploadRefused`."""
    kind = sound_type_of(content)
    if not kind:
        raise UploadRefused(UNREADABLE_SOUND)
    if limits.types and kind not in limits.types:
        raise UploadRefused(_("This is %(kind)s; accepted are %(types)s.", kind=kind, types=", ".join(limits.types)))
    if len(content) > limits.size:
        raise UploadRefused(
            _(
                "This sound takes %(value)s; the limit is %(size)s. Make it shorter.",
                value=size_text(len(content)),
                size=size_text(limits.size),
            )
        )
    seconds = webm_seconds(content) if kind == "audio/webm" else _seconds(content, kind)
    if not seconds or seconds <= 0:
        raise UploadRefused(UNREADABLE_SOUND)
    if seconds > limits.seconds:
        raise UploadRefused(
            _(
                "This sound takes %(seconds)s s; the limit is %(seconds2)s s. Make it shorter.",
                seconds=f"{seconds:.0f}",
                seconds2=f"{limits.seconds:.0f}",
            )
        )
    return MediaFacts("audio", kind, len(content), seconds=round(seconds, 3))


def _seconds(content: bytes, kind: str) -> float | None:
    name = f"sound.{kind.removeprefix('audio/').replace('mpeg', 'mp3')}"
    try:
        return TinyTag.get(name, tags=False, file_obj=io.BytesIO(content)).duration
    except (TinyTagException, ValueError, KeyError, IndexError, OSError, EOFError, OverflowError, ZeroDivisionError):
        return None
    except Exception as problem:  # a parser of hostile bytes: struct.error and whatever else it has not foreseen
        if isinstance(problem, MemoryError):
            raise
        return None
