"""The room on the disk of the home folder."""

import shutil

from dynabench.kit.errors import NoRoom
from dynabench.kit.language import _
from dynabench.kit.settings import Settings

MIB = 2**20


def require_disk_room(settings: Settings, size: int) -> None:
    """Refuse to write `size` bytes where less than the reserve would stay free. Raises `NoRoom`."""
    free = shutil.disk_usage(settings.folder).free
    if free - size < settings.disk_reserve_mb * MIB:
        raise NoRoom(_("This site's disk is nearly full. Nothing was saved; tell the site's operator."))
