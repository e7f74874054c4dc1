"""Sounds are taken by what their bytes say: WAV, MP3, Ogg, FLAC and what browsers record (WebM), and their length."""

import io

from tinytag import TinyTag, TinyTagException

from dynabench.language import _
from dynabench.media import webm
from dynabench.media.facts import Facts, Limits, Refused, mib
from dynabench.media.sniffing import sound_of

UNREADABLE = _("This is no WAV, MP3, Ogg, FLAC or WebM sound that can be read. Save it again as one of these.")


def checked(content: bytes, limits: Limits) -> Facts:
    """What the sound is. Raises `Refused`."""
    kind = sound_of(content)
    if not kind:
        raise Refused(UNREADABLE)
    if limits.types and kind not in limits.types:
        raise Refused(_("This is %(kind)s; %(types)s are taken here.", kind=kind, types=", ".join(limits.types)))
    if len(content) > limits.size:
        raise Refused(
            _(
                "This sound takes %(value)s; %(size)s are allowed. Make it shorter.",
                value=mib(len(content)),
                size=mib(limits.size),
            )
        )
    seconds = webm.seconds(content) if kind == "audio/webm" else _seconds(content, kind)
    if not seconds or seconds <= 0:
        raise Refused(UNREADABLE)
    if seconds > limits.seconds:
        raise Refused(
            _(
                "This takes %(seconds)s s; %(seconds2)s s are allowed. Make it shorter.",
                seconds=f"{seconds:.0f}",
                seconds2=f"{limits.seconds:.0f}",
            )
        )
    return Facts("audio", kind, len(content), seconds=round(seconds, 3))


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
