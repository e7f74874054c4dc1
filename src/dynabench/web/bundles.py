"""The one style sheet and script of all pages, and scripts of rare elements, made of the files of `static/`.

An installed package has both ready, made by hatch_build.py for the sources that it ships. In a checkout, where sources
change, each process makes them anew with esbuild when it is first asked for a page (20 ms), and keeps them in memory:
nothing is written, so processes that start together, worktrees and read-only folders need no care. Without esbuild the
entries themselves are served: `main.css` and `main.js` import the others, which browsers do as well.

hatch_build.py reads this file by its path: it imports the standard library alone.
"""

import hashlib
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent / "static"
PARTS: Mapping[str, tuple[str, ...]] = {
    "js/write.js": (
        *(
            "active-time",
            "answer-picker",
            "picked-answer",
            "chat-field",
            "image-zoom",
            "labelled-spans",
            "media-upload",
        ),
        *("picture-field", "rank-list", "region-picker", "repeated-rows", "slide-field", "span-picker", "text-layers"),
        *("upload-progress", "used-suggestion", "vote-form", "writing-counts"),
    ),
    "js/weighed-board.js": ("weighed-board",),
    "js/yaml-editor.js": ("yaml-editor",),
    "js/form-builder.js": ("form-builder",),
    "js/vega-chart.js": ("vega-chart",),
}
"""Scripts of elements that few pages have -> the names of the elements."""
BUNDLES: Mapping[str, str] = {
    "css/site.css": "css/main.css",
    "css/documents.css": "css/documents.css",
    "js/site.js": "js/main.js",
    "js/live-feed.js": "js/live-feed.js",
    **{name: name for name in PARTS},
}
"""Name under which a bundle is served -> the source that it begins with."""
OPTIONS = (
    *("--bundle", "--minify", "--format=esm", "--target=es2022", "--legal-comments=none", "--log-level=error"),
    "--external:*.woff2",
)
STAMP = ROOT / "vendor/sources.sha256"
ESBUILD = Path(__file__).parents[3] / "frontend/node_modules/@esbuild"
"""The programs that a checkout has after `python hatch_build.py`, one for each kind of machine."""
PATIENCE = 30  # seconds


def sources_digest() -> str:
    """Return the SHA-256 of everything that the bundles are made of."""
    total = hashlib.sha256(" ".join(OPTIONS).encode())
    for path in sorted([*(ROOT / "css").glob("*.css"), *(ROOT / "js").glob("*.js")]):
        total.update(f"{path.name}\0{path.stat().st_size}\0".encode() + path.read_bytes())
    return total.hexdigest()


def bundle_path(name: str) -> Path:
    """Return the place of a bundle that hatch_build.py made: `css/site.css` lies in `vendor/site.css`."""
    return ROOT / "vendor" / Path(name).name


def parts_of(html: str) -> list[str]:
    """Return the scripts of `PARTS` whose elements a page has."""
    return [name for name, elements in PARTS.items() if any(f"<{element}" in html for element in elements)]


@cache
def bundles() -> dict[str, bytes]:
    """Return the bundles by the names under which they are served."""
    if STAMP.exists() and STAMP.read_text() == sources_digest():
        return {name: bundle_path(name).read_bytes() for name in BUNDLES}
    return {name: _bundle(entry) for name, entry in BUNDLES.items()}


def _bundle(entry: str) -> bytes:
    """A bundle made by a checkout's esbuild; the entry itself where there is none."""
    program = next(ESBUILD.glob("*/bin/esbuild"), None) or next(ESBUILD.glob("*/esbuild.exe"), None)
    if program is None:
        return (ROOT / entry).read_bytes()
    command = [str(program), str(ROOT / entry), *OPTIONS]
    result = subprocess.run(command, capture_output=True, check=False, timeout=PATIENCE)
    if result.returncode:
        raise RuntimeError(f"esbuild failed on {entry}:\n{result.stderr.decode()}")
    return result.stdout
