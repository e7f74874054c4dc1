"""Pages of proposed tasks: the state of the viewer's own proposals, and the admins' queue."""

from typing import Annotated, Any

from fastapi import APIRouter, Form, Query, Request
from sqlalchemy.orm import Session
from starlette.responses import RedirectResponse, Response

from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.kit.security import RowId
from dynabench.people.accounts.auth import Admin, Member
from dynabench.people.accounts.tables import Person
from dynabench.rounds import editing, proposals
from dynabench.rounds.owner_tables import ProposalState
from dynabench.rounds.proposal_api import row
from dynabench.web import render

router = APIRouter()
SHOWN = 20
Before = Annotated[int | None, Query(ge=1, le=2**53)]
Word = Annotated[str, Query(max_length=20)]


def _rows(session: Session, person_id: int | None, state: Any, after: int | None) -> dict[str, Any]:
    found = proposals.listed(session, person_id, state, after, SHOWN + 1)
    following = found[SHOWN - 1].id if len(found) > SHOWN else None
    return {"items": [row(session, each) for each in found[:SHOWN]], "next": following, "after": after}


@router.get("/proposals", name="proposals")
async def mine(request: Request, person: Member, after: Before = None, done: Word = "") -> Response:
    """The tasks that one proposed, and what was said of them."""
    values = await request.app.state.db.aread(_rows, person.id, None, after)
    mode = request.app.state.settings.new_tasks
    return render(request, "rounds/proposals.html", done=done, mode=mode, **values)


@router.post("/proposals/{id}/withdraw", name="withdraw_proposal_form")
async def withdraw(request: Request, id: RowId, person: Member) -> Response:
    """Take one back."""
    await request.app.state.db.awrite(proposals.withdraw, person, id)
    return RedirectResponse(f"{request.app.url_path_for('proposals')}?done=withdrawn", status_code=303)


@router.get("/admin", name="admin")
async def queue(request: Request, admin: Admin, after: Before = None, state: Word = "waiting") -> Response:
    """Show the proposed tasks that wait for the admins; with another `state`, those that were decided."""
    shown = state if state in (ProposalState.WAITING, ProposalState.ACCEPTED, ProposalState.REFUSED) else "waiting"
    values = await request.app.state.db.aread(_rows, None, shown, after)
    mode = request.app.state.settings.new_tasks
    return render(request, "rounds/admin.html", state=shown, mode=mode, **values)


def _one(session: Session, admin: Person, id: int) -> dict[str, Any]:
    found = proposals.one(session, admin, id)
    return {
        "proposal": row(session, found),
        "text": found.source,
        "effects": [],
        **editing.check(session, found.source),
    }


@router.get("/admin/proposals/{id}", name="admin_proposal")
async def one(request: Request, id: RowId, admin: Admin) -> Response:
    """A proposed task: what annotators would see, its config, and the two buttons."""
    values = await request.app.state.db.aread(_one, admin, id)
    return render(request, "rounds/proposal.html", errors={}, reason="", **values)


@router.post("/admin/proposals/{id}", name="decide_proposal_form")
async def decide(
    request: Request,
    id: RowId,
    admin: Admin,
    act: Annotated[str, Form(max_length=10)] = "",
    reason: Annotated[str, Form(max_length=2000)] = "",
) -> Response:
    """Accept (`act` = accept) or refuse."""
    db = request.app.state.db
    try:
        if act not in ("accept", "refuse"):
            raise errors.Invalid({"act": _("Accept it or refuse it.")})
        made = await db.awrite(proposals.decide, admin, id, act == "accept", reason)
    except (errors.Invalid, errors.Conflict) as problem:
        wrong = problem.fields if isinstance(problem, errors.Invalid) else {"act": problem.detail}
        values = await db.aread(_one, admin, id)
        return render(request, "rounds/proposal.html", status=problem.status, errors=wrong, reason=reason, **values)
    return RedirectResponse(f"{request.app.url_path_for('admin')}?state={made.state}", status_code=303)
