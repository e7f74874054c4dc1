"""Announcements as JSON."""

from datetime import date, datetime

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field
from sqlalchemy.orm import Session

from dynabench.collection import announcements
from dynabench.collection.schemas import Strict
from dynabench.kit.db import Database
from dynabench.kit.security import RowId
from dynabench.people.accounts.auth import Member, Viewer, needs
from dynabench.rounds import service
from dynabench.rounds.owner_tables import Announcement

router = APIRouter()


class AnnouncementIn(Strict):
    """Something to announce."""

    text: str = Field(max_length=announcements.LONGEST, description="Markdown.")
    until: date = Field(description="The last day (UTC) on which it is shown.")
    tell: bool = Field(False, description="Everybody who takes part gets a notice too.")


class AnnouncementOut(BaseModel):
    """An announcement."""

    id: int
    text: str
    until: datetime
    created_at: datetime


class AnnouncementList(BaseModel):
    """Announcements, newest first."""

    items: list[AnnouncementOut]
    next: str | None = None


def _out(of: Announcement) -> AnnouncementOut:
    return AnnouncementOut.model_validate(of, from_attributes=True)


async def announced(request: Request, viewer: Viewer, task: str) -> None:
    """A dependency of the task's pages: what its owners announce to whoever looks."""
    db: Database = request.app.state.db
    request.state.announcements = await db.aread(announcements.shown, viewer, task)


@router.get("/tasks/{task}/announcements")
async def list_announcements(request: Request, task: str, person: Member) -> AnnouncementList:
    """List the announcements that you see on the task's pages now."""

    def read(session: Session) -> AnnouncementList:
        service.task(session, task)
        return AnnouncementList(items=[_out(each) for each in announcements.shown(session, person, task)])

    db: Database = request.app.state.db
    return await db.aread(read)


@router.post("/tasks/{task}/announcements", status_code=201)
@needs("manage")
async def announce(request: Request, task: str, body: AnnouncementIn, person: Member) -> AnnouncementOut:
    """Announce something to those who take part (owners)."""
    db: Database = request.app.state.db
    return _out(await db.awrite(announcements.announce, person, task, body.text, body.until, body.tell))


@router.delete("/tasks/{task}/announcements/{id}", status_code=204)
@needs("manage")
async def end_announcement(request: Request, task: str, id: RowId, person: Member) -> None:
    """Show it no more (owners)."""
    db: Database = request.app.state.db
    await db.awrite(announcements.end, person, task, id)


@router.post("/tasks/{task}/announcements/{id}/seen", status_code=204)
async def dismiss_announcement(request: Request, task: str, id: RowId, person: Member) -> None:
    """You want to see it no more."""
    db: Database = request.app.state.db
    await db.awrite(announcements.dismiss, person, task, id)
