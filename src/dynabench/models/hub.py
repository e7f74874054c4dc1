"""Models of a hub that speaks Hugging Face's protocol: safetensors of one commit, kept under the home folder.

The only address that is called is the setting `DYNABENCH_HUB_URL` (which may send on to its own storage). No token is
sent, no code is fetched.
"""

import re
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from dynabench.kit.errors import Forbidden, Invalid, NotFound, Problem, TooLarge, Unavailable
from dynabench.kit.settings import Settings, get_settings

NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,95}(/[A-Za-z0-9][\w.-]{0,95})?")
REVISION = re.compile(r"[\w.-][\w./-]{0,99}")
DOWNLOADED = ("*.json", "*.txt", "*.model", "*.jinja", "model*.safetensors")
"""Files at the top of a repository that a model needs; nothing in folders, no pickles, no code."""
MOST = 64 * 2**30
"""Bytes of a model at most; loading sets a narrower limit, by the machine's memory."""
MOST_FILES = 300
SECONDS = 15


def resolve(name: str, revision: str = "main") -> str:
    """The commit, 40 hex digits, that a branch or tag of a repository names now.

    Raises `Invalid` for what is no repository's name, `NotFound`, `Forbidden` for one that asks for an agreement,
    `Unavailable` where the hub does not answer.
    """
    settings = _checked(name, revision)
    try:
        sha = _api(settings).model_info(name, revision=revision, timeout=SECONDS).sha
    except Exception as problem:  # the client raises its own errors, those of its HTTP client, and OSError
        raise _hub_problem(settings, name, problem) from None
    if not re.fullmatch(r"[0-9a-f]{40}", str(sha)):
        raise Unavailable(f"{settings.hub_url} does not say which commit {revision} of {name} is.")
    return str(sha)


def licence(name: str, commit: str) -> str:
    """Return the licence that the repository's card names; "unknown" where it names none.

    Raises as `resolve` does.
    """
    settings = _checked(name, commit)
    try:
        data = _api(settings).model_info(name, revision=commit, timeout=SECONDS).card_data
    except Exception as problem:
        raise _hub_problem(settings, name, problem) from None
    return str((data or {}).get("license") or "unknown")


def fetch(name: str, commit: str, gguf: str = "") -> Path:
    """The folder with a repository's files as of `commit`, downloaded once; with `gguf`, that file for the weights.

    Raises as `resolve` does, `Invalid` for a repository without safetensors, and `TooLarge`.
    """
    settings = _checked(name, commit)
    from huggingface_hub import snapshot_download

    patterns = [*DOWNLOADED[:-1], gguf] if gguf else list(DOWNLOADED)
    how: dict[str, Any] = {"revision": commit, "cache_dir": settings.folder / "hub", "token": False}
    done = settings.folder / "hub" / "complete" / f"{name.replace('/', '--')}@{commit}{f'--{gguf}' if gguf else ''}"
    try:
        if done.is_file():  # a download that was cut off is no model
            downloaded = done.read_text(encoding="utf-8").splitlines()
            return Path(snapshot_download(name, local_files_only=True, allow_patterns=downloaded, **how))
        chosen = _chosen(settings, name, commit, patterns)
        place = snapshot_download(name, endpoint=settings.hub_url.rstrip("/"), allow_patterns=chosen, **how)
    except Problem:
        raise
    except Exception as problem:
        raise _hub_problem(settings, name, problem) from None
    done.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    done.write_text("\n".join(chosen), encoding="utf-8")
    return Path(place)


def _chosen(settings: Settings, name: str, commit: str, patterns: list[str]) -> list[str]:
    """Names of the files to fetch; raises `Invalid` and `TooLarge`."""
    info = _api(settings).model_info(name, revision=commit, files_metadata=True, timeout=SECONDS)
    sizes = {file.rfilename: file.size or 0 for file in info.siblings or []}
    chosen = [file for file in sizes if "/" not in file and any(fnmatch(file, pattern) for pattern in patterns)]
    if not any(file.endswith((".safetensors", ".gguf")) for file in chosen):
        files = ", ".join(sorted(file for file in sizes if Path(file).suffix not in (".md", ".json"))[:8]) or "none"
        message = f"{name} has no weights as safetensors at its top, but {files}."
        remedy = "Name a .gguf file by options.gguf, or convert it (save_pretrained) and bring it as a folder."
        raise Invalid({"options.hub": f"{message} {remedy}"})
    if len(chosen) > MOST_FILES or sum(sizes[file] for file in chosen) > MOST:
        raise TooLarge(f"{name} has more than {MOST_FILES} files or {MOST // 2**30} GiB. Choose a smaller model.")
    return chosen


def _checked(name: str, revision: str) -> Settings:
    if not NAME.fullmatch(name) or ".." in name:
        raise Invalid({"options.hub": f"{name!r} is no repository; give its id, such as org/name."})
    if not REVISION.fullmatch(revision) or ".." in revision:
        raise Invalid({"options.revision": f"{revision!r} is no branch, tag or commit."})
    settings = get_settings()
    if not settings.hub_url:
        raise Unavailable("This deployment calls no hub. Download the model and bring its files as a folder.")
    return settings


def _api(settings: Settings) -> Any:
    from huggingface_hub import HfApi
    from huggingface_hub.utils.tqdm import disable_progress_bars

    disable_progress_bars()  # logs are read by people, afterwards
    return HfApi(endpoint=settings.hub_url.rstrip("/"), token=False)


def _hub_problem(settings: Settings, name: str, problem: Exception) -> Problem:
    from huggingface_hub import errors as hub

    if isinstance(problem, hub.GatedRepoError):
        message = f"{name} asks for an agreement. Agree and download it yourself, and bring its files as a folder."
        return Forbidden(message)
    unknown = hub.RepositoryNotFoundError | hub.RevisionNotFoundError | hub.EntryNotFoundError
    if isinstance(problem, unknown) and not isinstance(problem, hub.LocalEntryNotFoundError):
        return NotFound(f"{settings.hub_url} has no model {name} in this revision. Look for a typing error.")
    return Unavailable(
        f"{settings.hub_url} does not answer ({type(problem).__name__}). Try again later, or download {name} "
        "elsewhere and bring its files as a folder.",
        retry_after=60,
    )
