"""What a worker sees to from time to time: files that were sent and that nothing shows are thrown away after a day."""

import time
from datetime import timedelta

from sqlalchemy import delete
from sqlalchemy.orm import Session

from dynabench.db import Database, now
from dynabench.media import queries
from dynabench.media.store import DIGEST, Store
from dynabench.media.tables import Media, MediaUpload
from dynabench.settings import Settings

KEPT = timedelta(days=1)
AT_ONCE = 500


def tidy(database: Database, settings: Settings, kept: timedelta = KEPT) -> None:
    """Throw away rows first and their files afterwards; then files that no row has named for as long."""
    store, before = Store.of(settings), time.time() - kept.total_seconds()
    while swept := database.write(_swept, kept):
        for digest in swept:
            store.remove(digest, before)
    _strays(database, store, before)


def _swept(session: Session, kept: timedelta) -> list[str]:
    old = [each.digest for each in session.scalars(queries.unused(now() - kept, AT_ONCE).with_for_update())]
    if old:
        session.execute(delete(MediaUpload).where(MediaUpload.digest.in_(old)))
        session.execute(delete(Media).where(Media.digest.in_(old)))
    return old


def _strays(database: Database, store: Store, before: float) -> None:
    """Files of processes that ended between storing and writing down."""
    if not store.folder.is_dir():
        return
    for folder in store.folder.iterdir():
        old = [path for path in folder.iterdir() if path.stat().st_mtime < before] if folder.is_dir() else []
        named = {path.name for path in old if DIGEST.fullmatch(path.name)}
        known = set(database.read(_known, named)) if named else set()
        for path in old:
            if path.name not in known:
                path.unlink(missing_ok=True)


def _known(session: Session, digests: set[str]) -> list[str]:
    return list(session.scalars(queries.known(digests).with_only_columns(Media.digest)))
