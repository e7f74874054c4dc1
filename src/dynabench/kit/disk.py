"""The room on the disk of the home folder, and files that are erased from it."""

import shutil
from collections.abc import Iterable
from pathlib import Path

from dynabench.kit.errors import NoRoom
from dynabench.kit.language import _
from dynabench.kit.settings import Settings

MIB = 2**20


def has_disk_room(settings: Settings, size: int = 0) -> bool:
    """Return whether the reserve stays free when `size` bytes are written."""
    return shutil.disk_usage(settings.folder).free - size >= settings.disk_reserve_mb * MIB


def require_disk_room(settings: Settings, size: int) -> None:
    """Refuse to write `size` bytes where less than the reserve would stay free. Raises `NoRoom`."""
    if not has_disk_room(settings, size):
        raise NoRoom(_("This site's disk is nearly full. Nothing was saved; tell the site's operator."))


def erase_paths(paths: Iterable[Path]) -> None:
    """Erase files, and folders with all that is in them; those that are gone already are passed over."""
    for path in paths:
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
