"""Snapshots and forks as JSON."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from sqlalchemy.orm import Session
from starlette.responses import Response

from dynabench.benchmark import weights
from dynabench.benchmark.leaderboards import listing, schemas, snapshots
from dynabench.benchmark.leaderboards.schemas import Slug
from dynabench.people.accounts import auth
from dynabench.people.accounts.auth import Member, Viewer

router = APIRouter(dependencies=[Depends(auth.scope("annotate"))])
Limit = Annotated[int, Query(ge=1, le=100)]


def _params(given: schemas.WeightsIn) -> dict[str, str]:
    return weights.flat(given.metrics, given.datasets, given.form)


@router.get("/tasks/{task}/snapshots")
async def list_snapshots(
    request: Request, task: str, viewer: Viewer, after: schemas.After = "", limit: Limit = 50
) -> schemas.SnapshotPage:
    """The snapshots of a task's board, newest first."""
    found: schemas.SnapshotPage = await request.app.state.db.aread(listing.snapshot_page, task, after, limit)
    return found


@router.post("/tasks/{task}/snapshots", status_code=201)
async def keep_snapshot(request: Request, task: str, given: schemas.SnapshotIn, person: Member) -> schemas.SnapshotRow:
    """Freeze the public board of a task under these weights; it never changes afterwards."""

    def write(session: Session) -> schemas.SnapshotRow:
        made = snapshots.take_snapshot(session, person, task, _params(given.weights), given.title)
        return listing.snapshot_row(made, person)

    found: schemas.SnapshotRow = await request.app.state.db.awrite(write)
    return found


@router.get("/snapshots/{slug}")
async def read_snapshot(request: Request, slug: Slug, viewer: Viewer) -> Response:
    """A snapshot's document, byte for byte what its digest is of (header `Digest`)."""
    found = await request.app.state.db.aread(snapshots.find_snapshot, slug)
    return Response(
        snapshots.canonical_json(found.document),
        media_type="application/json",
        headers={"Digest": f"sha-256={found.digest}"},
    )


@router.get("/tasks/{task}/forks")
async def list_forks(request: Request, task: str, viewer: Viewer) -> schemas.ForkList:
    """The boards of their own that people keep of a task, newest first."""
    found: schemas.ForkList = await request.app.state.db.aread(listing.list_forks, task)
    return found


@router.post("/tasks/{task}/forks", status_code=201)
async def keep_fork(request: Request, task: str, given: schemas.ForkIn, person: Member) -> schemas.ForkOut:
    """Keep weights and a choice of datasets (weight 0 leaves one out) under a name; the board stays current."""

    def write(session: Session) -> schemas.ForkOut:
        made = snapshots.make_fork(session, person, task, _params(given.weights), given.title, given.note)
        return listing.fork_out(made, person)

    found: schemas.ForkOut = await request.app.state.db.awrite(write)
    return found


@router.get("/forks/{slug}")
async def read_fork(request: Request, slug: Slug, viewer: Viewer) -> schemas.ForkOut:
    """A fork; its board is that of its task with `?fork=<slug>`."""
    found: schemas.ForkOut = await request.app.state.db.aread(listing.read_fork, slug)
    return found


@router.patch("/forks/{slug}")
async def edit_fork(request: Request, slug: Slug, given: schemas.ForkChange, person: Member) -> schemas.ForkOut:
    """Change a fork (its maker, admins)."""

    def write(session: Session) -> schemas.ForkOut:
        params = _params(given.weights) if given.weights is not None else None
        snapshots.change_fork(session, person, slug, params, given.title, given.note)
        return listing.read_fork(session, slug)

    found: schemas.ForkOut = await request.app.state.db.awrite(write)
    return found


@router.delete("/forks/{slug}", status_code=204)
async def drop_fork(request: Request, slug: Slug, person: Member) -> Response:
    """Delete a fork (its maker, admins)."""
    await request.app.state.db.awrite(snapshots.delete_fork, person, slug)
    return Response(status_code=204)
