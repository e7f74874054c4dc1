"""Inspiration as JSON."""

import random
from typing import Annotated

from fastapi import APIRouter, Depends, Query
from pydantic import BaseModel, Field
from sqlalchemy.orm import Session

from dynabench.communities.inspiration import service
from dynabench.communities.inspiration.tables import InspirationMode
from dynabench.communities.teams.schemas import TeamRateOut
from dynabench.kit.api import Db
from dynabench.kit.schemas import Page, StrictModel
from dynabench.kit.security import RowId
from dynabench.people.accounts.auth import Member, needs, scope
from dynabench.people.may import Action
from dynabench.rounds import service as rounds
from dynabench.rounds.schemas import Number

router = APIRouter(prefix="/api/v1", tags=["collection"], dependencies=[Depends(scope("annotate"))])


class InspirationModeIn(StrictModel):
    """The examples that annotators may open."""

    mode: InspirationMode


class InspiringExampleOut(BaseModel):
    """A verified example of another person."""

    uid: str
    round: int
    input: dict[str, object]
    answer: dict[str, object]


class InspirationOut(BaseModel):
    """Examples that were opened now, and how many the hand-out has had in all."""

    items: list[InspiringExampleOut]
    opened: int
    tags: list[str]


class ExposureOut(BaseModel):
    """Figures of the examples written after opening others (`inspired`), or without."""

    inspired: bool
    people: int
    examples: int
    fooled: int
    verified: int
    mer: TeamRateOut = Field(description="Clustered by annotator.")
    vmer: TeamRateOut


class ExposureList(Page[ExposureOut]):
    """Figures by exposure."""


@router.post("/handouts/{id}/inspiration")
async def open_inspiration(
    db: Db, id: RowId, person: Member, tag: Annotated[str, Query(max_length=100)] = ""
) -> InspirationOut:
    """Open up to three verified examples of others; it is recorded with your hand-out."""

    def write(session: Session) -> InspirationOut:
        view = service.open_examples(session, person, id, tag, random.Random())
        items = [
            InspiringExampleOut(uid=row.uid, round=card["round"], input=row.input, answer=row.answer)
            for row, card in zip(view.examples, view.cards, strict=True)
        ]
        return InspirationOut(items=items, opened=view.opened, tags=list(view.tags))

    return await db.awrite(write)


@router.put("/tasks/{task}/inspiration", status_code=204)
@needs("manage")
async def choose_inspiration(db: Db, task: str, body: InspirationModeIn, person: Member) -> None:
    """Choose which examples annotators may open (owners)."""
    await db.awrite(service.choose_mode, person, task, body.mode)


@router.get("/tasks/{task}/rounds/{n}/inspiration")
@needs("manage")
async def read_exposure(db: Db, task: str, n: Number, person: Member) -> ExposureList:
    """Return figures of a round by exposure (owners)."""

    def read(session: Session) -> ExposureList:
        rounds.require(session, person, Action.READ_EXAMPLE, task)
        lines = service.read_exposure(session, rounds.round_of(session, task, n))
        return ExposureList(
            items=[
                ExposureOut(
                    inspired=line.inspired,
                    people=line.people,
                    examples=line.counts.examples,
                    fooled=line.counts.fooled,
                    verified=line.counts.validated,
                    mer=TeamRateOut.model_validate(line.rates.mer),
                    vmer=TeamRateOut.model_validate(line.rates.vmer),
                )
                for line in lines
            ]
        )

    return await db.aread(read)
