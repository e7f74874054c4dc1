"""The hub's API: repositories, in the form of Hugging Face's hub, whose clients use it."""

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Body, Depends, Query, Request
from sqlalchemy.orm import Session
from starlette.responses import JSONResponse, RedirectResponse, Response

from dynabench.hubs import answers, commit_api, discussion_api, file_api, queries, reading, reference_api, service
from dynabench.hubs.addresses import (
    REPOSITORY_API,
    Place,
    RepositoryPlace,
    Rest,
    kind_of,
    revision_and_path,
    split_full_name,
)
from dynabench.hubs.card import parse_metadata, split_card
from dynabench.hubs.git_store import GitStore, TreeEntry
from dynabench.hubs.problems import RepositoryExists, RepositoryMissing
from dynabench.hubs.reference_api import CHANGES
from dynabench.hubs.schemas import (
    KINDS,
    CardCheckIn,
    HubKinds,
    RepositoryIn,
    RepositoryMoveIn,
    RepositorySettingsIn,
)
from dynabench.hubs.service import MAIN, HubEntry
from dynabench.hubs.tables import HubRepository
from dynabench.hubs.xet import api as xet_api
from dynabench.kit import errors
from dynabench.kit.api import AppSettings, Db
from dynabench.kit.language import _
from dynabench.people.accounts.auth import Member, Viewer, scope
from dynabench.people.accounts.tables import Person
from dynabench.people.disclosure import is_private_choice

router = APIRouter(prefix=answers.PREFIX, include_in_schema=False, dependencies=[Depends(scope("annotate"))])
PAGE = 100
REVISIONS = ("revision", "commits", "tree", "paths-info", "preupload", "commit")
SORTS = {
    "lastModified": HubRepository.changed_at,
    "createdAt": HubRepository.created_at,
    "downloads": HubRepository.downloads,
    "trendingScore": HubRepository.downloads,
    "likes": HubRepository.changed_at,
}
Texts = Annotated[Sequence[str], Query(max_length=20)]
SearchTexts = Annotated[Sequence[str], Query(max_length=5)]


@router.get("/api/whoami-v2")
async def read_sender(request: Request, db: Db, settings: AppSettings, person: Member) -> JSONResponse:
    """Return the person whose token a client has."""
    namespace = await db.awrite(service.claim_namespace, settings, person)
    return JSONResponse(answers.person_document(person, namespace.name, request.state.scopes))


@router.post("/api/validate-yaml")
async def check_card(body: CardCheckIn) -> JSONResponse:
    """Check the metadata at the top of a README.md."""
    try:
        metadata = parse_metadata(split_card(body.content)[0])
        if body.repoType == "model" and not isinstance(metadata.get("model-index", []), list):
            raise errors.Invalid({"model-index": _("This is a list of models with their results.")})
    except errors.Invalid as problem:
        return JSONResponse({"errors": [{"message": problem.detail}], "warnings": []}, 400)
    warnings = [] if metadata else [{"message": "empty or missing yaml metadata in repo card"}]
    return JSONResponse({"errors": [], "warnings": warnings})


def _is_private(private: bool | None, visibility: str | None) -> bool | None:
    return private if private is not None or visibility is None else is_private_choice(visibility)


@router.post("/api/repos/create", dependencies=[CHANGES])
async def create_repository(
    request: Request, db: Db, settings: AppSettings, body: RepositoryIn, person: Member
) -> JSONResponse:
    """Make a repository in the sender's namespace."""

    def write(session: Session) -> HubEntry:
        namespace = service.claim_namespace(session, settings, person).name
        if body.organization and body.organization.lower() != namespace.lower():
            message = _("You can create repositories in your own namespace alone: %(name)s.", name=namespace)
            raise errors.Forbidden(message)
        private = bool(_is_private(body.private, body.visibility))
        return service.create_repository(session, settings, person, KINDS[body.type], body.name, private=private)

    try:
        entry = await db.awrite(write)
    except RepositoryExists as problem:
        kind = "" if body.type == "model" else f"{body.type}s/"
        problem.extra["url"] = f"{answers.hub_address(request)}/{kind}{problem.extra['address']}"
        raise
    return JSONResponse(
        {"url": answers.repository_address(request, entry), "name": entry.full_name, "id": entry.row.folder[:24]}
    )


