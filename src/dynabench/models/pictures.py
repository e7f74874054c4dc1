"""Pictures as they come over the wire: `data:image/png;base64,...`, opened with limits on what they may unfold to."""

import base64
import binascii
import io
from typing import TYPE_CHECKING

from dynabench.kit.errors import Invalid
from dynabench.media.file_formats import media_type_of

if TYPE_CHECKING:
    from PIL.Image import Image

PIXELS = 40_000_000
"""Of one picture at most; a file of some kilobytes can claim any number."""
FORMATS = ("PNG", "JPEG", "WEBP")


def opened(text: str, name: str) -> "Image":
    """The picture of the input `name`, in RGB; raises `Invalid` for what is none, or too large."""
    from PIL import Image, UnidentifiedImageError

    head, _, body = text.partition(",")
    if not head.startswith("data:image/") or not head.endswith(";base64"):
        raise Invalid({name: "A picture as data:image/png;base64,... is needed."})
    try:
        found = Image.open(io.BytesIO(base64.b64decode(body, validate=True)), formats=FORMATS)
        if found.width * found.height > PIXELS:
            raise Invalid({name: f"The picture has {found.width} x {found.height} pixels; up to {PIXELS:,} are read."})
        return found.convert("RGB")
    except Image.DecompressionBombError as error:
        raise Invalid({name: f"The picture unfolds to more than {PIXELS:,} pixels."}) from error
    except (binascii.Error, UnidentifiedImageError, OSError, ValueError, SyntaxError) as error:
        raise Invalid({name: f"This is no picture that can be read ({', '.join(FORMATS)}): {error}"}) from error


def kind(content: bytes) -> str:
    """The media type of a picture by its first bytes, as `image/png`; empty for what is none that is read."""
    found = media_type_of(content)
    return found if found.startswith("image/") else ""


def text_of(picture: "Image") -> str:
    """A picture as `data:image/png;base64,...`."""
    held = io.BytesIO()
    picture.save(held, "PNG")
    return f"data:image/png;base64,{base64.b64encode(held.getvalue()).decode()}"
