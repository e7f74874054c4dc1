"""One door for every upload: bytes and what is wanted in, bytes to store and what they are out."""

from dynabench.media import images, sounds
from dynabench.media.facts import Facts, Kind, Limits, Refused, mib
from dynabench.media.sniffing import type_of

_REFUSED = "This file is of a kind that is not taken. PDF, plain text, pictures and sounds are."


def taken(content: bytes, kind: Kind, limits: Limits) -> tuple[bytes, Facts]:
    """What to store of an upload and what it is; raises `Refused` for another kind, or beyond its limits."""
    if not content:
        raise Refused("This file is empty.")
    if kind == "image":
        return images.cleaned(content, limits)
    if kind == "audio":
        return content, sounds.checked(content, limits)
    return _file(content, limits)


def _file(content: bytes, limits: Limits) -> tuple[bytes, Facts]:
    if len(content) > limits.size:
        raise Refused(f"This file takes {mib(len(content))}; {mib(limits.size)} are allowed.")
    found = type_of(content)
    if limits.types and found not in limits.types:
        raise Refused(f"This is {found or 'of another kind'}; {', '.join(limits.types)} are taken here.")
    if found.startswith("image/"):
        return images.cleaned(content, limits)
    if found.startswith("audio/"):
        return content, sounds.checked(content, limits)
    if not found:
        raise Refused(_REFUSED)
    return content, Facts("file", found, len(content))
