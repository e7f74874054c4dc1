"""From what people call a model - a folder, a zip, a name, a hub id, an address - to its folder."""

import re
from pathlib import Path

from dynabench.kit.errors import Invalid
from dynabench.models import catalog, spec
from dynabench.tasks.config import TaskConfig

HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+")


def folder_for(reference: str, task: TaskConfig, into: Path) -> Path:
    """The model's folder; zips, hub ids and addresses get one below `into`. Raises `Invalid` with what to do."""
    if reference.startswith(("http://", "https://")):
        from dynabench.models import endpoints

        return endpoints.folder_for(reference, task, into)
    path = Path(reference).expanduser()
    if path.is_dir():
        return _described(path, task, into)
    if path.is_file():
        return _unpacked(path, into)
    for entry in catalog.find():
        if reference in (entry.name, f"{entry.name}@{entry.version}"):
            return entry.folder
    if HUB_ID.fullmatch(reference) and not reference.startswith((".", "/")):
        from dynabench.models.starting import pretrained

        return pretrained.from_hub(reference, _name(reference.partition("/")[2]), task, into)
    known = ", ".join(sorted({entry.name for entry in catalog.find()})) or "none"
    told = f"{reference!r} is no folder, zip, hub id (org/name) or address, nor a model installed here: {known}."
    raise Invalid({"model": told})


def _described(path: Path, task: TaskConfig, into: Path) -> Path:
    """The folder, or one with a `model.yaml` made of what the transformers library saved there."""
    if (path / spec.FILE).is_file() or not (path / "config.json").is_file():
        return path
    from dynabench.models.starting import pretrained

    return pretrained.from_folder(path, _name(path.resolve().name), task, into)


def _name(text: str) -> str:
    """A model's name made of somebody else's."""
    return re.sub(r"[^a-z0-9._-]+", "-", text.lower()).strip("-._")[:64] or "model"


def _unpacked(path: Path, into: Path) -> Path:
    if path.name == spec.FILE:
        raise Invalid({"model": f"Name the folder that holds it: {path.parent}."})
    if path.suffix.lower() != ".zip":
        raise Invalid({"model": f"{path.name} is a file; name the model's folder, or a zip of it."})
    from dynabench.models import archives

    folder = into / path.stem
    found: Path | None = archives.unpack(path, folder)
    return found or folder
