"""Choice of the files of a dataset's folder that hold the rows: by its card's `configs`, else by their names.

Loading scripts are never run; a dataset that has nothing else is refused.
"""

import re
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath
from typing import Any

from dynabench.evaluate.cards import CardError, split_card
from dynabench.intake import reader
from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.kit.settings import Settings

CARD = "README.md"
SPLITS = {
    "train": ("train", "training"),
    "validation": ("validation", "valid", "val", "dev"),
    "test": ("test", "testing", "eval"),
}
NOT_ROWS = ("dataset_infos.json", "dataset_info.json", "config.json", "state.json")
_WORD = re.compile(r"[a-z]+")


def choose_files(names: Sequence[str], card: str = "", config: str = "", split: str = "") -> list[str]:
    """The files (relative paths) of a config's split, sorted; without a `split` train's, else all.

    Raises `Invalid` under `config`, `split` or `dataset`.
    """
    by_split = find_splits(names, card, config)
    chosen_split = split or next((entry for entry in ("train", "") if entry in by_split), "")
    if chosen_split not in by_split and (split or len(by_split) > 1):
        raise errors.Invalid({"split": _("Choose one of %(value)s.", value=", ".join(sorted(filter(None, by_split))))})
    return by_split.get(chosen_split) or next(iter(by_split.values()))


def find_splits(names: Sequence[str], card: str = "", config: str = "") -> dict[str, list[str]]:
    """Return the files of rows by split, those without a split under an empty name.

    Raises `Invalid` under `config` or `dataset`.
    """
    data = sorted(name for name in names if _is_data(name))
    if not data:
        scripts = any(name.endswith(".py") for name in names)
        why = (
            _("Its rows come from a script; scripts are never run here.")
            if scripts
            else _("The dataset has no data files.")
        )
        raise errors.Invalid(
            {"dataset": _("%(why)s Supported files: %(kinds)s.", why=why, kinds=", ".join(reader.KINDS))}
        )
    return group_files(data, card, config)


def group_files(data: Sequence[str], card: str = "", config: str = "") -> dict[str, list[str]]:
    """Return paths by split, as the card's configs say, else by the words in them.

    Raises `Invalid` under `config` for one that neither the card nor a folder is called.
    """
    by_split = _from_card(data, card, config)
    if by_split is None:
        if config:
            data = [name for name in data if config in PurePosixPath(name).parts]
            if not data:
                raise errors.Invalid(
                    {
                        "config": _(
                            "The dataset has no folder %(config)s, and its card has no such config.",
                            config=repr(config),
                        )
                    }
                )
        by_split = group_by_split(data)
    return by_split


def _is_data(name: str) -> bool:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or path.name in NOT_ROWS or path.name.startswith("."):
        return False
    try:
        return bool(reader.kind_of_file(path.name))
    except errors.Invalid:
        return False


def group_by_split(data: Sequence[str]) -> dict[str, list[str]]:
    """Return paths by the split that words in them name; an empty name for those that name none."""
    matches: dict[str, list[str]] = {}
    for name in data:
        words = _WORD.findall(name.lower())
        split = next((split for split, called in SPLITS.items() if any(word in called for word in words)), "")
        matches.setdefault(split, []).append(name)
    return matches


def read_front_matter(card: str) -> dict[str, Any]:
    """The YAML at the head of a card; nothing where there is none."""
    try:
        return split_card(card).metadata()
    except CardError:
        return {}


def card_configs(card: str) -> dict[str, dict[str, Any]]:
    """Return the configs that a card describes, by name, the one that is meant without a name first."""
    configs = read_front_matter(card).get("configs")
    configs = [entry for entry in configs if isinstance(entry, dict)] if isinstance(configs, list) else []
    named = {str(entry.get("config_name", "default")): entry for entry in configs}
    if not named:
        return {}
    fallback = next((name for name, entry in named.items() if entry.get("default")), next(iter(named)))
    first = "default" if "default" in named else fallback
    return {first: named[first]} | named


def _from_card(data: Sequence[str], card: str, config: str) -> dict[str, list[str]] | None:
    named = card_configs(card)
    if not named:
        return None
    chosen = named.get(config or next(iter(named)))
    if chosen is None:
        raise errors.Invalid({"config": _("Choose one of %(value)s.", value=", ".join(sorted(named)))})
    files = chosen.get("data_files", [])
    files = [files] if isinstance(files, str | dict) else files
    matches: dict[str, list[str]] = {}
    for entry in files:
        split, paths = (
            (str(entry.get("split", "")), entry.get("path", [])) if isinstance(entry, dict) else ("train", entry)
        )
        patterns = [str(path).removeprefix("./") for path in (paths if isinstance(paths, list) else [paths])]
        base = str(chosen.get("data_dir") or "").strip("/")
        patterns = [f"{base}/{pattern}" if base else pattern for pattern in patterns]
        held = [name for name in data if any(fnmatch(name, pattern.replace("**/", "*")) for pattern in patterns)]
        matches.setdefault(split, []).extend(name for name in held if name not in matches.get(split, []))
    return {split: names for split, names in matches.items() if names} or None


