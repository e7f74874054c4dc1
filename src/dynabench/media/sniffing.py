"""What a file is by its first bytes; names and declared types count for nothing."""

import re

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
WEBM = b"\x1a\x45\xdf\xa3"


def type_of(content: bytes) -> str:
    """The type that the content is of; empty for one that is not taken."""
    if content.startswith(b"%PDF-"):
        return "application/pdf"
    if content.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if content.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "image/webp"
    if found := sound_of(content):
        return found
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        return ""
    return "" if _CONTROL.search(text) else "text/plain"


def sound_of(content: bytes) -> str:
    """The type that the first bytes stand for; empty for none that is taken."""
    if content[:4] == b"RIFF" and content[8:12] == b"WAVE":
        return "audio/wav"
    if content[:3] == b"ID3" or (len(content) > 2 and content[0] == 0xFF and content[1] & 0xE6 == 0xE2):
        return "audio/mpeg"
    heads = {b"OggS": "audio/ogg", b"fLaC": "audio/flac", WEBM: "audio/webm"}
    return heads.get(content[:4], "")
