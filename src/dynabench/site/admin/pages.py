"""The administrators' pages: health, people, tasks and proposals, models, jobs, settings."""

from typing import Annotated, Any

from anyio import to_thread
from fastapi import APIRouter, Query, Request
from sqlalchemy.orm import Session
from starlette.responses import RedirectResponse, Response

from dynabench.kit import errors, job_control
from dynabench.kit.api import AppSettings, Db, csv_response, page_address
from dynabench.kit.forms import Text, read_moment, read_number, redirect
from dynabench.kit.jobs import WORKFLOWS, JobState
from dynabench.kit.language import _
from dynabench.kit.security import RowId
from dynabench.people.accounts import recovery
from dynabench.people.accounts import service as accounts
from dynabench.people.accounts.auth import Admin
from dynabench.people.accounts.tables import Person
from dynabench.people.roles import TaskRole
from dynabench.rounds import people as task_people
from dynabench.rounds import round_models
from dynabench.rounds import service as rounds
from dynabench.rounds.pages import proposal_page
from dynabench.rounds.tables import ProposalState
from dynabench.site.admin import health, job_acts, models, people, setting_rows, tasks
from dynabench.web import render

router = APIRouter(include_in_schema=False)
Word = Annotated[str, Query(max_length=100)]
Number = Annotated[int, Query(ge=0, le=2**53)]
MOST_ROWS = 10_000
"""Rows of a table as CSV."""


@router.get("/admin", name="admin")
async def show_health(request: Request, _admin: Admin) -> Response:
    """The health of each part, and what to do."""
    parts = await health.health_parts(request)
    return render(request, "admin/health.html", parts=parts, worst=health.worst(parts))


@router.get("/admin/people", name="admin_people")
async def list_people(
    request: Request, db: Db, _admin: Admin, q: Word = "", kind: Word = "", after: Number = 0
) -> Response:
    """All accounts, to search."""
    rows, next_id = await db.aread(people.list_accounts, q, kind, after)
    return render(request, "admin/people.html", rows=rows, next=next_id, after=after, q=q, kind=kind)


@router.get("/admin/people.csv", name="admin_people_csv")
async def people_csv(db: Db, _admin: Admin, q: Word = "", kind: Word = "") -> Response:
    """The same as CSV."""
    rows, _next = await db.aread(people.list_accounts, q, kind, 0, MOST_ROWS)
    header = ("id", "username", "email", "pseudonym", "joined", "last_seen", "examples", "admin", "roles", "bans")
    table = (
        (
            row.person.id,
            row.person.username,
            row.person.email,
            row.person.pseudonym,
            row.person.created_at.isoformat(),
            row.seen_at.isoformat() if row.seen_at else "",
            row.examples,
            row.person.admin,
            ", ".join(f"{role.task_id}: {role.role}" for role in row.roles),
            ", ".join(ban.task_id for ban in row.bans),
        )
        for row in rows
    )
    return csv_response("people.csv", header, table)


async def _person_page(request: Request, person_id: int, status: int = 200, **values: Any) -> Response:
    def read(session: Session) -> dict[str, Any]:
        names = {row.id: row.name for row in tasks.list_tasks(session)}
        return {"view": people.view_account(session, person_id), "task_names": names}

    context: dict[str, Any] = {"errors": {}, "done": "", "link": ""}
    context |= await request.app.state.db.aread(read)
    return render(request, "admin/person.html", status=status, **(context | values))


@router.get("/admin/people/{id}", name="admin_person")
async def show_person(request: Request, id: RowId, _admin: Admin, done: Word = "") -> Response:
    """One account, and what can be done about it."""
    return await _person_page(request, id, done=done)


@router.post("/admin/people/{id}/reset-link", name="admin_reset_link")
async def make_reset_link(request: Request, db: Db, settings: AppSettings, id: RowId, admin: Admin) -> Response:
    """A link by which the person chooses a new password, shown this once."""
    _person, token = await db.awrite(recovery.make_reset_link, settings.key, admin.id, id)
    return await _person_page(request, id, link=page_address(request, "reset_password", token=token))


@router.post("/admin/people/{id}", name="admin_change_person")
async def change_person(
    request: Request,
    db: Db,
    id: RowId,
    admin: Admin,
    act: Text = "",
    task: Text = "",
    role: Text = "",
    reason: Text = "",
) -> Response:
    """Change rights, bans, sessions or the second factor of an account, as `act` says."""
    try:
        await db.awrite(_change, admin, id, act, task, role, reason)
    except (errors.Invalid, errors.Conflict, errors.Forbidden) as problem:
        fields = problem.extra.get("fields") or {"act": problem.detail}
        return await _person_page(request, id, problem.status, errors=fields)
    return redirect(request, "admin_person", id=id, query={"done": act})


def _change(session: Session, admin: Person, id: int, act: str, task: str, role: str, reason: str) -> None:
    view = people.view_account(session, id)
    if act in ("promote", "demote"):
        people.change_admin(session, admin, id, act == "promote")
    elif act == "role":
        name = TaskRole(role) if role in set(TaskRole) else None
        rounds.set_role(session, admin, task, view.row.person.username, name)
    elif act == "ban":
        task_people.ban_person(session, admin, task, id, reason)
    elif act == "lift":
        task_people.lift_ban(session, admin, task, id)
    elif act == "log-out":
        people.end_sessions(session, admin, id)
    elif act == "second-factor":
        people.drop_second_factor(session, admin, id)
    else:
        raise errors.Invalid({"act": _("Choose one of the buttons.")})


