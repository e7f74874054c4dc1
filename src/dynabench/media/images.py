"""Pictures are opened within limits and written anew: what is stored is pixels, without metadata or anything hidden."""

import io
import warnings

from PIL import Image, ImageOps

from dynabench.language import _
from dynabench.media.facts import Facts, Limits, Refused, mib

FORMATS = {"PNG": "image/png", "JPEG": "image/jpeg", "WEBP": "image/webp"}
LONGEST_SIDE = 16_384
UNREADABLE = _("This is no PNG, JPEG or WebP picture that can be read. Save it again as one of these.")
QUALITY = 92


def cleaned(content: bytes, limits: Limits) -> tuple[bytes, Facts]:
    """The picture written anew, turned upright, and what it is. Raises `Refused`."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of large pictures, which are refused below
            with Image.open(io.BytesIO(content), formats=tuple(FORMATS)) as opened:
                _look(opened, limits)
                form, upright = str(opened.format), _upright(opened)
    except Image.DecompressionBombError:
        raise Refused(
            _("This picture has far more than %(pixels)s points. Make it smaller.", pixels=f"{limits.pixels:,}")
        ) from None
    except (OSError, ValueError, SyntaxError, EOFError, MemoryError):
        raise Refused(UNREADABLE) from None
    made = _written(upright, form)
    if len(made) > limits.size:
        raise Refused(
            _(
                "This picture takes %(value)s; %(size)s are allowed. Make it smaller.",
                value=mib(len(made)),
                size=mib(limits.size),
            )
        )
    width, height = upright.size
    return made, Facts("image", FORMATS[form], len(made), width, height)


def _look(opened: Image.Image, limits: Limits) -> None:
    """Refuse by the picture's head, before a pixel is unfolded."""
    width, height = opened.size
    if width * height > limits.pixels or max(width, height) > LONGEST_SIDE:
        told = _(
            "This picture has %(width)s x %(height)s points; %(pixels)s in all are allowed.",
            width=f"{width:,}",
            height=f"{height:,}",
            pixels=f"{limits.pixels:,}",
        )
        raise Refused(_("%(told)s Make it smaller.", told=told))
    if getattr(opened, "n_frames", 1) > 1:
        raise Refused(_("This picture moves. Send one of its frames."))
    if limits.types and FORMATS[str(opened.format)] not in limits.types:
        raise Refused(
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
    made = Image.new(plain.mode, plain.size)
    made.paste(plain)
    return made


def _written(picture: Image.Image, form: str) -> bytes:
    held = io.BytesIO()
    if form == "PNG":
        picture.save(held, "PNG", optimize=True)
    else:
        picture.save(held, form, quality=QUALITY)
    return held.getvalue()
