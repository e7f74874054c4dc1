"""The page behind an invitation's link, the one for a new task, and what was proposed."""

from fastapi import APIRouter, Depends, Request
from starlette.responses import RedirectResponse, Response

from dynabench.people.accounts.auth import Member, Viewer, limited
from dynabench.rounds import invitations, older_configs, proposal_pages, task_creation
from dynabench.web import render

router = APIRouter(include_in_schema=False)
router.include_router(task_creation.router)
router.include_router(older_configs.pages)
router.include_router(proposal_pages.router)

SELDOM = [Depends(limited("join", 30, 60))]


@router.get("/join/{secret}", name="join", dependencies=SELDOM)
async def join(request: Request, secret: str, viewer: Viewer) -> Response:
    """Show the role that an invitation offers; visitors log in or register first and come back."""
    offer = await request.app.state.db.aread(invitations.look, viewer, secret)
    return render(request, "rounds/join.html", offer=offer, secret=secret)


@router.post("/join/{secret}", name="accept_invitation", dependencies=SELDOM)
async def accept(request: Request, secret: str, person: Member) -> Response:
    """Join, and go to the task."""
    offer = await request.app.state.db.awrite(invitations.accept, person, secret)
    return RedirectResponse(str(request.app.url_path_for("task", task=offer.task_id)), status_code=303)
