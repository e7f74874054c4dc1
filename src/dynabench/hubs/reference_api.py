"""The hub's API: branches and tags of repositories."""

import asyncio
from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from sqlalchemy.orm import Session
from starlette.responses import JSONResponse

from dynabench.hubs import answers, commits, queries, service
from dynabench.hubs.addresses import REPOSITORY_API, Place, Rest, revision_and_path
from dynabench.hubs.git_store import GitStore
from dynabench.hubs.schemas import BranchIn, RepositoryTagIn, SquashIn
from dynabench.hubs.service import MAIN, HubEntry
from dynabench.hubs.tables import ReferenceKind
from dynabench.kit.api import AppSettings, Db
from dynabench.people.accounts.auth import Member, Viewer, limited

router = APIRouter(include_in_schema=False)
CHANGES = Depends(limited("hub changes", 600, 60))


class ReferenceChange:
    """A change of the branches or tags of the repository that a request names, by its owner."""

    def __init__(
        self,
        request: Request,
        db: Db,
        settings: AppSettings,
        place: Place,
        rest: Rest,
        person: Member,
    ) -> None:
        self.request, self.db, self.settings = request, db, settings
        self.place, self.rest, self.person = place, rest, person

    def address(self, marker: str) -> str:
        """Return what follows `marker` in the address: a branch or tag, whose name may have slashes."""
        return "/".join(filter(None, revision_and_path(self.request, self.rest, marker)))

    async def write(self, change: Callable[[Session, HubEntry], Any]) -> None:
        """Change the references in one transaction, then in the git repository; refuses who may not."""

        def write(session: Session) -> HubEntry:
            entry = self.place.find_managed(session, self.person)
            change(session, entry)
            return entry

        entry = await self.db.awrite(write)
        references = await self.db.aread(service.full_references, entry.row.id)
        GitStore.of(self.settings, entry.row.folder).mirror_references(references)

    async def create(self, kind: ReferenceKind, name: str, revision: str) -> None:
        """Create a branch or tag at a revision."""
        settings, person = self.settings, self.person
        await self.write(
            lambda session, entry: service.create_reference(session, settings, person, entry, kind, name, revision)
        )

    async def delete(self, kind: ReferenceKind, name: str) -> None:
        """Delete a branch or tag."""
        await self.write(lambda session, entry: service.delete_reference(session, self.person, entry, kind, name))


OwnersChange = Annotated[ReferenceChange, Depends()]


@router.get(f"{REPOSITORY_API}/refs")
async def list_references(db: Db, place: Place, viewer: Viewer, include_prs: bool = False) -> JSONResponse:
    """List the branches and tags of a repository."""

    def read(session: Session) -> dict[str, Any]:
        entry = place.find(session, viewer)
        return answers.reference_documents(session.scalars(queries.references(entry.row.id)).all(), include_prs)

    return JSONResponse(await db.aread(read))


@router.post(f"{REPOSITORY_API}/branch/{{rest:path}}", dependencies=[CHANGES])
async def create_branch(change: OwnersChange, body: BranchIn) -> JSONResponse:
    """Make a branch (owner)."""
    await change.create(ReferenceKind.BRANCH, change.address("branch"), body.startingPoint or MAIN)
    return JSONResponse({}, 201)


@router.delete(f"{REPOSITORY_API}/branch/{{rest:path}}", dependencies=[CHANGES])
async def delete_branch(change: OwnersChange) -> JSONResponse:
    """Delete a branch (owner)."""
    await change.delete(ReferenceKind.BRANCH, change.address("branch"))
    return JSONResponse({})


@router.post(f"{REPOSITORY_API}/tag/{{rest:path}}", dependencies=[CHANGES])
async def create_tag(change: OwnersChange, body: RepositoryTagIn) -> JSONResponse:
    """Give a revision a tag (owner)."""
    revision = revision_and_path(change.request, change.rest, "tag")[0]
    await change.create(ReferenceKind.TAG, body.tag, revision)
    return JSONResponse({}, 201)


@router.delete(f"{REPOSITORY_API}/tag/{{rest:path}}", dependencies=[CHANGES])
async def delete_tag(change: OwnersChange) -> JSONResponse:
    """Delete a tag (owner)."""
    await change.delete(ReferenceKind.TAG, change.address("tag"))
    return JSONResponse({})


@router.post(f"{REPOSITORY_API}/super-squash/{{rest:path}}", dependencies=[CHANGES])
async def squash_branch(change: OwnersChange, body: SquashIn) -> JSONResponse:
    """Put one commit without history in the place of a branch (owner)."""
    name = change.address("super-squash")
    entry = await change.db.aread(change.place.find_managed, change.person)
    message = body.message.strip() or f"Squash the history of {name}"
    await asyncio.to_thread(commits.squash_branch, change.db, change.settings, change.person, entry, name, message)
    return JSONResponse({})
