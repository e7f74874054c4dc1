"""The hub's API for pull requests and discussions."""

import asyncio
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Path, Query, Request
from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session
from starlette.responses import JSONResponse

from dynabench.hubs import answers, discussions, merging, queries, reading, service
from dynabench.hubs.addresses import REPOSITORY_API, Number, Place, RepositoryPlace
from dynabench.hubs.git_store import GitStore
from dynabench.hubs.schemas import CommentEditIn, CommentIn, DiscussionIn, StatusIn, TitleIn
from dynabench.hubs.service import HubEntry
from dynabench.hubs.tables import DiscussionState, HubDiscussion, HubDiscussionEvent
from dynabench.kit.api import AppSettings, Db
from dynabench.kit.settings import Settings
from dynabench.people.accounts.auth import Member, Viewer, limited
from dynabench.people.accounts.tables import Person

router = APIRouter()
DISCUSSIONS = f"{REPOSITORY_API}/discussions"
CHANGES = Depends(limited("hub discussions", 60, 60))
PAGE = 50
EventName = Annotated[str, Path(pattern="^0{8}[0-9a-f]{16}$")]
ENDED = [DiscussionState.CLOSED, DiscussionState.MERGED]


@router.get(DISCUSSIONS)
async def list_discussions(
    db: Db,
    place: Place,
    viewer: Viewer,
    p: Annotated[int, Query(ge=0, le=10**6)] = 0,
    type: Literal["all", "discussion", "pull_request"] = "all",
    status: Literal["all", "open", "closed"] = "all",
    author: Annotated[str, Query(max_length=60)] = "",
) -> JSONResponse:
    """List the discussions and pull requests of a repository, the newest first."""

    def read(session: Session) -> dict[str, Any]:
        entry = place.find(session, viewer)
        clauses: list[ColumnElement[bool]] = [] if type == "all" else [HubDiscussion.pull.is_(type == "pull_request")]
        if status != "all":
            ended = HubDiscussion.state.in_(ENDED)
            clauses.append(ended if status == "closed" else ~ended)
        if author:
            space = session.scalar(queries.namespace_named(author))
            clauses.append(HubDiscussion.author_id == (space.person_id if space else 0))
        statement = queries.discussions(entry.row.id, *clauses)
        count = session.scalar(select(func.count()).select_from(statement.order_by(None).subquery()))
        rows = session.scalars(statement.offset(p * PAGE).limit(PAGE)).all()
        names = reading.person_names(session, [row.author_id for row in rows])
        documents = [answers.discussion_document(entry, row, names) for row in rows]
        return {"discussions": documents, "count": count, "start": p * PAGE, "numClosedDiscussions": 0}

    return JSONResponse(await db.aread(read))


@router.post(DISCUSSIONS, dependencies=[CHANGES])
async def open_discussion(db: Db, place: Place, body: DiscussionIn, person: Member) -> JSONResponse:
    """Begin a discussion or a pull request."""

    def write(session: Session) -> tuple[HubEntry, int]:
        entry = place.find(session, person)
        pull = body.pullRequest
        return entry, discussions.open_discussion(
            session, person, entry, body.title, body.description, pull=pull
        ).number

    entry, number = await db.awrite(write)
    return JSONResponse({"num": number, "url": f"/hub/{place.kinds}/{entry.full_name}/discussions/{number}"}, 201)


@router.get(f"{DISCUSSIONS}/{{number}}")
async def read_discussion(
    db: Db,
    settings: AppSettings,
    place: Place,
    number: Number,
    viewer: Viewer,
    diff: bool = False,
) -> JSONResponse:
    """Return a discussion with its entries; of a pull request also its changes and conflicts."""

    def read(session: Session) -> dict[str, Any]:
        entry = place.find(session, viewer)
        return _details(session, settings, entry, number, diff)

    return JSONResponse(await db.aread(read))


