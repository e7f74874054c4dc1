"""One door for every upload: bytes and what is wanted in, bytes to store and what they are out."""

from dynabench.language import _
from dynabench.media import images, sounds
from dynabench.media.facts import Facts, Kind, Limits, Refused, mib
from dynabench.media.sniffing import type_of

_REFUSED = _("This file is of a kind that is not taken. PDF, plain text, pictures and sounds are.")


def taken(content: bytes, kind: Kind, limits: Limits) -> tuple[bytes, Facts]:
    """What to store of an upload and what it is; raises `Refused` for another kind, or beyond its limits."""
    if not content:
        raise Refused(_("This file is empty."))
    if kind == "image":
        return images.cleaned(content, limits)
    if kind == "audio":
        return content, sounds.checked(content, limits)
    return _file(content, limits)


def _file(content: bytes, limits: Limits) -> tuple[bytes, Facts]:
    if len(content) > limits.size:
        raise Refused(
            _("This file takes %(value)s; %(size)s are allowed.", value=mib(len(content)), size=mib(limits.size))
        )
    found = type_of(content)
    if limits.types and found not in limits.types:
        raise Refused(
            _(
                "This is %(value)s; %(types)s are taken here.",
                value=found or "of another kind",
                types=", ".join(limits.types),
            )
        )
    if found.startswith("image/"):
        return images.cleaned(content, limits)
    if found.startswith("audio/"):
        return content, sounds.checked(content, limits)
    if not found:
        raise Refused(_REFUSED)
    return content, Facts("file", found, len(content))
