"""Profiles as JSON."""

from fastapi import APIRouter, Depends, Path
from sqlalchemy.orm import Session

from dynabench.kit.api import Db
from dynabench.people.accounts.auth import Viewer, scope
from dynabench.people.accounts.tables import Person
from dynabench.recognition.badges.api import read_awards
from dynabench.recognition.profiles import service
from dynabench.recognition.profiles.schemas import ActiveDayOut, ProfileOut, TaskRecordOut

router = APIRouter(prefix="/api/v1", tags=["people"], dependencies=[Depends(scope("read"))])
Name = Path(description="The name that pages show: the pseudonym where the person chose one, else the username.")


@router.get("/people/{name}")
async def read_person(db: Db, viewer: Viewer, name: str = Name) -> ProfileOut:
    """Return a public profile, or your own."""
    return await db.aread(_read, viewer, name)


def _read(session: Session, viewer: Person | None, name: str) -> ProfileOut:
    profile = service.read_profile(session, viewer, name)
    return ProfileOut(
        name=profile.person.public_name,
        public=profile.person.public_profile,
        tasks=[TaskRecordOut.of_record(task_id, record) for task_id, record in profile.records.items()],
        days=[ActiveDayOut(day=day.day, written=day.written, checked=day.checked) for day in profile.activity.days],
        badges=read_awards(session, profile.person.id),
    )
