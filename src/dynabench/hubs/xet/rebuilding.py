"""Files are put together from xorbs as a shard says, checked, and stored as large files."""

from pathlib import Path

from blake3 import blake3
from sqlalchemy.orm import Session

from dynabench.hubs import service, uploads
from dynabench.hubs.file_store import HubFileStore, Incoming, LargeFile
from dynabench.hubs.problems import BrokenUpload
from dynabench.hubs.uploads import UploadTicket
from dynabench.hubs.xet.hashing import TERM_KEY, ChunkTree
from dynabench.hubs.xet.shards import ShardFile, shard_files
from dynabench.hubs.xet.xorb_store import XorbStore
from dynabench.hubs.xet.xorbs import XorbReader, check_xorb
from dynabench.kit import errors
from dynabench.kit.db import Database
from dynabench.kit.language import _
from dynabench.kit.settings import Settings

SMALLEST_CHUNK = 8 * 1024
"""Bytes of every chunk but a file's last one: bounds the number of chunks by the size of the file."""
MIB = 2**20


def keep_xorb(
    db: Database, settings: Settings, ticket: UploadTicket, store: XorbStore, name: str, file: Incoming
) -> bool:
    """Store a received xorb; returns whether it is new. Raises `BrokenUpload` or `QuotaReached`."""
    file.close()
    if store.path(name).exists():
        file.discard()
        return False
    check_xorb(file.path, name)
    db.read(service.require_room, settings, ticket.person, store.waiting_bytes())
    store.keep(file, name)
    return True


def register_shard(db: Database, settings: Settings, ticket: UploadTicket, store: XorbStore, shard: Path) -> bool:
    """Store all files of a shard; returns whether one was new. A repeated call stores nothing twice."""
    is_new = False
    reader = XorbReader(store.folder)
    with shard.open("rb") as content:
        for file in shard_files(content):
            is_new |= _register_file(db, settings, ticket, store, reader, file)
    return is_new


def _register_file(
    db: Database, settings: Settings, ticket: UploadTicket, store: XorbStore, reader: XorbReader, file: ShardFile
) -> bool:
    large = LargeFile(file.digest, file.size)
    if db.read(uploads.is_uploaded, ticket.repository, ticket.person, large):
        return False
    if large.size > settings.hub_file_mb * MIB:
        raise errors.TooLarge(_("A file has at most %(most)s MiB.", most=settings.hub_file_mb))
    db.read(_require_repository_and_room, settings, ticket, large)
    incoming = HubFileStore.of(settings).receive()
    try:
        _rebuild(reader, file, incoming)
        one_file = UploadTicket(ticket.act, ticket.repository, ticket.person, file.digest, file.size, ticket.until)
        uploads.keep_file(db, settings, one_file, incoming)
    except FileNotFoundError:
        incoming.discard()
        store.end()
        message = _("A xorb of this shard has not arrived here, or is too old. Begin the upload again.")
        raise BrokenUpload(message) from None
    except BaseException:
        incoming.discard()
        raise
    store.mark_used({term.xorb for term in file.terms})
    return True


def _require_repository_and_room(session: Session, settings: Settings, ticket: UploadTicket, file: LargeFile) -> None:
    uploads.require_repository(session, ticket.repository)
    service.require_room(session, settings, ticket.person, file.size)


def _rebuild(reader: XorbReader, file: ShardFile, incoming: Incoming) -> None:
    """Write the content of a file and check every hash that the shard says of it. Raises `BrokenUpload`."""
    tree, count, most = ChunkTree(), 0, file.size // SMALLEST_CHUNK + 1
    for term in file.terms:
        proof, size = blake3(key=TERM_KEY), 0
        for chunk in reader.chunks(term.xorb, term.first, term.end):
            tree.add(chunk.hash, len(chunk.content))
            proof.update(chunk.hash)
            size += len(chunk.content)
            count += 1
            if size > term.size or count > most:
                break
            incoming.add(chunk.content)
        if size != term.size or count > most or proof.digest() != term.proof:
            raise BrokenUpload(_("A part of a file is not what this shard says of it. Nothing was saved."))
    if tree.file_hash() != file.hash:
        raise BrokenUpload(_("A file has another hash than this shard says. Nothing was saved."))
