"""Files that people send: their types, the facts that are kept of them, and the limits of an upload."""

import re
from dataclasses import dataclass
from typing import Literal

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
        self.told = message


def size_text(size: int) -> str:
    """Return a number of bytes as people read it."""
    return f"{size / 2**20:.1f}".removesuffix(".0") + " MiB"


_UNKNOWN_KIND = _("This kind of file is not accepted. Upload PDF, plain text, a picture or a sound.")


def check_upload(content: bytes, kind: MediaKind, limits: UploadLimits) -> tuple[bytes, MediaFacts]:
    """Return the content to store of an upload, and its facts.

    Raises `UploadRefused` for another kind of file, or beyond the limits.
    """
    from dynabench.media import file_contents  # Pillow is loaded when the first file comes

    if not content:
        raise UploadRefused(_("This file is empty."))
    if kind == "image":
        return file_contents.rewrite_image(content, limits)
    if kind == "audio":
        return content, file_contents.check_sound(content, limits)
    return _file(content, limits)


def _file(content: bytes, limits: UploadLimits) -> tuple[bytes, MediaFacts]:
    from dynabench.media import file_contents

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
        return file_contents.rewrite_image(content, limits)
    if media_type.startswith("audio/"):
        return content, file_contents.check_sound(content, limits)
    if not media_type:
        raise UploadRefused(_UNKNOWN_KIND)
    return content, MediaFacts("file", media_type, len(content))
