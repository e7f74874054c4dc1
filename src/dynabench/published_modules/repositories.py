"""Published modules on a hub: their names, the commit that a name means now, and their files, kept by commit.

The hub is called through `huggingface_hub`. Each file is compared with the hash that the hub lists for it, and a
commit's files are written once, in one step, so that a cut download leaves nothing behind.
"""

import hashlib
import json
import os
import re
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from dynabench.evaluate.cards.card_text import decode_card, split_card
from dynabench.evaluate.cards.yaml_text import plain_values
from dynabench.published_modules.manifest import KEY, ModuleManifest, read_manifest

README = "README.md"
REPOSITORY = re.compile(
    r"(?P<owner>[A-Za-z0-9][\w.-]{0,95})/(?P<name>[A-Za-z0-9_][\w.-]{0,95})(?:@(?P<revision>[\w./-]{1,200}))?"
)
COMMIT = re.compile(r"[0-9a-f]{40}")
MOST_FILES, MOST_BYTES = 200, 10 * 2**20
"""Files of a module, and bytes of all of them."""
LARGE_FILE = 5 * 2**20
SECONDS = 30
SPACE = "space"


@dataclass(frozen=True)
class ModuleReference:
    """A repository of a hub, and the revision that was asked for.

    `endpoint` None is the one of `huggingface_hub`, and so is `token` None; an empty token sends none.
    """

    repository: str
    revision: str = "main"
    endpoint: str | None = None
    token: str | None = None

    @property
    def pinned(self) -> bool:
        """True where the revision is a commit, which never moves."""
        return COMMIT.fullmatch(self.revision) is not None

    @property
    def address(self) -> str:
        """The endpoint of the hub."""
        if self.endpoint:
            return self.endpoint.rstrip("/")
        from huggingface_hub import constants

        return str(constants.ENDPOINT).rstrip("/")


@dataclass(frozen=True)
class ModuleFiles:
    """The files of one commit, in a folder and by path; `digest` is the SHA-256 of all of them."""

    repository: str
    revision: str
    folder: Path
    files: dict[str, bytes]
    digest: str

    def manifest(self) -> ModuleManifest:
        """Return the module that the README.md declares. Raises ValueError."""
        return manifest_of(self.files.get(README, b""), self.repository)


def manifest_of(readme: bytes, repository: str) -> ModuleManifest:
    """Return the module that a README.md declares. Raises ValueError."""
    metadata = plain_values(split_card(decode_card(readme)).metadata())
    if KEY not in metadata:
        raise ValueError(
            f"{repository} declares no module: its README.md needs the key {KEY}, which `dynabench module publish` "
            "writes"
        )
    return read_manifest(metadata[KEY])


def parse_reference(
    path: str, revision: str | None = None, endpoint: str | None = None, token: str | None = None
) -> ModuleReference:
    """Return the repository that `owner/name` or `owner/name@revision` means. Raises ValueError."""
    match = REPOSITORY.fullmatch(path)
    if match is None or ".." in path:
        raise ValueError(f"{path!r} is no repository of a module; give owner/name, or owner/name@revision")
    if revision and match["revision"] and revision != match["revision"]:
        raise ValueError(f"give one revision, not {match['revision']} and {revision}")
    repository = f"{match['owner']}/{match['name']}"
    return ModuleReference(repository, revision or match["revision"] or "main", endpoint, token)


def is_module_file(path: str, size: int) -> bool:
    """Return whether a file belongs to a module: not hidden, no test, no cache, not large."""
    parts = PurePosixPath(path).parts
    hidden = any(part.startswith(".") or part == "__pycache__" for part in parts)
    test = parts[-1].startswith("test_") or parts[-1] == "tests.py" or parts[0] == "tests"
    return not hidden and not test and not path.endswith(".pyc") and size <= LARGE_FILE


def is_safe_path(path: str) -> bool:
    """Return whether a path stays below the folder that it is written in."""
    parts = path.split("/")
    return path.isprintable() and "\\" not in path and not any(part in ("", ".", "..") for part in parts)


def resolve_commit(reference: ModuleReference) -> str:
    """Return the commit that a reference means now. Raises ValueError where the hub does not answer."""
    return reference.revision if reference.pinned else str(_repository_info(reference).sha)


def fetch_files(reference: ModuleReference, commit: str, cache: Path | None = None) -> ModuleFiles:
    """Return the files of a commit, from the cache where they are there. Raises ValueError."""
    owner, _, name = reference.repository.partition("/")
    hub = hashlib.sha256(reference.address.lower().encode()).hexdigest()[:16]
    folder = (cache or cache_folder()) / hub / f"{owner}--{name}".lower() / commit
    if not folder.is_dir():
        _download(reference, commit, folder)
    files = read_folder(folder)
    return ModuleFiles(reference.repository, commit, folder, files, digest_files(files))


