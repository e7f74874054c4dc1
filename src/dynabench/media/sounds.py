"""Sounds are taken by what their bytes say: WAV, MP3, Ogg, FLAC and what browsers record (WebM), and their length."""

import io

from tinytag import TinyTag, TinyTagException

from dynabench.media import webm
from dynabench.media.facts import Facts, Limits, Refused, mib
from dynabench.media.sniffing import sound_of

UNREADABLE = "This is no WAV, MP3, Ogg, FLAC or WebM sound that can be read. Save it again as one of these."


def checked(content: bytes, limits: Limits) -> Facts:
    """What the sound is. Raises `Refused`."""
    kind = sound_of(content)
    if not kind:
        raise Refused(UNREADABLE)
    if limits.types and kind not in limits.types:
        raise Refused(f"This is {kind}; {', '.join(limits.types)} are taken here.")
    if len(content) > limits.size:
        raise Refused(f"This sound takes {mib(len(content))}; {mib(limits.size)} are allowed. Make it shorter.")
    seconds = webm.seconds(content) if kind == "audio/webm" else _seconds(content, kind)
    if not seconds or seconds <= 0:
        raise Refused(UNREADABLE)
    if seconds > limits.seconds:
        raise Refused(f"This takes {seconds:.0f} s; {limits.seconds:.0f} s are allowed. Make it shorter.")
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
