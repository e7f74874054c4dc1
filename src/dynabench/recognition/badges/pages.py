"""The page that explains all badges, and the line that celebrates one just earned."""

from datetime import timedelta

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse, Response

from dynabench.kit.api import Db
from dynabench.kit.db import now
from dynabench.people.accounts.auth import Viewer
from dynabench.recognition.badges import service, views
from dynabench.recognition.badges.definitions import BADGES
from dynabench.web import render

router = APIRouter(include_in_schema=False)
OPEN_FAMILIES = 3
"""Families of badges that the page shows from the start; the ladders below are folded."""
JUST_NOW = timedelta(seconds=5)
"""The time for which a badge is new: a result asks for news 2.5 and 7 seconds after it is shown."""


@router.get("/badges", name="badges")
async def badges(request: Request, db: Db, viewer: Viewer) -> Response:
    """All badges, with the viewer's progress."""
    families = await db.aread(views.badge_families, viewer.id if viewer else None)
    return render(request, "badges/page.html", families=families, open_families=OPEN_FAMILIES)


@router.get("/badges/news", name="badge_news")
async def badge_news(request: Request, db: Db, viewer: Viewer) -> Response:
    """The badges that the viewer earned a moment ago, for the result of an example or a vote; else nothing."""
    if viewer is None:
        return HTMLResponse("")
    awards = await db.aread(service.recent_awards, viewer.id, now() - JUST_NOW)
    if not awards:
        return HTMLResponse("")
    earned = list({award.badge: BADGES[award.badge] for award in awards if award.badge in BADGES}.values())
    return render(request, "badges/_news.html", badges=earned)
