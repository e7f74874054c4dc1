"""The manifest of a release: every file with its SHA-256. Its own SHA-256 names the whole release."""

import hashlib
from pathlib import Path
from typing import Annotated, Any, Literal

import orjson
from pydantic import BaseModel, ConfigDict, Field

from dynabench.kit import errors
from dynabench.kit.language import _

MANIFEST_NAME = "manifest.json"
FORMAT = "dynabench-release"
PIECE = 1024**2


class ReleaseFile(BaseModel):
    """A file of the release, by its path in the folder."""

    path: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)?\.[a-z]+$", max_length=120)]
    bytes: Annotated[int, Field(ge=0)]
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    rows: Annotated[int, Field(ge=0)] | None = None


class ReleaseManifest(BaseModel):
    """The contents of a release: its round, the rules of its division, and its files in the order of their paths."""

    model_config = ConfigDict(extra="forbid")

    format: Literal["dynabench-release"]
    version: Literal[1]
    canary: str
    task: str
    round: int
    closed_at: str
    rules: dict[str, Any]
    examples: dict[str, int]
    files: list[ReleaseFile]

    def text(self) -> bytes:
        """Return the bytes of the file."""
        return orjson.dumps(self.model_dump(), option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS) + b"\n"

    @property
    def digest(self) -> str:
        """The SHA-256 of the file, by which the release is cited."""
        return hashlib.sha256(self.text()).hexdigest()


def describe_file(folder: Path, path: str, rows: int | None = None) -> ReleaseFile:
    """Return the manifest's entry for a file."""
    digest = hashlib.sha256()
    with (folder / path).open("rb") as file:
        while part := file.read(PIECE):
            digest.update(part)
    return ReleaseFile(path=path, bytes=(folder / path).stat().st_size, sha256=digest.hexdigest(), rows=rows)


def read_manifest(folder: Path) -> ReleaseManifest:
    """Return the manifest of a release in a folder, after a check of its files. Raises `Invalid` under `folder`."""
    try:
        release_manifest = ReleaseManifest.model_validate_json((folder / MANIFEST_NAME).read_bytes())
    except (OSError, ValueError):
        raise errors.Invalid(
            {
                "folder": _(
                    "%(folder)s is no release: it has no %(name)s that can be read.", folder=folder, name=MANIFEST_NAME
                )
            }
        ) from None
    for file in release_manifest.files:
        try:
            same = describe_file(folder, file.path).sha256 == file.sha256
        except OSError:
            same = False
        if not same:
            raise errors.Invalid(
                {"folder": _("%(path)s is not the file that the release was made with.", path=file.path)}
            )
    return release_manifest
