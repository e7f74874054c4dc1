"""A person's own copy of the facts that were recorded while they wrote examples: as JSON and as a file."""

from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, Field
from sqlalchemy import Select, select
from sqlalchemy.orm import Session
from starlette.responses import Response

from dynabench.collection.tables import Example
from dynabench.collection.writing_facts import WritingFacts
from dynabench.kit.api import After, Db, Limit, csv_response
from dynabench.kit.schemas import Page
from dynabench.people.accounts.auth import Member

api = APIRouter()
pages = APIRouter(include_in_schema=False)
COLUMNS = ("example", "task", "typed", "pasted", "model_written", "device", "at")
MOST_ROWS = 100_000


class OwnWritingOut(BaseModel):
    """The facts about one of your examples."""

    example: str = Field(description="Its uid.")
    task: str
    typed: int | None
    pasted: int | None
    model_written: bool | None
    device: bool = Field(description="True while a digest of the browser's cookie is kept.")
    at: str


class OwnWritingPage(Page[OwnWritingOut]):
    """A page of them; `next` is the cursor of the page after it."""


def _own_facts(person_id: int, after: int, limit: int) -> Select[WritingFacts, str]:
    """The facts of a person's examples by id: a range of the index of people."""
    return (
        select(WritingFacts, Example.uid)
        .join(Example, Example.id == WritingFacts.example_id)
        .where(WritingFacts.person_id == person_id, WritingFacts.example_id > after)
        .order_by(WritingFacts.example_id)
        .limit(limit)
    )


def _facts_out(facts: WritingFacts, uid: str) -> OwnWritingOut:
    return OwnWritingOut(
        example=uid,
        task=facts.task_id,
        typed=facts.typed,
        pasted=facts.pasted,
        model_written=facts.model_written,
        device=facts.device is not None,
        at=facts.at.isoformat(),
    )


@api.get("/me/writing")
async def list_own_writing(db: Db, person: Member, after: After = None, limit: Limit = 50) -> OwnWritingPage:
    """Facts that were recorded while you wrote your examples, oldest first."""

    def read(session: Session) -> OwnWritingPage:
        rows = session.execute(_own_facts(person.id, after or 0, limit + 1)).all()
        following = str(rows[limit - 1][0].example_id) if len(rows) > limit else None
        return OwnWritingPage(items=[_facts_out(*row) for row in rows[:limit]], next=following)

    return await db.aread(read)


@pages.get("/me/writing.csv", name="download_own_writing")
async def download_own_writing(db: Db, person: Member) -> Response:
    """The facts about one's own examples as a file."""

    def read(session: Session) -> list[list[Any]]:
        rows = session.execute(_own_facts(person.id, 0, MOST_ROWS))
        return [[getattr(_facts_out(*row), name) for name in COLUMNS] for row in rows]

    return csv_response("writing.csv", COLUMNS, await db.aread(read))