def read_folder(folder: Path) -> dict[str, bytes]:
    """Return the files of a module's folder, without hidden ones, tests and caches."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    names = {path.relative_to(folder).as_posix(): path for path in paths}
    return {name: path.read_bytes() for name, path in names.items() if is_module_file(name, path.stat().st_size)}


def digest_files(files: dict[str, bytes]) -> str:
    """Return the SHA-256 of files with their paths."""
    listed = [[path, hashlib.sha256(files[path]).hexdigest()] for path in sorted(files)]
    return hashlib.sha256(json.dumps(listed).encode()).hexdigest()


def cache_folder() -> Path:
    """Return the user's folder for files of modules."""
    start = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(start).expanduser() / "dynabench" / "modules"


def _download(reference: ModuleReference, commit: str, folder: Path) -> None:
    info = _repository_info(reference, commit)
    if info.sha != commit:
        raise ValueError(f"{reference.address} gave the commit {info.sha} for {commit}")
    chosen = [item for item in info.siblings or () if is_module_file(item.rfilename, item.size or 0)]
    if len(chosen) > MOST_FILES or sum(item.size or 0 for item in chosen) > MOST_BYTES:
        raise ValueError(
            f"{reference.repository} is too large for a module: at most {MOST_FILES} files and {MOST_BYTES >> 20} MiB"
        )
    folder.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with tempfile.TemporaryDirectory(dir=folder.parent) as name:
        start = Path(name) / "files"
        start.mkdir()
        for item in chosen:
            if not is_safe_path(item.rfilename):
                raise ValueError(f"{reference.repository} has a file with the path {item.rfilename!r:.80}")
            path = start / item.rfilename
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(_read_file(reference, commit, item))
        try:
            start.replace(folder)
        except OSError:
            if not folder.is_dir():  # another process wrote the same commit meanwhile
                raise


def _read_file(reference: ModuleReference, commit: str, item: Any) -> bytes:
    """Return a file of the size and hash that the hub listed. Raises ValueError for any other."""
    with tempfile.TemporaryDirectory() as folder:
        path = call_hub(
            reference,
            lambda api: api.hf_hub_download(
                reference.repository, item.rfilename, repo_type=SPACE, revision=commit, local_dir=folder
            ),
        )
        data = Path(path).read_bytes()
    if item.lfs is not None:
        same = hashlib.sha256(data).hexdigest() == item.lfs.sha256
    else:
        same = hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest() == item.blob_id
    if not same or len(data) != item.size:
        raise ValueError(f"{item.rfilename} of {reference.repository} is not the file that the hub listed")
    return data


def _repository_info(reference: ModuleReference, revision: str = "") -> Any:
    info = call_hub(
        reference,
        lambda api: api.space_info(
            reference.repository, revision=revision or reference.revision, files_metadata=True, timeout=SECONDS
        ),
    )
    if not COMMIT.fullmatch(str(info.sha)):
        raise ValueError(f"{reference.address} does not say which commit {reference.revision} is")
    return info


def call_hub(reference: ModuleReference, request: Callable[[Any], Any]) -> Any:
    """Return what the hub's client answers. Raises ValueError for its errors and those of its transport."""
    try:
        from huggingface_hub import HfApi, errors
        from huggingface_hub.utils.tqdm import disable_progress_bars
    except ImportError:
        raise ValueError("modules of a hub need a library: pip install huggingface_hub") from None
    disable_progress_bars()
    missing = (errors.RepositoryNotFoundError, errors.RevisionNotFoundError, errors.EntryNotFoundError)
    try:
        return request(HfApi(endpoint=reference.address, token=False if reference.token == "" else reference.token))
    except missing as error:
        if isinstance(error, errors.LocalEntryNotFoundError):
            raise ValueError(f"{reference.address} cannot be reached: {_one_line(error)}") from None
        raise ValueError(
            f"{reference.address} has no module {reference.repository} in revision {reference.revision}, or it is "
            "private: check the name, the endpoint and the token"
        ) from None
    except (errors.HfHubHTTPError, OSError) as error:
        raise ValueError(f"{reference.address} refused: {_one_line(error)}") from None
    except Exception as error:  # the client lets its transport's own errors through
        if type(error).__module__.partition(".")[0] not in ("httpx", "httpx2", "httpcore", "httpcore2", "requests"):
            raise
        raise ValueError(f"{reference.address} cannot be reached: {_one_line(error)}") from None


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())[:300] or type(error).__name__
