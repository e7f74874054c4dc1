"""People of a task as JSON: who is what, invitations, bans, warnings."""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from pydantic import BaseModel, Field

from dynabench.kit import security
from dynabench.kit.api import Db, Limit
from dynabench.kit.schemas import Page, RowModel, StrictModel
from dynabench.people.accounts.auth import Member, limited, needs
from dynabench.people.roles import TaskRole
from dynabench.rounds import invitations, people, service
from dynabench.rounds.schemas import RoleIn, RoleOut
from dynabench.rounds.tables import Invitation

router = APIRouter()
MAILING = [Depends(limited("mail an invitation", 30, 24 * 3600))]

PersonId = Annotated[int, Field(ge=1, le=2**63 - 1, description="The person's number, as in the list of people.")]


class SeatOut(RowModel):
    """A person with a role in a task or a ban from it; `banned` is the reason."""

    id: int = Field(validation_alias="person_id")
    name: str
    username: str = Field(description="Empty for moderators, who know people as boards do.")
    role: str | None
    banned: str | None
    banned_at: datetime | None


class SeatPage(Page[SeatOut]):
    """A page of people by id; `next` is the cursor of the page after it."""


class InvitationIn(StrictModel):
    """An invitation by link; links for owners and moderators work once."""

    role: TaskRole
    note: str = Field("", max_length=200, description="For yourself: whom the link is for; at most 100 characters.")
    uses: int = Field(1, description="How many people may accept it, up to 1,000.")
    days: int = Field(7, description="How long it works, up to 90 days.")
    round: Annotated[int, Field(ge=1, le=2**31 - 1)] | None = Field(
        None, description="The number of a round for invited people that it is for."
    )


class MailedIn(StrictModel):
    """An invitation that the site mails; its link works once."""

    role: TaskRole
    address: str = Field(max_length=300, description="Where it goes; forgotten once it went out.")
    days: int = Field(7, description="How long it works, up to 90 days.")


class InvitationOut(RowModel):
    """An invitation that works, without its secret."""

    id: int
    role: str
    note: str
    uses: int
    most_uses: int
    created_at: datetime
    expires_at: datetime


class NewInvitation(InvitationOut):
    """A new invitation; link and secret are shown this once."""

    secret: str
    link: str = Field(description="Where people accept it, below this site's address.")


class InvitationList(Page[InvitationOut]):
    """Invitations that work, newest first, all on one page."""


class SecretIn(StrictModel):
    """The last part of an invitation's link."""

    secret: str = Field(max_length=200)


class JoinedOut(BaseModel):
    """Your role in the task now; `changed` is false if you already had this role or a higher one."""

    task: str
    role: str
    changed: bool


class BanIn(StrictModel):
    """The person to ban, and the reason, which the person reads."""

    person: PersonId
    reason: str = Field(max_length=2000)


class WarningIn(StrictModel):
    """The person to warn, and the text that the person reads."""

    person: PersonId
    text: str = Field(max_length=2000)


@router.get("/tasks/{task}/people")
async def list_people(
    db: Db,
    task: str,
    person: Member,
    after: Annotated[int, Query(ge=0, le=2**63 - 1)] = 0,
    limit: Limit = 50,
) -> SeatPage:
    """Everybody with a role in the task or a ban from it, for its owners and moderators."""
    members = await db.aread(people.list_members, person, task, after, limit + 1)
    return SeatPage.cut(members, limit, "person_id")


@router.post("/tasks/{task}/roles")
async def set_role(db: Db, task: str, body: RoleIn, person: Member) -> RoleOut:
    """Make a person owner, moderator, expert or annotator of a task, or nothing again (owners)."""
    await db.awrite(service.set_role, person, task, body.username, body.role)
    return RoleOut(username=body.username, role=body.role)


@router.post("/tasks/{task}/warnings", status_code=204)
async def warn(db: Db, task: str, body: WarningIn, person: Member) -> None:
    """Show a person a warning on their next pages, until they have seen it (owners and moderators)."""
    await db.awrite(people.warn_person, person, task, body.person, body.text)


@router.post("/tasks/{task}/bans", status_code=204)
async def ban(db: Db, task: str, body: BanIn, person: Member) -> None:
    """Let a person neither write nor check for the task any more (owners and moderators)."""
    await db.awrite(people.ban_person, person, task, body.person, body.reason)


@router.delete("/tasks/{task}/bans/{id}", status_code=204)
async def lift_ban(db: Db, task: str, id: security.RowId, person: Member) -> None:
    """Lift the ban on a person (owners and moderators); where there is none nothing changes."""
    await db.awrite(people.lift_ban, person, task, id)


@router.get("/tasks/{task}/invitations")
async def list_invitations(db: Db, task: str, person: Member) -> InvitationList:
    """The task's invitations that still work, for its owners."""
    working = await db.aread(invitations.list_invitations, person, task)
    return InvitationList.model_validate({"items": working})


@router.post("/tasks/{task}/invitations", status_code=201)
async def invite(request: Request, db: Db, task: str, body: InvitationIn, person: Member) -> NewInvitation:
    """A link that gives the person who accepts it a role in the task (owners)."""
    how = (person, task, body.role, body.note, body.uses, body.days, body.round)
    invitation, secret = await db.awrite(invitations.create_invitation, *how)
    return _new(request, invitation, secret)


@router.post("/tasks/{task}/invitations/mail", status_code=202, dependencies=MAILING)
async def invite_by_mail(request: Request, task: str, body: MailedIn, person: Member) -> InvitationOut:
    """Invite a person by mail (owners); 409 where the site sends none."""
    state = request.app.state
    how = (state.settings, person, task, body.role, body.address, body.days)
    invitation = await state.db.awrite(invitations.invite_by_mail, *how)
    return InvitationOut.model_validate(invitation)


def _new(request: Request, invitation: Invitation, secret: str) -> NewInvitation:
    values = InvitationOut.model_validate(invitation)
    link = str(request.app.url_path_for("join", secret=secret))
    return NewInvitation(**values.model_dump(), secret=secret, link=link)


@router.delete("/tasks/{task}/invitations/{id}", status_code=204)
async def revoke_invitation(db: Db, task: str, id: security.RowId, person: Member) -> None:
    """End an invitation (owners); who accepted it keeps the role."""
    await db.awrite(invitations.revoke_invitation, person, task, id)


@router.post("/invitations/accept", dependencies=[Depends(limited("join", 30, 60))])
@needs("annotate")
async def accept_invitation(db: Db, body: SecretIn, person: Member) -> JoinedOut:
    """Accept an invitation by the last part of its link; a stronger role that you have is kept."""
    offer = await db.awrite(invitations.accept_invitation, person, body.secret)
    return JoinedOut(task=offer.task_id, role=offer.already or offer.role, changed=offer.already is None)
