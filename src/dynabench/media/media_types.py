"""Media types from the first bytes of a file; file names and declared types are ignored."""

import re

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
