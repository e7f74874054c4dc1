"""A release as a page that everybody may read."""

from typing import Any

from fastapi import APIRouter, Depends, Request
from sqlalchemy.orm import Session
from starlette.responses import Response

from dynabench.benchmark.reading import measures
from dynabench.benchmark.releases import views
from dynabench.benchmark.releases.api import platform_address
from dynabench.kit.api import Db
from dynabench.people.accounts.auth import Viewer
from dynabench.rounds import people
from dynabench.rounds import service as rounds
from dynabench.rounds import views as round_views
from dynabench.rounds.schemas import Number
from dynabench.web import render

router = APIRouter(include_in_schema=False)


@router.get("/tasks/{task}/rounds/{n}/release", name="release", dependencies=[Depends(people.load_actions)])
async def release(request: Request, db: Db, task: str, n: Number, viewer: Viewer) -> Response:
    """Show a release: its parts, its files with their digests, how to load and cite it, and models' gaps."""

    def read(session: Session) -> dict[str, Any]:
        config = rounds.task_config(session, task)
        return {
            "task": task,
            "config": config,
            "round": round_views.round_out(session, rounds.round_of(session, task, n)),
            "release": views.release_with_gaps(
                session, request.app.state.settings, platform_address(request), viewer, task, n
            ),
            "measure": measures(config)[0],
        }

    return render(request, "releases/release.html", **await db.aread(read))
