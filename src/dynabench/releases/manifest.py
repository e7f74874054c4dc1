"""The manifest of a release: every file with its SHA-256. Its own SHA-256 names the whole release."""

import hashlib
from pathlib import Path
from typing import Annotated, Any, Literal

import orjson
from pydantic import BaseModel, ConfigDict, Field

from dynabench import errors
from dynabench.language import _

NAME = "manifest.json"
FORMAT = "dynabench-release"
PIECE = 1024**2


class File(BaseModel):
    """A file of the release, by its path in the folder."""

    path: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)?\.[a-z]+$", max_length=120)]
    bytes: Annotated[int, Field(ge=0)]
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    rows: Annotated[int, Field(ge=0)] | None = None


class Manifest(BaseModel):
    """What is released: of which round, divided by which rules, and its files in the order of their paths."""

    model_config = ConfigDict(extra="forbid")

    format: Literal["dynabench-release"]
    version: Literal[1]
    canary: str
    task: str
    round: int
    closed_at: str
    rules: dict[str, Any]
    examples: dict[str, int]
    files: list[File]

    def text(self) -> bytes:
        """What stands in the file."""
        return orjson.dumps(self.model_dump(), option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS) + b"\n"

    @property
    def digest(self) -> str:
        """The SHA-256 of the file, by which the release is cited."""
        return hashlib.sha256(self.text()).hexdigest()


def file_of(folder: Path, path: str, rows: int | None = None) -> File:
    """What the manifest says of a file."""
    digest = hashlib.sha256()
    with (folder / path).open("rb") as file:
        while part := file.read(PIECE):
            digest.update(part)
    return File(path=path, bytes=(folder / path).stat().st_size, sha256=digest.hexdigest(), rows=rows)


def read(folder: Path) -> Manifest:
    """The manifest of a release in a folder, whose files are looked at. Raises `Invalid` under `folder`."""
    try:
        found = Manifest.model_validate_json((folder / NAME).read_bytes())
    except (OSError, ValueError):
        raise errors.Invalid(
            {"folder": _("%(folder)s is no release: it has no %(name)s that can be read.", folder=folder, name=NAME)}
        ) from None
    for each in found.files:
        try:
            same = file_of(folder, each.path).sha256 == each.sha256
        except OSError:
            same = False
        if not same:
            raise errors.Invalid(
                {"folder": _("%(path)s is not the file that the release was made with.", path=each.path)}
            )
    return found
