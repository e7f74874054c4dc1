"""The manifest of a release, which names every file with its SHA-256, and the upload of a release to other sites.

The manifest's own SHA-256 names the whole release.
"""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

import orjson
from pydantic import BaseModel, ConfigDict, Field

from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.kit.settings import Settings

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
                    "%(folder)s is not a release: it has no readable %(name)s.", folder=folder, name=MANIFEST_NAME
                )
            }
        ) from None
    for file in release_manifest.files:
        try:
            same = describe_file(folder, file.path).sha256 == file.sha256
        except OSError:
            same = False
        if not same:
            raise errors.Invalid({"folder": _("%(path)s differs from the file of the release.", path=file.path)})
    return release_manifest


HUB = "hf"
UploadProgress = Callable[[int, int], object]
"""Called with how many files are written, of how many."""


def upload_release(
    settings: Settings, folder: Path, to: str, token: str = "", progress: UploadProgress = lambda *_: None
) -> str:
    """Copy the files of a release in `folder` to an address; return the address where they are then.

    `hf://datasets/OWNER/NAME` is a repository of the hub of `DYNABENCH_HUB_URL`, which `token` may write; it is
    created if it is missing, and its other files stay. Every other address is one of fsspec, such as
    `file:///backups/x`, `memory://x` or `s3://bucket/x` (with the package s3fs). Raises `Invalid`, `Unavailable`.
    """
    read_manifest(folder)
    if urlsplit(to).scheme == HUB:
        return _to_hub(settings, folder, to, token, progress)
    return _to_store(folder, to, progress)


def _to_store(folder: Path, to: str, progress: UploadProgress) -> str:
    import fsspec

    try:
        store, root = fsspec.url_to_fs(to)
        # The manifest last: once it is written, all others are.
        paths = [*(file.path for file in read_manifest(folder).files), MANIFEST_NAME]
        for number, path in enumerate(paths, start=1):
            target = f"{root.rstrip('/')}/{path}"
            store.makedirs(target.rpartition("/")[0], exist_ok=True)
            store.put_file(str(folder / path), target)
            progress(number, len(paths))
    except (ValueError, ImportError) as problem:
        raise errors.Invalid({"to": f"This is no address that files can be written to: {problem}"[:300]}) from None
    except OSError as problem:
        raise errors.Unavailable(f"{to} takes no files: {str(problem)[:200]}") from None
    return to


def _to_hub(settings: Settings, folder: Path, to: str, token: str, progress: UploadProgress) -> str:
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HfHubHTTPError

    parts = urlsplit(to)
    repository = parts.path.strip("/")
    if parts.netloc != "datasets" or repository.count("/") != 1:
        raise errors.Invalid({"to": "A repository is hf://datasets/OWNER/NAME."})
    if not settings.hub_url:
        raise errors.Unavailable("This deployment calls no hub. Set DYNABENCH_HUB_URL.")
    api = HfApi(endpoint=settings.hub_url.rstrip("/"), token=token or None)
    digest = read_manifest(folder).digest
    try:
        api.create_repo(repository, repo_type="dataset", exist_ok=True)
        commit = api.upload_folder(
            repo_id=repository, repo_type="dataset", folder_path=folder, commit_message=f"Release sha256:{digest}",
        )  # fmt: skip
    except (HfHubHTTPError, OSError) as problem:
        raise errors.Unavailable(f"{settings.hub_url} takes no files: {str(problem)[:300]}") from None
    progress(1, 1)
    return f"{settings.hub_url.rstrip('/')}/datasets/{repository}/tree/{commit.oid}"