@router.delete("/api/repos/delete", dependencies=[CHANGES])
async def delete_repository(
    db: Db, settings: AppSettings, body: Annotated[RepositoryIn, Body()], person: Member
) -> JSONResponse:
    """Delete a repository with its history (owner)."""

    def write(session: Session) -> str:
        namespace = body.organization or service.claim_namespace(session, settings, person).name
        entry = service.find_entry(session, person, KINDS[body.type], namespace, body.name)
        return service.delete_repository(session, person, entry)

    folder = await db.awrite(write)
    GitStore.of(settings, folder).remove()
    return JSONResponse({})


@router.post("/api/repos/move", dependencies=[CHANGES])
async def move_repository(db: Db, settings: AppSettings, body: RepositoryMoveIn, person: Member) -> JSONResponse:
    """Give a repository another name in the same namespace (owner)."""
    before, after = split_full_name(body.fromRepo), split_full_name(body.toRepo)

    def write(session: Session) -> None:
        entry = service.find_entry(session, person, KINDS[body.type], *before)
        if after[0].lower() != entry.namespace.lower():
            raise errors.Forbidden(_("A repository stays in its namespace."))
        service.rename_repository(session, settings, person, entry, after[1])

    await db.awrite(write)
    return JSONResponse({})


@router.put(f"{REPOSITORY_API}/settings", dependencies=[CHANGES])
async def change_settings(db: Db, place: Place, body: RepositorySettingsIn, person: Member) -> JSONResponse:
    """Make a repository private or public (owner)."""
    if body.gated:
        raise errors.Invalid({"gated": _("Repositories here are public or private.")})

    def write(session: Session) -> bool:
        entry = place.find_managed(session, person)
        private = _is_private(body.private, body.visibility)
        if private is not None:
            service.set_private(session, person, entry, private)
        return entry.row.private if private is None else private

    return JSONResponse({"private": await db.awrite(write)})


@router.get("/api/{kinds}")
async def list_repositories(
    request: Request,
    db: Db,
    kinds: HubKinds,
    viewer: Viewer,
    search: SearchTexts = (),
    filter: Texts = (),
    author: Annotated[str, Query(max_length=60)] = "",
    pipeline_tag: Annotated[str, Query(max_length=100)] = "",
    sort: Annotated[str, Query(max_length=40)] = "lastModified",
    direction: Annotated[int, Query(ge=-1, le=1)] = -1,
    limit: Annotated[int, Query(ge=1)] = PAGE,
    cursor: Annotated[int, Query(ge=0, le=10**9)] = 0,
    full: bool = False,
    cardData: bool = False,
    expand: Texts = (),
) -> JSONResponse:
    """List the repositories of a kind that the sender may see."""
    if sort not in SORTS:
        raise errors.Invalid({"sort": _("Choose from %(names)s.", names=", ".join(SORTS))})
    limit, column = min(limit, PAGE), SORTS[sort]
    tags = [*filter, *([pipeline_tag] if pipeline_tag else ())]
    words = [word[:100] for text in search for word in text.split()]

    def read(session: Session) -> tuple[list[dict[str, Any]], bool]:
        statement = queries.listed_repositories(viewer, kind_of(kinds), words, tags, author)
        order = (column.asc(), HubRepository.id) if direction > 0 else (column.desc(), HubRepository.id.desc())
        rows = session.execute(statement.order_by(*order).offset(cursor).limit(limit + 1)).all()
        entries = [HubEntry(row, space.name) for row, space in rows[:limit]]
        return [_listed(session, entry, full, cardData, expand) for entry in entries], len(rows) > limit

    items, more = await db.aread(read)
    return JSONResponse(items, headers=answers.next_link(request, cursor=cursor + limit) if more else None)


