"""Renew the six pictures of the README, docs/images/readme-*.webp, from screenshots.

`make screenshots` calls it after it has taken all screenshots; `python scripts/readme_pictures.py FOLDER` does so with
the screenshots of another folder.
"""

import sys
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).parent.parent
IMAGES = ROOT / "docs" / "images"
SOURCES = {
    "home": "home-wide-light",
    "create": "create-wide-light",
    "validate": "validate-narrow-dark",
    "board": "leaderboard-wide-light",
    "figures": "console-figures-wide-light",
    "model": "model-wide-light",
}
"""Name of the screenshot that each picture is made from."""
WIDTH = 1200
ASPECT = {"wide": 1000 / 1440, "narrow": 844 / 390}
"""Height by width of the part at the top of the page that a picture shows."""
LARGEST = 50_000
"""Bytes of the largest picture."""


def convert_screenshot(source: Path, target: Path) -> None:
    """Write the top of a screenshot as WebP, with the highest quality that keeps the file small enough.

    Raises `ValueError` where no quality does.
    """
    with Image.open(source) as screenshot:
        picture = screenshot.convert("RGB")
    aspect = next(aspect for kind, aspect in ASPECT.items() if f"-{kind}-" in source.name)
    picture = picture.crop((0, 0, picture.width, min(picture.height, round(picture.width * aspect))))
    if picture.width > WIDTH:
        picture = picture.resize((WIDTH, round(picture.height * WIDTH / picture.width)), Image.Resampling.LANCZOS)
    for quality in range(85, 35, -5):
        picture.save(target, "WEBP", quality=quality, method=6)
        if target.stat().st_size < LARGEST:
            return
    raise ValueError(f"{target} has {target.stat().st_size} bytes; at most {LARGEST} are allowed.")


def renew_pictures(folder: Path) -> None:
    """Write all pictures of the README from the screenshots of a folder."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    for name, source in SOURCES.items():
        convert_screenshot(folder / f"{source}.png", IMAGES / f"readme-{name}.webp")


if __name__ == "__main__":
    renew_pictures(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "screenshots")
