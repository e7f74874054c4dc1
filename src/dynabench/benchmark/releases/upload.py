"""The upload of a release to a repository of the Hugging Face Hub, or to any address that fsspec knows."""

from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

from dynabench.benchmark.releases import manifest
from dynabench.kit import errors
from dynabench.kit.settings import Settings

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
    manifest.read_manifest(folder)
    if urlsplit(to).scheme == HUB:
        return _to_hub(settings, folder, to, token, progress)
    return _to_store(folder, to, progress)


def _to_store(folder: Path, to: str, progress: UploadProgress) -> str:
    import fsspec

    try:
        store, root = fsspec.url_to_fs(to)
        paths = _paths(folder)
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


def _paths(folder: Path) -> list[str]:
    """All files, the manifest last: once it is written, all others are."""
    return [*(file.path for file in manifest.read_manifest(folder).files), manifest.MANIFEST_NAME]


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
    digest = manifest.read_manifest(folder).digest
    try:
        api.create_repo(repository, repo_type="dataset", exist_ok=True)
        commit = api.upload_folder(
            repo_id=repository, repo_type="dataset", folder_path=folder, commit_message=f"Release sha256:{digest}",
        )  # fmt: skip
    except (HfHubHTTPError, OSError) as problem:
        raise errors.Unavailable(f"{settings.hub_url} takes no files: {str(problem)[:300]}") from None
    progress(1, 1)
    return f"{settings.hub_url.rstrip('/')}/datasets/{repository}/tree/{commit.oid}"
