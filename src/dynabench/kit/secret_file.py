"""The deployment's secret in its home folder: written once and whole, however many processes start at once."""

import os
import secrets
from contextlib import suppress
from pathlib import Path

from dynabench.kit.errors import Conflict

LEAST_BYTES = 32
"""Shorter secrets can be guessed, and a file that was cut short would key pseudonyms that nobody can make again."""


def read_secret(path: Path) -> bytes:
    """Return the secret in the file, made at the first call; raises `Conflict` where the file holds too little."""
    if not path.exists():
        write_new(path, secrets.token_hex(32).encode())
    content = path.read_bytes()
    if len(content) < LEAST_BYTES:
        raise Conflict(
            f"{path} holds {len(content)} bytes, and a secret needs at least {LEAST_BYTES}. Put the file of a backup "
            "in its place (`dynabench restore` does). Delete it only if this platform has never been used: a new "
            "secret changes all pseudonyms and logs everybody out."
        )
    return content


def write_new(path: Path, content: bytes) -> None:
    """Write a file that only its owner reads, unless it exists; readers see all of it or no file at all.

    Of several processes that write it at the same time, the first wins.
    """
    waiting = path.with_name(f".{path.name}-{os.getpid()}-{secrets.token_hex(4)}")
    try:
        waiting.touch(mode=0o600, exist_ok=False)
        with waiting.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileExistsError):
            os.link(waiting, path)  # unlike a rename, it never replaces what another process has written
    finally:
        waiting.unlink(missing_ok=True)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make names that were given or taken in a folder survive a loss of power."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
