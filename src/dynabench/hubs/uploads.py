"""Uploads of large files: announced with size and SHA-256, sent in one part or several, checked, and stored.

An upload's address is signed: it names repository, person, file and end, since clients send the content without their
token. The content counts once its real SHA-256 is the announced one; a part can be sent again at any time.
"""

import hashlib
import hmac
import json
import math
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import timedelta

from sqlalchemy import delete, insert
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session
from starlette.requests import Request

from dynabench.hubs import queries, service
from dynabench.hubs.file_store import HubFileStore, Incoming, LargeFile, day_ago
from dynabench.hubs.git_store import GitStore
from dynabench.hubs.service import HubEntry
from dynabench.hubs.tables import HubFile, HubRepository, HubUpload
from dynabench.kit import errors
from dynabench.kit.db import Database, now
from dynabench.kit.language import _
from dynabench.kit.security import keyed
from dynabench.kit.settings import Settings
from dynabench.media.store import DIGEST
from dynabench.people.accounts.tables import Person

PART_BYTES = 32 * 2**20
"""Bytes of one part: what a client sends again after a broken connection."""
TICKET_SECONDS = 6 * 3600
MOST_OBJECTS = 1000
BATCH = 500
MIB = 2**20


@dataclass(frozen=True)
class UploadTicket:
    """The permission to send one file, or one part of it (`part`), or to read one, until the moment `until`."""

    act: str
    repository: int
    person: int
    digest: str
    size: int
    until: int
    part: int = 0

    @property
    def upload(self) -> str:
        """The name under which the parts of this upload are kept: the same for a repeated one."""
        facts = f"{self.repository} {self.person} {self.digest} {self.size}"
        return hashlib.sha256(facts.encode()).hexdigest()

    @property
    def parts(self) -> int:
        """The number of parts that the file has."""
        return max(1, math.ceil(self.size / PART_BYTES))

    @property
    def expected(self) -> int:
        """The bytes that the body of this request has."""
        if not self.part:
            return self.size
        return PART_BYTES if self.part < self.parts else self.size - PART_BYTES * (self.parts - 1)

    def sign(self, settings: Settings) -> str:
        """Return the ticket as a part of an address."""
        facts = urlsafe_b64encode(json.dumps(asdict(self), separators=(",", ":")).encode()).decode().rstrip("=")
        return f"{facts}.{_seal(settings, facts)}"


def _seal(settings: Settings, facts: str) -> str:
    return keyed(settings.key, "hub upload", facts).hex()


def read_ticket(settings: Settings, text: str, act: str) -> UploadTicket:
    """Return the ticket of an address. Raises `Unauthenticated` for one that is not ours, has ended, or is for else."""
    facts, _dot, seal = text.partition(".")
    if not hmac.compare_digest(seal.encode(), _seal(settings, facts).encode()):
        raise errors.Unauthenticated(_("This address is not valid. Begin the upload again."))
    ticket = UploadTicket(**json.loads(urlsafe_b64decode(facts + "=" * (-len(facts) % 4))))
    if ticket.act != act or ticket.until < time.time():
        raise errors.Unauthenticated(_("This address has expired. Begin the upload again."))
    return ticket


async def identify_sender(request: Request, text: str = "", act: str = "upload") -> bool:
    """Return whether a signed address names the person who sends a body, kept as `request.state.viewer`.

    The ticket is the end of the address, or the `text`.
    """
    settings: Settings = request.app.state.settings
    db: Database = request.app.state.db
    try:
        ticket = read_ticket(settings, text or request.url.path.rpartition("/")[2], act)
    except (errors.Unauthenticated, ValueError, TypeError):
        return False
    person = await db.aread(lambda session: session.get(Person, ticket.person))
    if person is None or person.deleted_at is not None:
        return False
    request.state.viewer = person
    return True


@dataclass(frozen=True)
class UploadPlan:
    """The answer about one announced file: nothing to send, an address for each part, or why it is refused."""

    file: LargeFile
    ticket: UploadTicket | None = None
    refusal: str = ""

    @property
    def part_tickets(self) -> list[UploadTicket]:
        """The tickets of the parts, where the file comes in several."""
        if self.ticket is None or self.ticket.size <= PART_BYTES:
            return []
        return [replace(self.ticket, part=number) for number in range(1, self.ticket.parts + 1)]


def new_end(seconds: int = TICKET_SECONDS) -> int:
    """Return the moment at which an address that is signed now ends."""
    return int(time.time()) + seconds


def plan_uploads(
    session: Session, settings: Settings, person: Person, entry: HubEntry, files: Sequence[LargeFile]
) -> list[UploadPlan]:
    """Decide about announced files: those that the repository has, or the person sent for it, need not come again."""
    if len(files) > MOST_OBJECTS:
        raise errors.Invalid({"objects": _("Announce at most %(n)s files at a time.", n=MOST_OBJECTS)})
    digests = [file.digest for file in files]
    stored = dict(session.execute(queries.used_files(entry.row.id, digests)).all())
    stored |= dict(session.execute(queries.uploaded_files(entry.row.id, person.id, digests)).all())
    service.require_room(session, settings, person.id, sum(file.size for file in files if file.digest not in stored))
    until = new_end()
    plans = []
    for file in files:
        most = settings.hub_file_mb * MIB
        if not DIGEST.fullmatch(file.digest) or file.size < 0:
            plans.append(UploadPlan(file, refusal=_("This is no SHA-256 and size.")))
        elif file.size > most:
            message = _("A file has at most %(most)s MiB.", most=settings.hub_file_mb)
            plans.append(UploadPlan(file, refusal=message))
        elif file.digest in stored:
            wrong = stored[file.digest] != file.size
            plans.append(UploadPlan(file, refusal=_("This file has another size.") if wrong else ""))
        else:
            ticket = UploadTicket("upload", entry.row.id, person.id, file.digest, file.size, until)
            plans.append(UploadPlan(file, ticket))
    return plans


