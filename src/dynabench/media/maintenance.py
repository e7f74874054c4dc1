"""Maintenance of media by a worker: files that nothing shows are deleted a day after they were uploaded."""

import time
from datetime import timedelta

from sqlalchemy import delete
from sqlalchemy.orm import Session

from dynabench.kit.db import Database, now
from dynabench.kit.settings import Settings
from dynabench.media import service
from dynabench.media.store import DIGEST, MediaStore
from dynabench.media.tables import Media, MediaUpload

UNUSED_AGE = timedelta(days=1)
BATCH = 500


def delete_unused_media(database: Database, settings: Settings, min_age: timedelta = UNUSED_AGE) -> None:
    """Delete rows first and their files afterwards; then files that no row has named for as long."""
    store, before = MediaStore.of(settings), time.time() - min_age.total_seconds()
    while deleted := database.write(_delete_batch, min_age):
        for digest in deleted:
            store.remove(digest, before)
    _delete_stray_files(database, store, before)


def _delete_batch(session: Session, min_age: timedelta) -> list[str]:
    old = [media.digest for media in session.scalars(service.unused_media(now() - min_age, BATCH).with_for_update())]
    if old:
        session.execute(delete(MediaUpload).where(MediaUpload.digest.in_(old)))
        session.execute(delete(Media).where(Media.digest.in_(old)))
    return old


def _delete_stray_files(database: Database, store: MediaStore, before: float) -> None:
    if not store.folder.is_dir():
        return
    for folder in store.folder.iterdir():
        old = [path for path in folder.iterdir() if path.stat().st_mtime < before] if folder.is_dir() else []
        named = {path.name for path in old if DIGEST.fullmatch(path.name)}
        stored = set(database.read(_stored_digests, named)) if named else set()
        for path in old:
            if path.name not in stored:
                path.unlink(missing_ok=True)


def _stored_digests(session: Session, digests: set[str]) -> list[str]:
    return list(session.scalars(service.stored_media(digests).with_only_columns(Media.digest)))