def _details(session: Session, settings: Settings, entry: HubEntry, number: int, diff: bool) -> dict[str, Any]:
    discussion = discussions.find_discussion(session, entry, number)
    events = session.scalars(queries.events_of(discussion.id)).all()
    names = reading.person_names(session, [discussion.author_id, *(event.author_id for event in events)])
    document = answers.discussion_document(entry, discussion, names)
    document["events"] = [answers.event_document(event, names) for event in events]
    if discussion.pull:
        store = GitStore.of(settings, entry.row.folder)
        _discussion, main, branch = discussions.read_pull(session, entry, number)
        changes = {"base": f"refs/heads/{service.MAIN}"}
        conflicts: list[str] = []
        if discussion.merged:
            changes["mergeCommitId"] = discussion.merged
        else:
            conflicts = list(discussions.plan_merge(store, discussion.base, main, branch).conflicts)
        document |= {"changes": changes, "filesWithConflicts": conflicts}
        if diff:
            document["diff"] = reading.diff_text(store, discussion.base, branch)
    return document


async def _change(db: Db, person: Person, change: Any, place: RepositoryPlace) -> dict[str, Any]:
    def write(session: Session) -> dict[str, Any]:
        entry = place.find(session, person)
        event: HubDiscussionEvent = change(session, entry)
        return answers.event_document(event, reading.person_names(session, [person.id]))

    return await db.awrite(write)


@router.post(f"{DISCUSSIONS}/{{number}}/comment", dependencies=[CHANGES])
async def comment(
    db: Db,
    place: Place,
    number: Number,
    body: CommentIn,
    person: Member,
) -> JSONResponse:
    """Add a comment to a discussion."""

    def change(session: Session, entry: HubEntry) -> HubDiscussionEvent:
        return discussions.comment(session, person, entry, number, body.comment)

    return JSONResponse({"newMessage": await _change(db, person, change, place)})


@router.post(f"{DISCUSSIONS}/{{number}}/comment/{{event}}/edit", dependencies=[CHANGES])
async def edit_comment(
    db: Db, place: Place, number: Number, event: EventName, body: CommentEditIn, person: Member
) -> JSONResponse:
    """Give one's own comment another text."""

    def change(session: Session, entry: HubEntry) -> HubDiscussionEvent:
        return discussions.edit_comment(session, person, entry, number, int(event, 16), body.content)

    return JSONResponse({"updatedComment": await _change(db, person, change, place)})


@router.post(f"{DISCUSSIONS}/{{number}}/status", dependencies=[CHANGES])
async def change_status(
    db: Db,
    place: Place,
    number: Number,
    body: StatusIn,
    person: Member,
) -> JSONResponse:
    """Close a discussion, or open it again (its author, or the owner)."""

    def change(session: Session, entry: HubEntry) -> HubDiscussionEvent:
        state = DiscussionState(body.status)
        return discussions.change_state(session, person, entry, number, state, body.comment or "")

    return JSONResponse({"newStatus": await _change(db, person, change, place)})


@router.post(f"{DISCUSSIONS}/{{number}}/title", dependencies=[CHANGES])
async def change_title(db: Db, place: Place, number: Number, body: TitleIn, person: Member) -> JSONResponse:
    """Give a discussion another title (its author, or the owner)."""

    def change(session: Session, entry: HubEntry) -> HubDiscussionEvent:
        return discussions.change_title(session, person, entry, number, body.title)

    return JSONResponse({"newTitle": await _change(db, person, change, place)})


@router.post(f"{DISCUSSIONS}/{{number}}/merge", dependencies=[CHANGES])
async def merge(
    request: Request,
    db: Db,
    settings: AppSettings,
    place: Place,
    number: Number,
    person: Member,
    body: CommentIn | None = None,
) -> JSONResponse:
    """Bring a pull request into the branch main (owner)."""
    entry = await db.aread(place.find_managed, person)
    outcome = await asyncio.to_thread(
        merging.merge_pull, db, settings, person, entry, number, body.comment if body else ""
    )
    return JSONResponse({"commitOid": outcome.revision, "mergeCommitId": outcome.revision})