@router.get("/admin/tasks", name="admin_tasks")
async def list_tasks(
    request: Request, settings: AppSettings, db: Db, _admin: Admin, after: Number = 0, state: Word = "waiting"
) -> Response:
    """Proposed tasks in a state, and all tasks."""
    listed = state if state in (ProposalState.WAITING, ProposalState.ACCEPTED, ProposalState.REFUSED) else "waiting"
    values = await db.aread(proposal_page, None, listed, after or None)
    rows = await db.aread(tasks.list_tasks)
    return render(request, "admin/tasks.html", state=listed, mode=settings.new_tasks, rows=rows, **values)


@router.get("/admin/tasks.csv", name="admin_tasks_csv")
async def tasks_csv(db: Db, _admin: Admin) -> Response:
    """All tasks as CSV."""
    header = ("id", "name", "owners", "open_round", "examples", "verified", "people")
    rows = await db.aread(tasks.list_tasks)
    table = (
        (row.id, row.name, ", ".join(row.owners), row.round, row.examples, row.verified, row.people) for row in rows
    )
    return csv_response("tasks.csv", header, table)


@router.get("/admin/models", name="admin_models")
async def list_models(request: Request, db: Db, _admin: Admin, done: Word = "") -> Response:
    """Models on each host."""
    used = set(await db.aread(round_models.models_of_open_rounds))
    hosts, rows = await models.list_models(request.app.state.host, used)
    return render(request, "admin/models.html", hosts=hosts, rows=rows, done=done)


@router.get("/admin/models.csv", name="admin_models_csv")
async def models_csv(request: Request, db: Db, _admin: Admin) -> Response:
    """The same as CSV."""
    used = set(await db.aread(round_models.models_of_open_rounds))
    _hosts, rows = await models.list_models(request.app.state.host, used)
    header = ("model", "version", "host", "state", "reason", "since", "memory_bytes", "in_open_round")
    table = (
        (row.state.name, row.state.version, row.address, row.state.state, row.state.reason, row.state.since,
         row.state.memory_bytes, row.used)
        for row in rows
    )  # fmt: skip
    return csv_response("models.csv", header, table)


@router.post("/admin/models/load", name="admin_load_model")
async def load_model(request: Request, _admin: Admin, name: Text = "", host: Text = "") -> Response:
    """Load a model again on a host."""
    await models.load_again(request.app.state.host, read_number(host, 4), name)
    return redirect(request, "admin_models", query={"done": name})


def _job_filter(state: str, kind: str) -> tuple[JobState | None, str]:
    return (JobState(state) if state in set(JobState) else None), (kind if kind in WORKFLOWS else "")


@router.get("/admin/jobs", name="admin_jobs")
async def list_jobs(
    request: Request, db: Db, settings: AppSettings, _admin: Admin, state: Word = "", kind: Word = "",
    before: Word = "", done: Word = "",
) -> Response:  # fmt: skip
    """Jobs, newest first."""
    chosen, of_kind = _job_filter(state, kind)
    rows = await to_thread.run_sync(
        job_control.list_jobs, db, settings, chosen, of_kind, read_moment(before), PAGE_JOBS + 1
    )
    names = await db.aread(accounts.usernames, [row.job.person_id for row in rows if row.job.person_id])
    following = rows[PAGE_JOBS - 1].job.created_at.isoformat() if len(rows) > PAGE_JOBS else ""
    values: dict[str, Any] = {
        "state": chosen or "",
        "kind": of_kind,
        "kinds": sorted(WORKFLOWS),
        "states": list(JobState),
    }
    values |= {"acts": job_acts, "names": names, "next": following, "before": before, "done": done}
    return render(request, "admin/jobs.html", rows=rows[:PAGE_JOBS], **values)


PAGE_JOBS = 25


@router.get("/admin/jobs.csv", name="admin_jobs_csv")
async def jobs_csv(db: Db, settings: AppSettings, _admin: Admin, state: Word = "", kind: Word = "") -> Response:
    """Jobs as CSV."""
    chosen, of_kind = _job_filter(state, kind)
    rows = await to_thread.run_sync(job_control.list_jobs, db, settings, chosen, of_kind, None, 1000)
    header = ("id", "kind", "state", "person", "created", "started", "ended", "error")
    table = (
        (row.job.id, row.job.kind, row.state, row.job.person_id, row.job.created_at.isoformat(),
         row.started_at.isoformat() if row.started_at else "", row.ended_at.isoformat() if row.ended_at else "",
         row.error)
        for row in rows
    )  # fmt: skip
    return csv_response("jobs.csv", header, table)


@router.post("/admin/jobs/{job}/{act}", name="admin_job_act")
async def act_on_job(request: Request, db: Db, settings: AppSettings, admin: Admin, job: str, act: str) -> Response:
    """Cancel a job, or run it again."""
    await to_thread.run_sync(job_acts.act_on_job, db, settings, admin, job, act)
    back = str(request.app.url_path_for("admin_jobs"))
    return RedirectResponse(f"{back}?done={act}", status_code=303)


@router.get("/admin/settings", name="admin_settings")
async def show_settings(request: Request, settings: AppSettings, _admin: Admin) -> Response:
    """All settings with value and source; secrets are never shown."""
    return render(request, "admin/settings.html", rows=setting_rows.setting_rows(settings))
