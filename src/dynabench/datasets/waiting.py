"""Files that were sent to be imported: kept under `uploads/<task>/data` until their import is started, or for a day."""

from collections.abc import AsyncIterable, Callable
from pathlib import Path
from uuid import UUID

from dynabench.intake import reader
from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.rounds import waiting

FOLDER = "data"
take = waiting.take


def named(path: Path) -> str:
    """Return the name that the file had when it was sent."""
    return path.name.partition("--")[2]


async def keep(
    settings: Settings,
    task: str,
    name: str,
    parts: AsyncIterable[bytes],
    kind: Callable[[str], object] = reader.kind_of_file,
) -> Path:
    """Store what is sent under a new id. Raises `Invalid` under `name` for a file that `kind` does not take."""
    try:
        kind(name)
    except errors.Invalid as problem:
        raise errors.Invalid({"name": problem.fields["file"]}) from None
    return await waiting.receive(waiting.folder(settings, task, FOLDER), name, parts)


def find(settings: Settings, task: str, file: str) -> Path:
    """The waiting file with this id; `Invalid` where it was thrown away or never was."""
    try:
        found = list((settings.folder / "uploads" / task / FOLDER).glob(f"{UUID(file)}--*"))
    except ValueError:
        found = []
    if not found:
        raise errors.Invalid({"file": _("This file is not here any more. Send it again.")})
    return found[0]
