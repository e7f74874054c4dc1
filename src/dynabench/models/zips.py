"""The check of the length of a zip file's list of entries, before anything reads it.

Source: PKWARE's APPNOTE.TXT, 4.3.16.
"""

import os
import struct
from typing import IO

FILES = 2000
LISTING = 4 * 2**20
"""Bytes of an archive's list of entries."""
END, SIZE, ZIP64_LOCATOR, LOCATOR_SIZE = b"PK\5\6", 22, b"PK\6\7", 20


def look_at_end(file: IO[bytes], files: int = FILES) -> None:
    """Raises ValueError for what is no zip file, and for a list of entries that would fill memory when it is read."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - LOCATOR_SIZE - SIZE - 0xFFFF))
    tail = file.read()
    place = tail.rfind(END)
    if place < 0 or len(tail) < place + SIZE:
        raise ValueError("it is no zip file, or not all of one")
    entries, listing = struct.unpack_from("<HL", tail, place + 10)
    if entries > files or listing > LISTING or tail[max(0, place - LOCATOR_SIZE) :].startswith(ZIP64_LOCATOR):
        raise ValueError(f"it has more than {files} files, or is larger than a plain zip file may be")
