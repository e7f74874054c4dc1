"""Archives lie ready for a week."""

import time

from dynabench.datasets.archives.service import file_of
from dynabench.kit.db import Database
from dynabench.kit.settings import Settings

KEPT = 7 * 24 * 3600  # seconds


def tidy(database: Database, settings: Settings) -> None:
    """Throw away archives that are older."""
    for path in file_of(settings, "any").parent.iterdir():
        if time.time() - path.stat().st_mtime > KEPT:
            path.unlink(missing_ok=True)
