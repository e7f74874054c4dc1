"""The pictures of the README: few, small, and made from screenshots."""

import re
from pathlib import Path

import pytest
from PIL import Image

from scripts import readme_pictures

README = (readme_pictures.ROOT / "README.md").read_text("utf-8")


def test_the_readme_shows_the_pictures_that_the_repository_has_and_no_other():
    matches = re.findall(r'!\[[^\]]+\]\(([^)]+)\)|<img src="([^"]+)"', README)
    files = {f"docs/images/readme-{name}.webp" for name in readme_pictures.SOURCES}
    assert {markdown or html for markdown, html in matches} == files
    for file in files:
        assert (readme_pictures.ROOT / file).stat().st_size < readme_pictures.LARGEST


def test_a_screenshot_is_cut_to_its_top_and_made_smaller(tmp_path: Path):
    Image.new("RGB", (1440, 3000), "white").save(tmp_path / "home-wide-light.png")
    readme_pictures.convert_screenshot(tmp_path / "home-wide-light.png", tmp_path / "home.webp")
    with Image.open(tmp_path / "home.webp") as picture:
        assert (picture.format, picture.size) == ("WEBP", (1200, 833))


def test_a_picture_that_stays_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(readme_pictures, "LARGEST", 200)
    Image.new("RGB", (1440, 1000), "white").save(tmp_path / "noise-wide-light.png")
    with pytest.raises(ValueError, match="at most"):
        readme_pictures.convert_screenshot(tmp_path / "noise-wide-light.png", tmp_path / "noise.webp")