def receive(settings: Settings, ticket: UploadTicket) -> Incoming:
    """Begin to receive the file or the part of a ticket."""
    store = HubFileStore.of(settings)
    return store.receive_part(ticket.upload, ticket.part) if ticket.part else store.receive()


def keep_part(settings: Settings, ticket: UploadTicket, part: Incoming) -> str:
    """Store a received part; returns its digest. Raises `Invalid` where it has another size than its place."""
    real = part.close()
    if real.size != ticket.expected:
        part.discard()
        raise errors.Invalid({"size": _("This part has %(n)s bytes too few.", n=ticket.expected - real.size)})
    HubFileStore.of(settings).keep_part(ticket.upload, ticket.part, part)
    return real.digest


def keep_file(db: Database, settings: Settings, ticket: UploadTicket, file: Incoming) -> None:
    """Store a received file and note who sent it for which repository."""
    HubFileStore.of(settings).keep(file, LargeFile(ticket.digest, ticket.size))
    db.write(_record_upload, settings, ticket)


def complete_parts(db: Database, settings: Settings, ticket: UploadTicket) -> None:
    """Join the parts of a file and store it; a repeated call changes nothing."""
    if db.read(is_uploaded, ticket.repository, ticket.person, LargeFile(ticket.digest, ticket.size)):
        return
    store = HubFileStore.of(settings)
    keep_file(db, settings, ticket, store.join_parts(ticket.upload, ticket.parts))
    store.drop_parts(ticket.upload)


def require_repository(session: Session, repository_id: int) -> None:
    """Raise `NotFound` where a repository was deleted since a client began to send files for it."""
    if session.get(HubRepository, repository_id) is None:
        raise errors.NotFound(_("This repository was deleted."))


def _record_upload(session: Session, settings: Settings, ticket: UploadTicket) -> None:
    require_repository(session, ticket.repository)
    person = session.get_one(Person, ticket.person, with_for_update=True)  # counted one at a time
    record_stored(session, settings, person.id, ticket.repository, LargeFile(ticket.digest, ticket.size))


def record_stored(session: Session, settings: Settings, person_id: int, repository_id: int, file: LargeFile) -> None:
    """Note a stored file and the person who sent it for a repository. Raises `QuotaReached`."""
    if is_uploaded(session, repository_id, person_id, file):
        return
    service.require_room(session, settings, person_id, file.size)
    if session.get(HubFile, file.digest, with_for_update={"read": True}) is None:
        try:
            with session.begin_nested():
                session.execute(insert(HubFile).values(digest=file.digest, size=file.size, created_at=now()))
        except IntegrityError:  # somebody sent the same at the same time
            pass
    session.add(HubUpload(repository_id=repository_id, person_id=person_id, digest=file.digest))


def is_uploaded(session: Session, repository_id: int, person_id: int, file: LargeFile) -> bool:
    """Return whether a repository has a file, or a person sent it for the repository."""
    stored = dict(session.execute(queries.used_files(repository_id, [file.digest])).all())
    stored |= dict(session.execute(queries.uploaded_files(repository_id, person_id, [file.digest])).all())
    return stored.get(file.digest) == file.size


UNUSED_AGE = timedelta(days=1)


def sweep_files(database: Database, settings: Settings) -> None:
    """Delete uploads that no commit named within a day, files without a row, folders of deleted repositories."""
    store, before = HubFileStore.of(settings), day_ago()
    database.write(_drop_old_uploads)
    while dropped := database.write(_drop_files):
        for digest in dropped:
            store.remove(digest, before)
    store.remove_stale(before)
    for digest in store.stored(before):
        if database.read(_find_file, digest) is None:
            store.remove(digest, before)
    _remove_folders(database, settings, before)


def _find_file(session: Session, digest: str) -> HubFile | None:
    return session.get(HubFile, digest)


def _drop_old_uploads(session: Session) -> None:
    session.execute(delete(HubUpload).where(HubUpload.at < now() - UNUSED_AGE))


def _drop_files(session: Session) -> list[str]:
    digests = [
        row.digest for row in session.scalars(queries.forgotten_files(now() - UNUSED_AGE, BATCH).with_for_update())
    ]
    session.execute(delete(HubFile).where(HubFile.digest.in_(digests)))
    return digests


def _remove_folders(database: Database, settings: Settings, before: float) -> None:
    place = settings.folder / "repositories" / "git"
    for folder in sorted(place.iterdir()) if place.is_dir() else ():
        if folder.stat().st_mtime < before and database.read(_is_forgotten, folder.name):
            GitStore(folder).remove()


def _is_forgotten(session: Session, folder: str) -> bool:
    return session.scalar(queries.repository_in(folder)) is None
