"""Static files under an address that changes with their content, so that browsers may cache them permanently.

One digest covers the whole tree and is a folder of the address (`/static/~0f3c.../js/site.js`): relative
addresses in scripts and style sheets stay under it without being rewritten.
"""

import hashlib
import mimetypes
from functools import cache, lru_cache
from pathlib import Path

from anyio import to_thread
from pyarrow import Codec
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Scope

from dynabench.web.bundles import BUNDLES, bundles

ROOT = Path(__file__).parent / "static"
PREFIX = "/static"
LARGE = 200_000
"""Bytes from which on a text is not packed as small as it could be."""


@cache
def static_digest() -> str:
    """The first 12 hex digits of a SHA-256 over all names and contents."""
    total = hashlib.sha256()
    for path in sorted(ROOT.rglob("*")):
        if path.is_file():
            total.update(f"{path.relative_to(ROOT).as_posix()}\0{path.stat().st_size}\0".encode())
            total.update(path.read_bytes())
    return total.hexdigest()[:12]


def static_address(name: str) -> str:
    """Return the address of a static file: `js/site.js` gives `/static/~<digest>/js/site.js`."""
    return f"{PREFIX}/~{static_digest()}/{name}"


@lru_cache(maxsize=200)
def packed_text(path: str) -> bytes | None:
    """Return a script, style sheet or drawing packed by Brotli, once for each process; None for other files.

    It is a sixth smaller than by gzip, which responses that change are packed by.
    """
    if not path.endswith((".js", ".css", ".svg")):
        return None
    place = ROOT / path
    if path not in BUNDLES and not (place.is_file() and place.resolve().is_relative_to(ROOT.resolve())):
        return None
    text = bundles()[path] if path in BUNDLES else place.read_bytes()
    level = 11 if len(text) < LARGE else 9  # the highest takes a second for each 400 kB
    packed: bytes = Codec("brotli", compression_level=level).compress(text, asbytes=True)
    return packed


class StaticFolder(StaticFiles):
    """The static folder, with or without a digest in front; only the current digest may be kept for good."""

    def get_path(self, scope: Scope) -> str:
        """The file's path without the digest's folder."""
        path = super().get_path(scope)
        first, _, rest = path.partition("/")
        return rest if first.startswith("~") else path

    async def get_response(self, path: str, scope: Scope) -> Response:
        """The file or bundle, told how long it may be kept."""
        current = f"/~{static_digest()}/" in scope["path"]
        takes_brotli = "br" in Headers(scope=scope).get("accept-encoding", "")
        small = await to_thread.run_sync(packed_text, path) if current and takes_brotli else None
        kind = mimetypes.guess_type(path)[0]
        if scope["method"] in ("GET", "HEAD") and small is not None:
            headers = {"Content-Encoding": "br", "Vary": "Accept-Encoding"}
            response = Response(small, media_type=kind, headers=headers)
        elif path in BUNDLES and scope["method"] in ("GET", "HEAD"):
            response = Response(bundles()[path], media_type=kind)
        else:
            response = await super().get_response(path, scope)
        response.headers["Cache-Control"] = "public, max-age=31536000, immutable" if current else "no-cache"
        return response


def static_app() -> ASGIApp:
    """The application to mount at `/static`."""
    return StaticFolder(directory=ROOT)
