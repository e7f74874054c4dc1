"""Places of xorbs that wait for their shard, one for each person and repository.

A client remembers for weeks, by the address of a place, which chunks it has sent there, and sends none of them again.
So a place has a new address every twelve hours, and lasts a day longer than the last permission to use it: no client
counts on a xorb that is gone. Where one is missing all the same, the place ends at once, and a repeated upload begins
with an empty one.
"""

import os
import re
import time
from hashlib import sha256
from pathlib import Path

from dynabench.hubs.file_store import HubFileStore, Incoming
from dynabench.kit.settings import Settings, sync_folder

NAME = re.compile(r"[0-9a-f]{32}-[0-9a-f]{12}")
PREFIX = "xorbs-"
OPEN_SECONDS = 12 * 3600
ENDED, USED = ".ended", ".used"


class XorbStore:
    """One place of xorbs, by its name."""

    def __init__(self, settings: Settings, name: str) -> None:
        self.name = name
        self.folder = HubFileStore.of(settings).incoming / f"{PREFIX}{name}"

    @classmethod
    def open_for(cls, settings: Settings, repository: int, person: int) -> "XorbStore":
        """Return the place to which a person's client sends xorbs for a repository now."""
        owner = sha256(f"xorbs {repository} {person}".encode()).hexdigest()[:32]
        latest = max(HubFileStore.of(settings).incoming.glob(f"{PREFIX}{owner}-*"), default=None)
        moment = int(time.time())
        if latest is not None and not (latest / ENDED).exists():
            begun = int(latest.name.rpartition("-")[2][:8], 16)
            if begun > moment - OPEN_SECONDS:
                os.utime(latest)  # what is younger than a day is not swept away
                return cls(settings, latest.name.removeprefix(PREFIX))
        fresh = cls(settings, f"{owner}-{moment:08x}{os.urandom(2).hex()}")
        (fresh.folder / USED).mkdir(parents=True, exist_ok=True, mode=0o700)
        return fresh

    def path(self, xorb: str) -> Path:
        """Return the path of a xorb by its hash."""
        return self.folder / xorb

    def receive(self) -> Incoming:
        """Begin to receive a xorb or a shard. Raises `FileNotFoundError` where the place is gone."""
        os.utime(self.folder)
        return Incoming(self.folder / f".incoming-{os.urandom(16).hex()}")

    def keep(self, incoming: Incoming, xorb: str) -> None:
        """Put a checked xorb in its place."""
        incoming.path.replace(self.path(xorb))
        sync_folder(self.folder)

    def waiting_bytes(self) -> int:
        """Return the bytes of all that has come or is coming, and of which no file has been made yet."""
        with os.scandir(self.folder) as entries:
            files = [Path(entry) for entry in entries if entry.is_file()]
        used = {entry.name for entry in (self.folder / USED).iterdir()}
        return sum(path.stat().st_size for path in files if path.name not in used and path.exists())

    def mark_used(self, xorbs: set[str]) -> None:
        """Note that files were made of these xorbs: they no longer count towards the person's storage."""
        for xorb in xorbs:
            (self.folder / USED / xorb).touch()

    def end(self) -> None:
        """Give out this place no more."""
        (self.folder / ENDED).touch()
