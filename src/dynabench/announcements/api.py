"""Announcements as JSON."""

from datetime import date, datetime

from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel, Field
from sqlalchemy.orm import Session

from dynabench.announcements import service
from dynabench.announcements.service import Announcement
from dynabench.kit.api import Db
from dynabench.kit.db import Database
from dynabench.kit.schemas import Page, StrictModel
from dynabench.kit.security import RowId
from dynabench.people.accounts.auth import Member, Viewer, needs, scope
from dynabench.rounds import service as rounds

router = APIRouter(prefix="/api/v1", tags=["collection"], dependencies=[Depends(scope("annotate"))])


class AnnouncementIn(StrictModel):
    """Something to announce."""

    text: str = Field(max_length=service.LONGEST, description="Markdown.")
    until: date = Field(description="The last day (UTC) on which it is shown.")
    tell: bool = Field(False, description="Everybody who takes part gets a notice too.")


class AnnouncementOut(BaseModel):
    """An announcement."""

    id: int
    text: str
    until: datetime
    created_at: datetime


class AnnouncementList(Page[AnnouncementOut]):
    """Announcements, newest first."""


def _out(announcement: Announcement) -> AnnouncementOut:
    return AnnouncementOut.model_validate(announcement, from_attributes=True)


async def announced(request: Request, viewer: Viewer) -> None:
    """Read, as a dependency of pages, what the owners of the task in the address announce to the viewer."""
    if request.method == "GET" and (task := request.path_params.get("task")):
        db: Database = request.app.state.db
        request.state.announcements = await db.aread(service.shown_announcements, viewer, task)


@router.get("/tasks/{task}/announcements")
async def list_announcements(db: Db, task: str, person: Member) -> AnnouncementList:
    """List the announcements that you see on the task's pages now."""

    def read(session: Session) -> AnnouncementList:
        rounds.get_task(session, task)
        return AnnouncementList(
            items=[_out(announcement) for announcement in service.shown_announcements(session, person, task)]
        )

    return await db.aread(read)


@router.post("/tasks/{task}/announcements", status_code=201)
@needs("manage")
async def announce(db: Db, task: str, body: AnnouncementIn, person: Member) -> AnnouncementOut:
    """Announce something to those who take part (owners)."""
    return _out(await db.awrite(service.announce, person, task, body.text, body.until, body.tell))


@router.delete("/tasks/{task}/announcements/{id}", status_code=204)
@needs("manage")
async def end_announcement(db: Db, task: str, id: RowId, person: Member) -> None:
    """Show it no more (owners)."""
    await db.awrite(service.end, person, task, id)


@router.post("/tasks/{task}/announcements/{id}/seen", status_code=204)
async def dismiss_announcement(db: Db, task: str, id: RowId, person: Member) -> None:
    """You want to see it no more."""
    await db.awrite(service.dismiss, person, task, id)
