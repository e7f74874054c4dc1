"""The hub's API for uploads by Xet: the permission to send files for a repository, then xorbs and shards.

Clients send a bearer token of their own here: it is signed, names repository, person and place, and ends after an hour.
"""

import asyncio
from collections.abc import Callable
from typing import Annotated, TypeVar

from fastapi import APIRouter, Path, Request
from starlette.responses import JSONResponse

from dynabench.hubs import answers, uploads
from dynabench.hubs.addresses import Place, Rest, revision_and_path
from dynabench.hubs.file_store import Incoming
from dynabench.hubs.problems import BrokenUpload
from dynabench.hubs.uploads import UploadTicket
from dynabench.hubs.xet import rebuilding, shards, xorbs
from dynabench.hubs.xet.hashing import HASH_TEXT
from dynabench.hubs.xet.xorb_store import NAME, XorbStore
from dynabench.kit import errors, security
from dynabench.kit.api import AppSettings, Db
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.people.accounts.auth import Member, needs

PERMISSION_SECONDS = 3600
ACT = "xet"
AREA = f"{answers.PREFIX}/xet"
PlaceName = Annotated[str, Path(max_length=50)]
XorbName = Annotated[str, Path(max_length=64)]
T = TypeVar("T")

permission_router = APIRouter()
"""Is part of the hub's API, whose senders have a token of this platform."""
router = APIRouter(prefix=AREA, include_in_schema=False)


@permission_router.get("/api/{kinds}/{namespace}/{name}/xet-write-token/{rest:path}")
@needs("annotate")
async def permit_upload(
    request: Request,
    db: Db,
    settings: AppSettings,
    place: Place,
    rest: Rest,
    person: Member,
    create_pr: bool = False,
) -> JSONResponse:
    """Give a token and an address for the large files of a coming commit."""
    revision = revision_and_path(request, rest, "xet-write-token")[0]
    repository = (await db.aread(place.find_writable, person, revision, create_pr)).row.id
    store = await asyncio.to_thread(XorbStore.open_for, settings, repository, person.id)
    until = uploads.new_end(PERMISSION_SECONDS)
    token = UploadTicket(ACT, repository, person.id, store.name, 0, until).sign(settings)
    address = f"{answers.hub_address(request)}/xet/{store.name}"
    headers = {"X-Xet-Cas-Url": address, "X-Xet-Access-Token": token, "X-Xet-Token-Expiration": str(until)}
    document = {"casUrl": address, "accessToken": token, "exp": until}
    return JSONResponse(document, headers=headers | {"Cache-Control": "no-store"})


async def identify_sender(request: Request) -> bool:
    """Return whether the token of Xet names the person who sends a body, kept as `request.state.viewer`."""
    return await uploads.identify_sender(request, security.bearer(request) or "-", ACT)


def _open_place(request: Request, settings: Settings, place: str) -> tuple[UploadTicket, XorbStore]:
    """Return the permission of a request and its place of xorbs. Raises `Unauthenticated`."""
    ticket = uploads.read_ticket(settings, security.bearer(request) or "", ACT)
    if ticket.digest != place or not NAME.fullmatch(place):
        raise errors.Unauthenticated(_("This token is for another address. Begin the upload again."))
    security.throttle(request, "hub xet", 1200, 60, key=f"person {ticket.person}")
    return ticket, XorbStore(settings, place)


async def _receive(request: Request, store: XorbStore, most: int, take: Callable[[Incoming], T]) -> T:
    """Receive a body of at most so many bytes, and return what `take` makes of it; nothing of the body stays."""
    try:
        incoming = await asyncio.to_thread(store.receive)
    except FileNotFoundError:
        raise BrokenUpload(_("The place for these files is gone. Begin the upload again.")) from None
    try:
        async for part in request.stream():
            if incoming.size + len(part) > most:
                raise errors.TooLarge(_("The limit here is %(n)s KiB. Nothing was saved.", n=most // 1024))
            await asyncio.to_thread(incoming.add, part)
        return await asyncio.to_thread(take, incoming)
    finally:
        await asyncio.to_thread(incoming.discard)


@router.post("/{place}/v1/xorbs/default/{xorb}")
async def receive_xorb(
    request: Request, db: Db, settings: AppSettings, place: PlaceName, xorb: XorbName
) -> JSONResponse:
    """Receive a xorb, check it, and keep it until a shard says which files it belongs to."""
    ticket, store = _open_place(request, settings, place)
    if not HASH_TEXT.fullmatch(xorb):
        raise BrokenUpload(_("This is no hash of a xorb."))

    def keep(incoming: Incoming) -> bool:
        return rebuilding.keep_xorb(db, settings, ticket, store, xorb, incoming)

    return JSONResponse({"was_inserted": await _receive(request, store, xorbs.MOST_BYTES, keep)})


@router.post("/{place}/v1/shards")
async def receive_shard(request: Request, db: Db, settings: AppSettings, place: PlaceName) -> JSONResponse:
    """Receive a shard, and store the files that it lists."""
    ticket, store = _open_place(request, settings, place)

    def register(incoming: Incoming) -> bool:
        incoming.close()
        return rebuilding.register_shard(db, settings, ticket, store, incoming.path)

    return JSONResponse({"result": int(await _receive(request, store, shards.MOST_BYTES, register))})


@router.get("/{place}/v1/chunks/{prefix}/{chunk}")
async def find_chunk(
    request: Request, settings: AppSettings, place: PlaceName, prefix: XorbName, chunk: XorbName
) -> JSONResponse:
    """Answer that a chunk is not known: nobody learns what other people have stored."""
    _open_place(request, settings, place)
    raise errors.NotFound(_("This hub does not tell which chunks it has."))
