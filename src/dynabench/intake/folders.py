"""Choice of the files of a dataset's folder that hold the rows: by its card's `configs`, else by their names.

Loading scripts are never run; a dataset that has nothing else is refused.
"""

import re
from collections.abc import Sequence
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

from dynabench.intake import reader
from dynabench.kit import errors
from dynabench.kit.language import _

CARD = "README.md"
SPLITS = {
    "train": ("train", "training"),
    "validation": ("validation", "valid", "val", "dev"),
    "test": ("test", "testing", "eval"),
}
NOT_ROWS = ("dataset_infos.json", "dataset_info.json", "config.json", "state.json")
_WORD = re.compile(r"[a-z]+")


def choose(names: Sequence[str], card: str = "", config: str = "", split: str = "") -> list[str]:
    """The files (relative paths) of a config's split, sorted; without a `split` train's, else all.

    Raises `Invalid` under `config`, `split` or `dataset`.
    """
    data = sorted(name for name in names if _is_data(name))
    if not data:
        scripts = any(name.endswith(".py") for name in names)
        why = _("Its rows come from a script, which is never run here.") if scripts else _("It has no data files.")
        raise errors.Invalid(
            {"dataset": _("%(why)s Files that are read: %(kinds)s.", why=why, kinds=", ".join(reader.KINDS))}
        )
    by_split = _from_card(data, card, config)
    if by_split is None:
        if config:
            data = [name for name in data if config in PurePosixPath(name).parts]
            if not data:
                raise errors.Invalid(
                    {
                        "config": _(
                            "The dataset has no folder %(config)s and its card no such config.", config=repr(config)
                        )
                    }
                )
        by_split = _by_name(data)
    chosen_split = split or next((entry for entry in ("train", "") if entry in by_split), "")
    if chosen_split not in by_split and (split or len(by_split) > 1):
        raise errors.Invalid({"split": _("Choose one of %(value)s.", value=", ".join(sorted(filter(None, by_split))))})
    return by_split.get(chosen_split) or next(iter(by_split.values()))


def _is_data(name: str) -> bool:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or path.name in NOT_ROWS or path.name.startswith("."):
        return False
    try:
        return bool(reader.kind_of_file(path.name))
    except errors.Invalid:
        return False


def _by_name(data: list[str]) -> dict[str, list[str]]:
    matches: dict[str, list[str]] = {}
    for name in data:
        words = _WORD.findall(name.lower())
        split = next((split for split, called in SPLITS.items() if any(word in called for word in words)), "")
        matches.setdefault(split, []).append(name)
    return matches


def front_matter(card: str) -> dict[str, Any]:
    """The YAML at the head of a card; nothing where there is none."""
    matches = re.match(r"\A---\s*\n(.*?)\n---\s*(\n|\Z)", card, re.DOTALL)
    try:
        document = yaml.safe_load(matches[1]) if matches else None
    except yaml.YAMLError:
        return {}
    return document if isinstance(document, dict) else {}


def _from_card(data: list[str], card: str, config: str) -> dict[str, list[str]] | None:
    configs = front_matter(card).get("configs")
    configs = [entry for entry in configs if isinstance(entry, dict)] if isinstance(configs, list) else []
    if not configs:
        return None
    named = {str(entry.get("config_name", "default")): entry for entry in configs}
    fallback = next((name for name, entry in named.items() if entry.get("default")), next(iter(named)))
    chosen = named.get(config or ("default" if "default" in named else fallback))
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


def local(folder: Path, config: str = "", split: str = "") -> list[Path]:
    """The files of a folder on this machine; links that lead out of it are not followed."""
    root = folder.resolve()
    matches = [path for path in sorted(root.rglob("*")) if path.is_file() and path.resolve().is_relative_to(root)]
    names = [path.relative_to(root).as_posix() for path in matches[:10_000]]
    card = root / CARD
    text = card.read_text(encoding="utf-8", errors="replace")[:1_000_000] if card.is_file() else ""
    return [root / name for name in choose(names, text, config, split)]
