"""The page of a person."""

from fastapi import APIRouter, Request
from starlette.responses import Response

from dynabench.kit.api import Db
from dynabench.people.accounts.auth import Viewer
from dynabench.recognition.profiles import service
from dynabench.web import render

router = APIRouter(include_in_schema=False)


@router.get("/people/{name}", name="profile")
async def profile(request: Request, db: Db, name: str, viewer: Viewer) -> Response:
    """A person's contributions, badges and verified examples: for everybody, or for the person alone."""
    shown_profile = await db.aread(service.read_profile, viewer, name)
    return render(request, "profiles/profile.html", profile=shown_profile)
