"""Facts about an upload from its content alone: file names and declared types are ignored."""

from dataclasses import dataclass
from typing import Literal

from dynabench.kit.errors import Invalid

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
