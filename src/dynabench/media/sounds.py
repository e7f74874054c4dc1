"""Sounds: type and length from the content, for WAV, MP3, Ogg, FLAC and the browsers' recordings (WebM)."""

import io

from tinytag import TinyTag, TinyTagException

from dynabench.kit.language import _
from dynabench.media import webm
from dynabench.media.facts import MediaFacts, UploadLimits, UploadRefused, size_text
from dynabench.media.media_types import sound_type_of

UNREADABLE = _("This is no WAV, MP3, Ogg, FLAC or WebM sound that can be read. Save it again as one of these.")


def check_sound(content: bytes, limits: UploadLimits) -> MediaFacts:
    """Return the facts of a sound. Raises `UploadRefused`."""
    kind = sound_type_of(content)
    if not kind:
        raise UploadRefused(UNREADABLE)
    if limits.types and kind not in limits.types:
        raise UploadRefused(_("This is %(kind)s; %(types)s are taken here.", kind=kind, types=", ".join(limits.types)))
    if len(content) > limits.size:
        raise UploadRefused(
            _(
                "This sound takes %(value)s; %(size)s are allowed. Make it shorter.",
                value=size_text(len(content)),
                size=size_text(limits.size),
            )
        )
    seconds = webm.webm_seconds(content) if kind == "audio/webm" else _seconds(content, kind)
    if not seconds or seconds <= 0:
        raise UploadRefused(UNREADABLE)
    if seconds > limits.seconds:
        raise UploadRefused(
            _(
                "This takes %(seconds)s s; %(seconds2)s s are allowed. Make it shorter.",
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
