"""Exports with the files that their rows show: a zip of `rows.jsonl` and `media/<sha256>.<ending>`."""

import re
import zipfile
from collections.abc import Iterator

from dynabench.datasets.exports import Pages, lines
from dynabench.datasets.scopes import Scope
from dynabench.kit import errors
from dynabench.media.file_formats import ENDINGS, media_type_of
from dynabench.media.store import MediaStore

ROWS, FOLDER = "rows.jsonl", "media/"
UNTOUCHED = (1980, 1, 1, 0, 0, 0)
REFERENCE = re.compile(rb'"media": ?"([0-9a-f]{64})"')


class Sink:
    """An output for a zip file: keeps the written parts until they are taken."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []

    def write(self, part: bytes) -> int:
        """Keep a part."""
        self.parts.append(bytes(part))
        return len(part)

    def flush(self) -> None:
        """Nothing waits."""

    def take(self) -> bytes:
        """All parts since the last time."""
        parts, self.parts = self.parts, []
        return b"".join(parts)


def stream(pages: Pages, what: Scope) -> Iterator[bytes]:
    """The rows, then each file once. Rows alone say what leaves: hidden and retracted ones are not among them."""
    if what.files is None:
        raise ValueError("an export with files needs to know where they are")
    sink, shown = Sink(), set[str]()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as made:  # type: ignore[call-overload]
        with made.open(entry(ROWS), "w", force_zip64=True) as out:
            for page in pages:
                text = lines(page)
                shown.update(found.decode() for found in REFERENCE.findall(text))
                out.write(text)
                yield sink.take()
        for digest in sorted(shown):
            yield from _file(made, what.files, digest, sink)
    yield sink.take()


def _file(made: zipfile.ZipFile, store: MediaStore, digest: str, sink: Sink) -> Iterator[bytes]:
    try:
        content = store.read(digest)
    except errors.NotFound:
        return
    made.writestr(entry(f"{FOLDER}{digest}.{ENDINGS[media_type_of(content)]}"), content, zipfile.ZIP_STORED)
    yield sink.take()


def entry(name: str) -> zipfile.ZipInfo:
    """A file of a zip file that tells nothing of when it was written."""
    entry = zipfile.ZipInfo(name, UNTOUCHED)
    entry.compress_type = zipfile.ZIP_DEFLATED
    return entry
