"""Archives in memory: written, taken apart, changed and put together again."""

import hashlib
import io
import json
import zipfile
from pathlib import Path
from typing import Any

from dynabench.datasets.archives import layout, service
from dynabench.kit.db import Database
from dynabench.kit.settings import Settings
from dynabench.tasks.reading import with_id


def packed(db: Database, settings: Settings, task: str, *, examples: bool = True) -> bytes:
    """A task's archive."""
    file = io.BytesIO()
    service.export_archive(db, settings, task, file, lambda *_: None, examples=examples)
    return file.getvalue()


def files(archive: bytes) -> dict[str, bytes]:
    """Return the files of an archive, without its manifest."""
    with zipfile.ZipFile(io.BytesIO(archive)) as zip_file:
        return {name: zip_file.read(name) for name in zip_file.namelist() if name != layout.MANIFEST}


def put_together(parts: dict[str, bytes], **manifest: Any) -> bytes:
    """An archive of these files, its manifest true unless told otherwise."""
    answer = [
        {"name": name, "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest(),
         "rows": content.count(b"\n") if name in layout.LISTS else None}
        for name, content in parts.items()
    ]  # fmt: skip
    document = {"format": "dynabench-task", "version": 1, "task": "x", "name": "X", "files": answer} | manifest
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
        archive.writestr(layout.MANIFEST, json.dumps(document))
    return file.getvalue()


def bring(
    db: Database, settings: Settings, archive: bytes, id: str, folder: Path, owner: str = ""
) -> service.ImportedArchive:
    """Make a task of an archive as the command does."""
    path = folder / "archive.zip"
    path.write_bytes(archive)
    return service.import_archive(db, settings, path, id, owner)


def alike(archive: bytes, id: str) -> dict[str, bytes]:
    """The files of an archive as if its task were called `id`, with examples named by their places."""
    result = files(archive)
    rows = [json.loads(line) for line in result[layout.EXAMPLES].splitlines()]
    places = {row["uid"]: f"example-{place}" for place, row in enumerate(rows)}
    for row in rows:
        row["task"], row["uid"] = id, places[row["uid"]]
        row["made_from"] = row["made_from"] and places.get(row["made_from"], "gone")
    result[layout.EXAMPLES] = json.dumps(rows).encode()
    return {
        name: with_id(text.decode(), id).encode() if name.endswith(".yaml") else text for name, text in result.items()
    }
