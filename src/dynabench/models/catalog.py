"""Catalog of the models shipped in the package and those in the operator's folders.

Importing this imports no torch; `open_model` does when the model's kind needs it.
"""

import logging
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from dynabench.kit.errors import NotFound, Problem
from dynabench.kit.settings import Settings, get_settings
from dynabench.models import encoder, kinds, spec
from dynabench.models.protocol import Attributable, ModelCard

log = logging.getLogger(__name__)

BUILTIN = Path(__file__).parent / "builtin"
_unlisted: set[Path] = set()
"""Places that could not be listed when they were last looked at, which is told once."""


@dataclass(frozen=True)
class Entry:
    """One model folder: its card, or the reason why it cannot be used."""

    name: str
    folder: Path
    card: ModelCard | None
    reason: str = ""

    @property
    def version(self) -> str:
        """The version, empty when the folder is broken."""
        return self.card.version if self.card else ""


def folders(settings: Settings | None = None) -> list[Path]:
    """Return the folders that are searched for models.

    Of several versions of one name, the one found first is the default.
    """
    settings = settings or get_settings()
    named = [Path(part).expanduser() for part in settings.models.split(":") if part]
    return [*named, settings.folder / "models", BUILTIN]


def find(places: Iterable[Path] | None = None) -> list[Entry]:
    """All models in `places` (default: `folders()`) by name, broken ones with the reason.

    Of several versions of one name all are listed, the one found first is the first.
    """
    entries_by_key: dict[tuple[str, str], Entry] = {}
    for place in folders() if places is None else places:
        for folder in subfolders(place):
            entry = _read_shipped(folder) if place == BUILTIN else read_entry(folder)
            if place == BUILTIN and entry.card and not kinds.kind(entry.card.kind).has_weights():
                continue  # a shipped model appears once the package of its weights is installed
            entries_by_key.setdefault((entry.name, entry.version), entry)
    entries = _with_members(list(entries_by_key.values()), places is not None)
    return sorted(entries, key=lambda entry: entry.name)


def _read_shipped(folder: Path) -> Entry:
    """Return the entry of a shipped model; its weights are hashed once, as long as no file of it changes."""
    try:
        statuses = [path.stat() for path in sorted(folder.rglob("*"))]
        state = (encoder.digest(), *((status.st_ino, status.st_size, status.st_mtime_ns) for status in statuses))
    except (Problem, OSError):
        return read_entry(folder)
    return _remembered(folder, state)


@lru_cache(maxsize=256)
def _remembered(folder: Path, _state: tuple[object, ...]) -> Entry:
    return read_entry(folder)


def subfolders(place: Path) -> list[Path]:
    """The model folders in `place` by name; hidden ones are still being written, and what cannot be listed is none."""
    try:
        model_folders = sorted(
            folder for folder in place.iterdir() if not folder.name.startswith(".") and _holds_model(folder)
        )
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        if place not in _unlisted:
            log.warning("the models in %s cannot be listed: %s", place, error)
            _unlisted.add(place)
        return []
    _unlisted.discard(place)
    return model_folders


def _holds_model(folder: Path) -> bool:
    try:
        return (folder / spec.FILE).is_file()
    except OSError:  # the folder may not be entered
        return False


def names(settings: Settings | None = None) -> set[str]:
    """Return the names of the models in `folders`; a model without a name has that of its folder.

    Nothing else of the models is read.
    """
    return {_name(folder) for place in folders(settings) for folder in subfolders(place)}


def _name(folder: Path) -> str:
    try:
        text = (folder / spec.FILE).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return folder.name
    match = re.search(r"^name:\s*['\"]?([\w.-]+)", text, re.M)
    return match[1] if match else folder.name


def entry(name: str, version: str | None = None, places: Iterable[Path] | None = None) -> Entry:
    """The model of this name and version (default: the one found first); raises `NotFound` with what exists."""
    entries = find(places)
    for model in entries:
        if model.name == name and version in (None, model.version):
            return model
    listing = ", ".join(f"{model.name} ({model.version or model.reason})" for model in entries) or "none"
    raise NotFound(f"There is no model {name!r}{f' of version {version}' if version else ''}; there are: {listing}.")


def open_model(folder: Path, bulk: bool = False) -> Attributable:
    """Load a model for use in this process; raises `Invalid` when its folder is broken.

    For evaluating many inputs, `bulk` asks the backend for whatever answers most a second, at the price of memory.
    """
    opened: Attributable = kinds.kind(spec.card(folder).kind).opener().open(folder, bulk)
    return opened


def _with_members(entries: list[Entry], elsewhere: bool) -> list[Entry]:
    """The entries, of which one that asks other models keeps inputs inside only if each of these is known to do so.

    Members are those of the deployment's folders; `elsewhere` says that the entries come from others.
    """
    asking = {index: asks for index, entry in enumerate(entries) if entry.card and (asks := _asks(entry))}
    if not asking:
        return entries
    cards = {f"{entry.name}@{entry.version}": entry.card for entry in (find() if elsewhere else entries)}
    for index, asks in asking.items():
        entry = entries[index]
        if entry.card and not all((card := cards.get(name)) and card.inside for name in asks):
            entries[index] = replace(entry, card=replace(entry.card, inside=False))
    return entries


def _asks(entry: Entry) -> tuple[str, ...]:
    kind = kinds.kind(entry.card.kind) if entry.card else None
    try:
        return kind.asks(spec.read(entry.folder).options) if kind and kind.options else ()
    except Problem:  # the folder has changed since its card was read
        return ("",)


def read_entry(folder: Path) -> Entry:
    """One model folder, whatever is wrong with it."""
    try:
        card = spec.card(folder)
    except Problem as problem:
        return Entry(folder.name, folder, None, problem.detail)
    except OSError as error:
        return Entry(folder.name, folder, None, f"its files cannot be read: {error.strerror or error}")
    except Exception as error:  # a plug-in's
        log.exception("the model in %s", folder)
        return Entry(folder.name, folder, None, f"{type(error).__name__}: {error}")
    return Entry(card.name, folder, card)
