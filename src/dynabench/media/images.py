"""Pictures are opened within limits and written anew: what is stored is pixels, without metadata or anything hidden."""

import io
import warnings

from PIL import Image, ImageOps

from dynabench.media.facts import Facts, Limits, Refused, mib

FORMATS = {"PNG": "image/png", "JPEG": "image/jpeg", "WEBP": "image/webp"}
LONGEST_SIDE = 16_384
UNREADABLE = "This is no PNG, JPEG or WebP picture that can be read. Save it again as one of these."
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
        raise Refused(f"This picture has far more than {limits.pixels:,} points. Make it smaller.") from None
    except (OSError, ValueError, SyntaxError, EOFError, MemoryError):
        raise Refused(UNREADABLE) from None
    made = _written(upright, form)
    if len(made) > limits.size:
        raise Refused(f"This picture takes {mib(len(made))}; {mib(limits.size)} are allowed. Make it smaller.")
    width, height = upright.size
    return made, Facts("image", FORMATS[form], len(made), width, height)


def _look(opened: Image.Image, limits: Limits) -> None:
    """Refuse by the picture's head, before a pixel is unfolded."""
    width, height = opened.size
    if width * height > limits.pixels or max(width, height) > LONGEST_SIDE:
        told = f"This picture has {width:,} x {height:,} points; {limits.pixels:,} in all are allowed."
        raise Refused(f"{told} Make it smaller.")
    if getattr(opened, "n_frames", 1) > 1:
        raise Refused("This picture moves. Send one of its frames.")
    if limits.types and FORMATS[str(opened.format)] not in limits.types:
        raise Refused(f"This is {FORMATS[str(opened.format)]}; {', '.join(limits.types)} are taken here.")


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
