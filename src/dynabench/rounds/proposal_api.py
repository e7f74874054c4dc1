"""Tasks that people propose, as JSON."""

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field
from sqlalchemy.orm import Session

from dynabench.kit.api import Db, Limit
from dynabench.kit.schemas import Page, StrictModel
from dynabench.kit.security import RowId
from dynabench.people import may
from dynabench.people.accounts.auth import Admin, Member
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.rounds import proposals, service
from dynabench.rounds.proposals import State
from dynabench.rounds.schemas import Config
from dynabench.rounds.tables import Proposal

router = APIRouter()
Before = Annotated[int | None, Query(ge=1, le=2**63 - 1, description="The `next` of the page before.")]


class ProposalIn(StrictModel):
    """A task for the admins to accept."""

    config: Config
    note: str = Field(
        "", max_length=proposals.LONGEST_NOTE, description="Why there should be this task; admins read it."
    )


class DecisionIn(StrictModel):
    """An admin's decision on a proposal."""

    accept: bool
    reason: str = Field("", max_length=1000, description="The proposer reads it; a refusal needs one.")


class ProposalRow(BaseModel):
    """A proposal in a list."""

    id: int
    task: str = Field(description="The id that the task would have, or has.")
    by: str
    note: str
    state: State
    reason: str = Field(description="What the admin said.")
    created_at: datetime
    decided_at: datetime | None


class ProposalOut(ProposalRow):
    """A proposal with its config."""

    config: str


class ProposalPage(Page[ProposalRow]):
    """Proposals, newest first."""


def proposal_values(session: Session, proposal: Proposal) -> dict[str, Any]:
    """Return the values of a proposal that lists and pages show."""
    names = ("id", "note", "state", "reason", "created_at", "decided_at")
    by = session.get_one(Person, proposal.person_id).public_name
    return {name: getattr(proposal, name) for name in names} | {"task": proposal.task_id, "by": by}


def _out(session: Session, proposal: Proposal) -> ProposalOut:
    return ProposalOut(config=proposal.source, **proposal_values(session, proposal))


@router.get("/proposals")
async def list_proposals(
    db: Db, person: Member, state: State | None = None, after: Before = None, limit: Limit = 50
) -> ProposalPage:
    """The tasks that you proposed, newest first; to admins those of everybody."""

    def read(session: Session) -> ProposalPage:
        page_rows = proposals.list_proposals(
            session, None if may.may(person, Action.DECIDE_PROPOSAL) else person.id, state, after, limit + 1
        )
        return ProposalPage.cut(page_rows, limit, show=lambda row: ProposalRow(**proposal_values(session, row)))

    return await db.aread(read)


@router.post("/proposals", status_code=201)
async def send_proposal(request: Request, body: ProposalIn, person: Member) -> ProposalOut:
    """Propose a task; an admin accepts or refuses it, and you are told."""
    state = request.app.state
    mode = state.settings.new_tasks

    def write(session: Session) -> ProposalOut:
        return _out(session, proposals.propose_task(session, person, mode, body.config, body.note))

    proposals.may_create_task(person, mode)
    await service.parse_ahead(body.config)
    proposal: ProposalOut = await state.db.awrite(write)
    return proposal


@router.get("/proposals/{id}")
async def read_proposal(db: Db, id: RowId, person: Member) -> ProposalOut:
    """One proposal with its config; yours, or (admins) anybody's."""
    return await db.aread(lambda session: _out(session, proposals.get_proposal(session, person, id)))


@router.post("/proposals/{id}/decision")
async def decide_proposal(db: Db, id: RowId, body: DecisionIn, admin: Admin) -> ProposalOut:
    """Accept or refuse a proposal (admins); its proposer becomes the owner of an accepted task."""
    return await db.awrite(lambda s: _out(s, proposals.decide_proposal(s, admin, id, body.accept, body.reason)))


@router.post("/proposals/{id}/withdraw")
async def withdraw_proposal(db: Db, id: RowId, person: Member) -> ProposalOut:
    """Take back what you proposed, while it waits."""
    return await db.awrite(lambda session: _out(session, proposals.withdraw_proposal(session, person, id)))
