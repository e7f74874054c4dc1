"""Health, accounts and jobs as JSON, for administrators."""

from datetime import datetime
from typing import Annotated

from anyio import to_thread
from fastapi import APIRouter, Depends, Query, Request
from pydantic import BaseModel, Field

from dynabench.kit import job_control
from dynabench.kit.api import AppSettings, Db, Limit, page_address
from dynabench.kit.job_control import JobStatus
from dynabench.kit.jobs import WORKFLOWS, JobState
from dynabench.kit.schemas import Page
from dynabench.kit.security import RowId
from dynabench.people.accounts import recovery
from dynabench.people.accounts.auth import Admin, scope
from dynabench.site.admin import health, job_acts, people

router = APIRouter(prefix="/api/v1/admin", tags=["admin"], dependencies=[Depends(scope("manage"))])


class HealthPartOut(BaseModel):
    """One part of the deployment."""

    name: str = Field(description="`web`, `database`, `host`, `worker`, `queue`, `disk` or `mail`.")
    state: str = Field(description="`good`, `warn`, `bad`, or `off` where it is not set up.")
    figure: str
    advice: str = Field(description="What to do, or nothing.")


class SiteHealthOut(BaseModel):
    """The health of the deployment: the worst state, and each part."""

    state: str
    parts: list[HealthPartOut]


class AccountOut(BaseModel):
    """An account, for administrators alone."""

    id: int
    username: str
    email: str
    pseudonym: str
    admin: bool
    second_factor: bool
    created_at: datetime
    seen_at: datetime | None = Field(description="Last use of a browser that is still logged in.")
    examples: int
    roles: dict[str, str] = Field(description="Role by task.")
    bans: dict[str, str] = Field(description="Reason by task.")


class AccountPage(Page[AccountOut]):
    """Accounts, newest first."""


class ResetLinkOut(BaseModel):
    """A link by which a person chooses a new password: it works once, for a day."""

    link: str


class JobOut(BaseModel):
    """A job; `error` is why it failed."""

    id: str
    kind: str
    state: str
    person: int | None
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    error: str
    may_cancel: bool
    may_retry: bool


class JobList(Page[JobOut]):
    """Jobs, newest first; `next` is the `before` of the next page."""


@router.get("/health")
async def read_health(request: Request, _admin: Admin) -> SiteHealthOut:
    """Return the state of each part of the deployment, and what to do."""
    return SiteHealthOut.model_validate(health.as_document(await health.health_parts(request)))


@router.get("/people")
async def list_accounts(
    db: Db,
    _admin: Admin,
    q: Annotated[str, Query(max_length=100, description="Part of a name or address.")] = "",
    kind: Annotated[str, Query(pattern="^(admins|roles|banned|)$")] = "",
    after: Annotated[int, Query(ge=0, le=2**53, description="The `next` of the page before.")] = 0,
    limit: Limit = 50,
) -> AccountPage:
    """Return accounts, newest first."""
    rows, next_id = await db.aread(people.list_accounts, q, kind, after, limit)
    items = [
        AccountOut(
            **{
                name: getattr(row.person, name)
                for name in ("id", "username", "email", "pseudonym", "admin", "created_at")
            },
            second_factor=row.second_factor,
            seen_at=row.seen_at,
            examples=row.examples,
            roles={role.task_id: role.role for role in row.roles},
            bans={ban.task_id: ban.reason for ban in row.bans},
        )
        for row in rows
    ]
    return AccountPage(items=items, next=str(next_id) if next_id else None)


@router.post("/people/{id}/reset", status_code=201)
async def make_reset_link(request: Request, db: Db, settings: AppSettings, id: RowId, admin: Admin) -> ResetLinkOut:
    """Make a link by which a person chooses a new password."""
    _person, token = await db.awrite(recovery.make_reset_link, settings.key, admin.id, id)
    return ResetLinkOut(link=page_address(request, "reset_password", token=token))


@router.get("/jobs")
async def list_jobs(
    db: Db,
    settings: AppSettings,
    _admin: Admin,
    state: JobState | None = None,
    kind: Annotated[str, Query(max_length=40)] = "",
    before: datetime | None = None,
    limit: Limit = 50,
) -> JobList:
    """Return jobs, newest first."""
    moment = before.astimezone() if before else None
    of_kind = kind if kind in WORKFLOWS else ""
    rows = await to_thread.run_sync(job_control.list_jobs, db, settings, state, of_kind, moment, limit + 1)
    following = rows[limit - 1].job.created_at.isoformat() if len(rows) > limit else None
    return JobList(items=[_job_out(row) for row in rows[:limit]], next=following)


@router.post("/jobs/{job}/cancel", status_code=202)
async def cancel_job(db: Db, settings: AppSettings, admin: Admin, job: str) -> JobOut:
    """End a job that waits or runs; one that runs ends after its present step."""
    return await _act(db, settings, admin, job, "cancel")


@router.post("/jobs/{job}/retry", status_code=202)
async def retry_job(db: Db, settings: AppSettings, admin: Admin, job: str) -> JobOut:
    """Run a job again that failed or was cancelled."""
    return await _act(db, settings, admin, job, "retry")


async def _act(db: Db, settings: AppSettings, admin: Admin, job: str, act: str) -> JobOut:
    await to_thread.run_sync(job_acts.act_on_job, db, settings, admin, job, act)
    return _job_out(await to_thread.run_sync(job_control.job_status, db, settings, job))


def _job_out(status: JobStatus) -> JobOut:
    job = status.job
    return JobOut(
        id=job.id,
        kind=job.kind,
        state=status.state,
        person=job.person_id,
        created_at=job.created_at,
        started_at=status.started_at,
        ended_at=status.ended_at,
        error=status.error,
        may_cancel=job_acts.may_cancel(status),
        may_retry=job_acts.may_retry(status),
    )
