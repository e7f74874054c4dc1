"""A file that people send and download again; never shown within a page."""

from typing import ClassVar, Literal

from dynabench.kit.language import _
from dynabench.tasks.fields.media import MediaField
from dynabench.tasks.section import Setting

Type = Literal["pdf", "text", "png", "jpeg", "webp", "wav", "mp3", "ogg", "flac", "webm"]
TYPES: dict[str, str] = {
    "pdf": "application/pdf",
    "text": "text/plain",
    "png": "image/png",
    "jpeg": "image/jpeg",
    "webp": "image/webp",
    "wav": "audio/wav",
    "mp3": "audio/mpeg",
    "ogg": "audio/ogg",
    "flac": "audio/flac",
    "webm": "audio/webm",
}


class FileField(MediaField):
    """A PDF, a plain text (also CSV, JSON, YAML), a picture or a sound, recognised by its content."""

    type: Literal["file"] = "file"
    kind: ClassVar[Literal["file"]] = "file"
    types: list[Type] = Setting(
        ["pdf", "text"], min_length=1, max_length=10, description="Kinds of file that are taken."
    )

    @property
    def accept(self) -> str:
        """The value of `accept` in the browser's file input."""
        more = {"text": ",.txt,.csv,.tsv,.json,.jsonl,.yaml,.md", "pdf": ",.pdf"}
        return ",".join(f"{TYPES[type_name]}{more.get(type_name, '')}" for type_name in self.types)

    missing: ClassVar[str] = _("Choose a file.")
