"""Badges as JSON: what there are, and one's own."""

from fastapi import APIRouter, Depends
from sqlalchemy.orm import Session

from dynabench.kit.api import Db
from dynabench.people.accounts.auth import Member, scope
from dynabench.recognition.badges import service
from dynabench.recognition.badges.definitions import BADGES
from dynabench.recognition.badges.progress import read_progress
from dynabench.recognition.badges.schemas import AwardOut, BadgeList, BadgeOut, BadgeProgressOut, OwnBadges

router = APIRouter(prefix="/api/v1", tags=["people"], dependencies=[Depends(scope("read"))])


@router.get("/badges")
async def list_badges(db: Db) -> BadgeList:
    """Return all badges with what they take."""
    owners = await db.aread(service.count_owners)
    return BadgeList(
        items=[
            BadgeOut(
                key=badge.key,
                title=badge.title,
                explanation=badge.explanation,
                family=badge.family,
                subject=badge.subject,
                needs={str(measure): goal for measure, goal in badge.needs.items()},
                people=owners.get(badge.key, 0),
            )
            for badge in BADGES.values()
        ]
    )


@router.get("/me/badges")
async def list_own_badges(db: Db, person: Member) -> OwnBadges:
    """Return your badges and your progress to all."""
    return await db.aread(read_own_badges, person.id)


def read_awards(session: Session, person_id: int) -> list[AwardOut]:
    """Read a person's badges, the newest first."""
    return [
        AwardOut(badge=award.badge, title=BADGES[award.badge].title, subject=award.subject, at=award.at)
        for award in service.awards_of(session, person_id)
        if award.badge in BADGES
    ]


def read_own_badges(session: Session, person_id: int) -> OwnBadges:
    """Read a person's badges and the progress to all."""
    awards = read_awards(session, person_id)
    progress = read_progress(session, person_id)
    ways = [(badge.key, progress.best(badge)) for badge in BADGES.values()]
    return OwnBadges(
        awards=awards,
        progress=[
            BadgeProgressOut(
                badge=key,
                awards=sum(award.badge == key for award in awards),
                measure=way[0] if way else "",
                value=way[1] if way else 0,
                goal=way[2] if way else 0,
            )
            for key, way in ways
        ],
    )
