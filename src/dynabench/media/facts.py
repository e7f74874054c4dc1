"""What an upload is, by its content alone: names and declared types count for nothing."""

from dataclasses import dataclass
from typing import Literal

from dynabench.errors import Invalid

Kind = Literal["image", "audio", "file"]
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
class Facts:
    """What was found out: `size` in bytes, `width` and `height` in pixels, `seconds` of sound."""

    kind: Kind
    type: str
    size: int
    width: int | None = None
    height: int | None = None
    seconds: float | None = None

    def document(self) -> dict[str, object]:
        """Those that a value carries beside the digest."""
        told = {"type": self.type, "width": self.width, "height": self.height, "seconds": self.seconds}
        return {name: value for name, value in told.items() if value is not None}


@dataclass(frozen=True)
class Limits:
    """What an upload may be at most; `types` are those that are taken, none for all of the kind."""

    size: int
    pixels: int = 25_000_000
    seconds: float = 300.0
    types: tuple[str, ...] = ()


class Refused(Invalid):
    """An upload that is not taken; the message stands beside its field."""

    def __init__(self, told: str, field: str = "file") -> None:
        super().__init__({field: told}, told)
        self.told = told


def mib(size: int) -> str:
    """A number of bytes as people read it."""
    return f"{size / 2**20:.1f}".removesuffix(".0") + " MiB"