def local_files(folder: Path, config: str = "", split: str = "") -> list[Path]:
    """The files of a folder on this machine; links that lead out of it are not followed."""
    root = folder.resolve()
    matches = [path for path in sorted(root.rglob("*")) if path.is_file() and path.resolve().is_relative_to(root)]
    names = [path.relative_to(root).as_posix() for path in matches[:10_000]]
    card = root / CARD
    text = card.read_text(encoding="utf-8", errors="replace")[:1_000_000] if card.is_file() else ""
    return [root / name for name in choose_files(names, text, config, split)]


ZIP = ".zip"
MOST_ENTRIES = 10_000
UNPACKED_BYTES = 4 * 1024**3
"""Of all data files."""
PIECE = 1024**2
CARD_BYTES = 1_000_000
RowFiles = list[tuple[Path, str]]
"""Paths of files with the names that tell their kinds."""


def kind_of_source(name: str) -> str:
    """Return the kind of a file from its name: one of `reader.KINDS` or `.zip`. Raises `Invalid` under `file`."""
    return ZIP if name.lower().endswith(ZIP) else reader.kind_of_file(name)


@contextmanager
def open_source(path: Path, name: str, split: str = "", first: bool = False) -> Iterator[RowFiles]:
    """Give the files of rows in a file: itself, or those of a split of a zipped folder (see `folders.choose`).

    What is unpacked lies in a folder that is removed afterwards; `first` unpacks only one file. Raises `Invalid` or
    `TooLarge` for what is no honest archive: paths that lead out of it, links, passwords, bombs.
    """
    if kind_of_source(name) != ZIP:
        yield [(path, name)]
        return
    place = Path(tempfile.mkdtemp(prefix=".unzipped-", dir=path.parent))
    try:
        yield [(file, file.name) for file in _unpack(path, place, split, first)]
    finally:
        shutil.rmtree(place, ignore_errors=True)


@contextmanager
def open_path(path: Path) -> Iterator[RowFiles]:
    """Give the files of rows of a folder, or those in a file."""
    if path.is_dir():
        yield [(file, file.name) for file in local_files(path)]
        return
    with open_source(path, path.name) as files:
        yield files


def _unpack(path: Path, place: Path, split: str, first: bool) -> list[Path]:
    try:
        with zipfile.ZipFile(path) as archive:
            entries = {entry.filename: entry for entry in honest_entries(archive)}
            names = _without_top(list(entries))
            card = ""
            if CARD in names:
                with archive.open(names[CARD]) as stream:
                    card = stream.read(CARD_BYTES).decode("utf-8", errors="replace")
            chosen = choose_files(list(names), card, "", split)
            room, files = UNPACKED_BYTES, []
            for number, name in enumerate(chosen[:1] if first else chosen):
                target = place / f"{number:04d}-{PurePosixPath(name).name[-80:]}"
                room -= unpack_file(archive, entries[names[name]], target, room)
                files.append(target)
            return files
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, UnicodeError) as problem:
        raise errors.Invalid({"file": f"This zip file cannot be read: {str(problem)[:100]}"}) from None


def honest_entries(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    """Return the files of an archive. Raises `Invalid` for paths that lead out of it, links, passwords and files of one
    name, and `TooLarge` for too many."""
    entries = [entry for entry in archive.infolist() if not entry.is_dir()]
    if len(entries) > MOST_ENTRIES:
        raise errors.TooLarge(
            _("This zip file has more than %(most_entries)s files.", most_entries=f"{MOST_ENTRIES:,}")
        )
    seen: set[str] = set()
    for entry in entries:
        path = PurePosixPath(entry.filename)
        if path.is_absolute() or ".." in path.parts or "\\" in entry.filename or ":" in path.parts[0]:
            raise errors.Invalid(
                {"file": _("A path in the zip file points outside it: %(value)s.", value=repr(entry.filename[:80]))}
            )
        if entry.external_attr >> 16 & 0o170000 == 0o120000:
            raise errors.Invalid(
                {"file": _("The zip file contains a link: %(value)s.", value=repr(entry.filename[:80]))}
            )
        if entry.flag_bits & 1:
            raise errors.Invalid({"file": _("The zip file is protected by a password.")})
        if entry.filename in seen:
            raise errors.Invalid(
                {"file": _("Two files in the zip file have the same name: %(value)s.", value=repr(entry.filename[:80]))}
            )
        seen.add(entry.filename)
    return entries


def _without_top(names: list[str]) -> dict[str, str]:
    """Paths below the one folder that everything lies in, if it does; without what file managers add."""
    data_names = [name for name in names if not name.startswith("__MACOSX/")]
    tops = {name.partition("/")[0] for name in data_names}
    below = len(tops) == 1 and all("/" in name for name in data_names)
    return {name.partition("/")[2] if below else name: name for name in data_names}


def unpack_file(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, target: Path, room: int) -> int:
    """Unpack a file; return how many bytes it has, whatever the archive says. Raises `TooLarge` beyond `room`."""
    size = 0
    with archive.open(entry) as stream, target.open("xb") as out:
        while piece := stream.read(PIECE):
            size += len(piece)
            if size > room or (
                size > reader.SUSPECT_BYTES and size > reader.SUSPECT_RATIO * max(entry.compress_size, 1)
            ):
                raise errors.TooLarge(_("This zip file is too large when unpacked. Split it."))
            out.write(piece)
    return size


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

    small = sizes.get(CARD, MOST_BYTES) < 5_000_000
    card = fetch(CARD).read_text(encoding="utf-8", errors="replace") if small else ""
    chosen = choose_files(list(sizes), card, request.config, request.split)
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
