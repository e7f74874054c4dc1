"""Images: opened within limits and encoded again, so that only pixels are stored, without metadata or hidden data."""

import io
import warnings

from PIL import Image, ImageOps

from dynabench.kit.language import _
from dynabench.media.facts import MediaFacts, UploadLimits, UploadRefused, size_text

FORMATS = {"PNG": "image/png", "JPEG": "image/jpeg", "WEBP": "image/webp"}
MAX_SIDE = 16_384
UNREADABLE = _("This is no PNG, JPEG or WebP picture that can be read. Save it again as one of these.")
QUALITY = 92


def rewrite_image(content: bytes, limits: UploadLimits) -> tuple[bytes, MediaFacts]:
    """Return the image encoded again and turned upright, and its facts. Raises `UploadRefused`."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of large pictures, which are refused below
            with Image.open(io.BytesIO(content), formats=tuple(FORMATS)) as opened:
                _check_header(opened, limits)
                form, upright = str(opened.format), _upright(opened)
    except Image.DecompressionBombError:
        raise UploadRefused(
            _("This picture has far more than %(pixels)s points. Make it smaller.", pixels=f"{limits.pixels:,}")
        ) from None
    except (OSError, ValueError, SyntaxError, EOFError, MemoryError):
        raise UploadRefused(UNREADABLE) from None
    encoded = _encode(upright, form)
    if len(encoded) > limits.size:
        raise UploadRefused(
            _(
                "This picture takes %(value)s; %(size)s are allowed. Make it smaller.",
                value=size_text(len(encoded)),
                size=size_text(limits.size),
            )
        )
    width, height = upright.size
    return encoded, MediaFacts("image", FORMATS[form], len(encoded), width, height)


def _check_header(opened: Image.Image, limits: UploadLimits) -> None:
    """Refuse by the picture's head, before a pixel is unfolded."""
    width, height = opened.size
    if width * height > limits.pixels or max(width, height) > MAX_SIDE:
        message = _(
            "This picture has %(width)s x %(height)s points; %(pixels)s in all are allowed.",
            width=f"{width:,}",
            height=f"{height:,}",
            pixels=f"{limits.pixels:,}",
        )
        raise UploadRefused(_("%(told)s Make it smaller.", told=message))
    if getattr(opened, "n_frames", 1) > 1:
        raise UploadRefused(_("This picture moves. Send one of its frames."))
    if limits.types and FORMATS[str(opened.format)] not in limits.types:
        raise UploadRefused(
            _(
                "This is %(formats)s; %(types)s are taken here.",
                formats=FORMATS[str(opened.format)],
                types=", ".join(limits.types),
            )
        )


def _upright(opened: Image.Image) -> Image.Image:
    """The pixels alone: 8 bits, grey or colour, with transparency where there is some."""
    opened.load()
    turned = ImageOps.exif_transpose(opened)
    clear = turned.mode in ("RGBA", "LA", "PA") or "transparency" in turned.info
    plain = turned if turned.mode == "L" and not clear else turned.convert("RGBA" if clear else "RGB")
    image = Image.new(plain.mode, plain.size)
    image.paste(plain)
    return image


def _encode(picture: Image.Image, form: str) -> bytes:
    held = io.BytesIO()
    if form == "PNG":
        picture.save(held, "PNG", optimize=True)
    else:
        picture.save(held, form, quality=QUALITY)
    return held.getvalue()
