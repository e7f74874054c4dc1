"""Contexts of the shipped tasks of pictures: drawn, stored and named by their digests."""

import io
from collections.abc import Iterator
from typing import Any

from dynabench.db import Database
from dynabench.media import service as media
from dynabench.settings import Settings
from dynabench.tasks import TaskConfig, shown
from dynabench.tasks.fields import Image


def contexts(db: Database, settings: Settings, config: TaskConfig) -> Iterator[dict[str, Any]]:
    """As `Shipped.contexts`, each picture stored first; none for tasks of other kinds."""
    fields = {field.name: field for field in config.context if isinstance(field, Image)}
    for each in shown.of(config.id) if fields else ():
        stored = {name: _stored(db, settings, config.id, fields[name], value) for name, value in each["values"].items()}
        yield {"values": stored, "tag": each["tag"]}


def _stored(db: Database, settings: Settings, task: str, field: Image, picture: Any) -> dict[str, Any]:
    held = io.BytesIO()
    picture.save(held, "PNG")
    digest, facts = media.put(settings, held.getvalue(), field)
    db.write(media.note, task, None, digest, facts)
    return {"media": digest}
