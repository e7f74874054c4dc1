"""Contexts of the shipped tasks of pictures: drawn, stored and named by their digests."""

import io
from collections.abc import Iterator
from typing import Any

from dynabench.kit.db import Database
from dynabench.kit.settings import Settings
from dynabench.media import service as media
from dynabench.media.file_formats import MediaFacts
from dynabench.tasks import TaskConfig, shipped
from dynabench.tasks.fields import Image


def contexts(db: Database, settings: Settings, config: TaskConfig) -> Iterator[dict[str, Any]]:
    """As `Shipped.contexts`, the pictures stored first; none for tasks of other kinds."""
    fields = {field.name: field for field in config.context if isinstance(field, Image)}
    stored: list[tuple[str, MediaFacts, str]] = []
    made: list[dict[str, Any]] = []
    for each in shipped.picture_contexts(config.id) if fields else ():
        values = {}
        for name, picture in each["values"].items():
            held = io.BytesIO()
            picture.save(held, "PNG")
            digest, facts = media.store_upload(settings, held.getvalue(), fields[name])
            stored.append((digest, facts, ""))
            values[name] = {"media": digest}
        made.append({"values": values, "tag": each["tag"]})
    if stored:
        db.write(media.record_uploads, config.id, None, stored)
    yield from made
