"""A sound: played, uploaded, or recorded in the browser."""

from typing import ClassVar, Literal

from dynabench.kit.language import _
from dynabench.tasks.fields.media import MediaField
from dynabench.tasks.section import Setting


class Audio(MediaField):
    """A WAV, MP3, Ogg, FLAC or WebM sound."""

    type: Literal["audio"] = "audio"
    kind: ClassVar[Literal["audio"]] = "audio"
    record: bool = Setting(True, description="Offer to record with the microphone.")
    max_seconds: float = Setting(60.0, gt=0, le=3600, description="Longest sound in seconds.")

    missing: ClassVar[str] = _("Record or upload a sound.")
