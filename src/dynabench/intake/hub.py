"""Datasets of a hub that speaks Hugging Face's protocol: their files are downloaded, and read like any others.

The only address that is called is the setting `DYNABENCH_HUB_URL` (which may send on to its own storage). No token is
sent, no script is run.
"""

import re
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dynabench.intake import sources
from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.kit.settings import Settings

MOST_BYTES = 1024**3  # bytes of all files of a split
MOST_FILES = 200
DATASET_ID = re.compile(r"[A-Za-z0-9][\w.-]{0,95}(/[A-Za-z0-9][\w.-]{0,95})?")
REVISION = re.compile(r"[\w./-]{0,100}")


@dataclass(frozen=True)
class HubRequest:
    """A dataset by its id (`owner/name`), with the config, split and revision that are wanted; empty for the usual."""

    dataset: str
    config: str = ""
    split: str = ""
    revision: str = ""

    def __post_init__(self) -> None:
        if not DATASET_ID.fullmatch(self.dataset) or ".." in self.dataset:
            raise errors.Invalid({"dataset": _("Give the dataset's id, such as squad or owner/name.")})
        if not REVISION.fullmatch(self.revision) or ".." in self.revision:
            raise errors.Invalid({"revision": _("Give a branch, tag or commit.")})


def download_dataset(settings: Settings, request: HubRequest, into: Path) -> list[Path]:
    """Fetch the files of a split into a folder of their own. Raises `Unavailable` where the hub does not answer,
    `NotFound` for an unknown dataset, `Invalid` for one without such files, `TooLarge`."""
    if not settings.hub_url:
        raise errors.Unavailable(_("This deployment does not use a hub. Download the dataset and import its files."))
    try:
        return _download(settings, request, into)
    except errors.Problem:
        raise
    except Exception as problem:  # the client raises its own errors, those of its HTTP client, and OSError
        raise _translate_error(settings, request, problem) from None


def _download(settings: Settings, request: HubRequest, into: Path) -> list[Path]:
    from huggingface_hub import HfApi
    from huggingface_hub.hf_api import RepoFile

    api = HfApi(endpoint=settings.hub_url.rstrip("/"), token=False)
    # The listing and each file of one commit; and where nobody answers, this says so without trying for a while.
    commit = api.dataset_info(request.dataset, revision=request.revision or None, timeout=15).sha
    how: dict[str, Any] = {"repo_type": "dataset", "revision": commit}
    sizes: dict[str, int] = {}
    for entry in api.list_repo_tree(request.dataset, recursive=True, **how):
        if isinstance(entry, RepoFile):
            sizes[entry.path] = entry.size
        if len(sizes) > 100_000:
            raise errors.TooLarge(_("This dataset has more than 100,000 files."))
    into.mkdir(parents=True, exist_ok=True, mode=0o700)

    def fetch(name: str) -> Path:
        return Path(api.hf_hub_download(request.dataset, name, local_dir=into, **how))

    small = sizes.get(sources.CARD, MOST_BYTES) < 5_000_000
    card = fetch(sources.CARD).read_text(encoding="utf-8", errors="replace") if small else ""
    chosen = sources.choose_files(list(sizes), card, request.config, request.split)
    if len(chosen) > MOST_FILES or sum(sizes[name] for name in chosen) > MOST_BYTES:
        raise errors.TooLarge(
            _("The split has more than %(most_files)s files or 1 GiB. Choose a smaller one.", most_files=MOST_FILES)
        )
    paths = [fetch(name) for name in chosen]
    if strays := [path for path in paths if not path.resolve().is_relative_to(into.resolve())]:
        raise errors.Invalid(
            {"dataset": _("The hub names a file outside of the dataset: %(name)s.", name=strays[0].name)}
        )
    return paths


def _translate_error(settings: Settings, request: HubRequest, problem: Exception) -> errors.Problem:
    from huggingface_hub import errors as hub

    if isinstance(problem, hub.GatedRepoError):
        return errors.Forbidden(
            _("%(dataset)s requires an agreement. Download it yourself and import its files.", dataset=request.dataset)
        )
    unknown = hub.RepositoryNotFoundError | hub.RevisionNotFoundError | hub.EntryNotFoundError
    if isinstance(problem, unknown) and not isinstance(problem, hub.LocalEntryNotFoundError):
        return errors.NotFound(
            _(
                "%(hub_url)s has no dataset %(dataset)s in this revision.",
                hub_url=settings.hub_url,
                dataset=request.dataset,
            )
        )
    return errors.Unavailable(
        _(
            "%(hub_url)s does not answer (%(name)s). Download the dataset elsewhere and import its files or folder.",
            hub_url=settings.hub_url,
            name=type(problem).__name__,
        ),
        retry_after=60,
    )


def remove_downloads(settings: Settings, folders: Iterable[Path]) -> None:
    """Remove the folders that downloads were kept in; no others."""
    uploads = (settings.folder / "uploads").resolve()
    for path in folders:
        for folder in (path, *path.parents):
            if folder.name.startswith(".hub-") and folder.parent.resolve() == uploads:
                shutil.rmtree(folder, ignore_errors=True)
