"""The check of every upload: content and expected kind in, content to store and its facts out."""

from dynabench.kit.language import _
from dynabench.media import images, sounds
from dynabench.media.facts import MediaFacts, MediaKind, UploadLimits, UploadRefused, size_text
from dynabench.media.media_types import media_type_of

_UNKNOWN_KIND = _("This file is of a kind that is not taken. PDF, plain text, pictures and sounds are.")


def check_upload(content: bytes, kind: MediaKind, limits: UploadLimits) -> tuple[bytes, MediaFacts]:
    """Return the content to store of an upload, and its facts.

    Raises `UploadRefused` for another kind of file, or beyond the limits.
    """
    if not content:
        raise UploadRefused(_("This file is empty."))
    if kind == "image":
        return images.rewrite_image(content, limits)
    if kind == "audio":
        return content, sounds.check_sound(content, limits)
    return _file(content, limits)


def _file(content: bytes, limits: UploadLimits) -> tuple[bytes, MediaFacts]:
    if len(content) > limits.size:
        raise UploadRefused(
            _(
                "This file takes %(value)s; %(size)s are allowed.",
                value=size_text(len(content)),
                size=size_text(limits.size),
            )
        )
    media_type = media_type_of(content)
    if limits.types and media_type not in limits.types:
        raise UploadRefused(
            _(
                "This is %(value)s; %(types)s are taken here.",
                value=media_type or "of another kind",
                types=", ".join(limits.types),
            )
        )
    if media_type.startswith("image/"):
        return images.rewrite_image(content, limits)
    if media_type.startswith("audio/"):
        return content, sounds.check_sound(content, limits)
    if not media_type:
        raise UploadRefused(_UNKNOWN_KIND)
    return content, MediaFacts("file", media_type, len(content))