def _listed(session: Session, entry: HubEntry, full: bool, card: bool, expand: Sequence[str]) -> dict[str, Any]:
    tags = [tag for _id, tag in session.execute(queries.tags_of([entry.row.id]))]
    document = answers.repository_document(entry, tags)
    if full or card or "cardData" in expand:
        document["cardData"] = entry.row.card
    return _expanded(document, expand)


def _expanded(document: dict[str, Any], expand: Sequence[str]) -> dict[str, Any]:
    return {name: document[name] for name in ("_id", "id", *expand) if name in document} if expand else document


async def _information(
    db: Db,
    settings: AppSettings,
    viewer: Person | None,
    place: RepositoryPlace,
    revision: str,
    blobs: bool,
    expand: Sequence[str],
) -> JSONResponse:
    def read(session: Session) -> dict[str, Any]:
        entry, store, commit = place.find_revision(session, settings, viewer, revision)
        files = [TreeEntry(path, item, False) for path, item in sorted(store.files(commit).items())]
        document = _listed(session, entry, True, True, ()) | {"sha": commit}
        if blobs:
            facts = reading.file_facts(session, store, entry, files)
            document["siblings"] = [answers.sibling_document(item, True) for item in facts]
        else:
            document["siblings"] = [{"rfilename": item.path} for item in files]
        document["usedStorage"] = entry.row.git_bytes + (session.scalar(queries.repository_bytes(entry.row.id)) or 0)
        return _expanded(document, expand)

    return JSONResponse(await db.aread(read))


@router.get(REPOSITORY_API)
async def read_repository(
    db: Db,
    settings: AppSettings,
    place: Place,
    viewer: Viewer,
    blobs: bool = False,
    expand: Texts = (),
) -> JSONResponse:
    """Return a repository with the files of its branch main."""
    return await _information(db, settings, viewer, place, MAIN, blobs, expand)


@router.get(f"{REPOSITORY_API}/revision/{{rest:path}}")
async def read_revision(
    request: Request,
    db: Db,
    settings: AppSettings,
    place: Place,
    rest: Rest,
    viewer: Viewer,
    blobs: bool = False,
    expand: Texts = (),
) -> JSONResponse:
    """Return a repository with the files of a branch, tag or commit."""
    revision = revision_and_path(request, rest, "revision")[0]
    return await _information(db, settings, viewer, place, revision, blobs, expand)


@router.get(f"{REPOSITORY_API}/auth-check")
async def check_access(db: Db, place: Place, viewer: Viewer) -> JSONResponse:
    """Tell whether the sender may read a repository."""
    await db.aread(place.find, viewer)
    return JSONResponse({})


@router.get(f"{REPOSITORY_API}/auth-check/write")
async def check_write_access(db: Db, place: Place, person: Member) -> JSONResponse:
    """Tell whether the sender may change a repository."""
    await db.aread(place.find_managed, person)
    return JSONResponse({})


router.include_router(reference_api.router)
router.include_router(file_api.router)
router.include_router(commit_api.router)
router.include_router(discussion_api.router)
router.include_router(xet_api.permission_router)


@router.get("/api/{kinds}/{name}")
@router.api_route("/api/{kinds}/{name}/{part}/{rest:path}", methods=["GET", "POST"])
@router.api_route("/{name}/resolve/{rest:path}", methods=["GET", "HEAD"])
async def refuse_name(request: Request) -> Response:
    """Answer that there is no repository without a namespace; a call that this hub does not have is told apart."""
    if request.path_params.get("part", "revision") not in REVISIONS:
        raise errors.NotFound(_("This hub does not have this call."))
    raise RepositoryMissing


@router.get("/{namespace}/{name}")
@router.get("/{kinds}/{namespace}/{name}")
@router.get("/{namespace}/{name}/commit/{revision}")
@router.get("/{kinds}/{namespace}/{name}/commit/{revision}")
async def open_page(place: Place, revision: str = "") -> Response:
    """Lead people who open an address of the API in a browser to the page of the repository."""
    path = f"/hub/{place.kinds}/{place.namespace}/{place.name}"
    return RedirectResponse(f"{path}/commits/{revision[:40]}" if revision else path, 303)
