"""Releases as pages: one that everybody may read; for owners a preview, a confirmation, and how it goes."""

from typing import Annotated, Any

from anyio import to_thread
from fastapi import APIRouter, Depends, Query, Request
from pydantic import ValidationError
from sqlalchemy.orm import Session
from starlette.datastructures import FormData, QueryParams
from starlette.responses import RedirectResponse, Response

from dynabench.benchmark.reading import measures
from dynabench.benchmark.releases import api, service, views
from dynabench.benchmark.releases.api import platform_address
from dynabench.benchmark.releases.tables import Release, ReleaseState
from dynabench.benchmark.releases.views import ReleasePreviewOut, RulesIn
from dynabench.kit import errors, jobs
from dynabench.kit.api import Db
from dynabench.kit.language import _
from dynabench.people.accounts.auth import Viewer
from dynabench.people.accounts.tables import Person
from dynabench.rounds import people
from dynabench.rounds import service as rounds
from dynabench.rounds import views as round_views
from dynabench.rounds.manage import frame
from dynabench.rounds.manage.frame import TaskOwner
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


manage_router = APIRouter()
NUMBERS = ("train", "dev", "test", "hidden", "near_duplicate", "seed")
Look = Annotated[str, Query(max_length=10)]


def read_rules(form: FormData | QueryParams) -> RulesIn:
    """The rules that a form was filled in with. Raises `Invalid`."""
    values: dict[str, Any] = {name: str(form[name]).strip()[:20] for name in NUMBERS if str(form.get(name, "")).strip()}
    if "unverified" in form:
        values["unverified"] = str(form["unverified"])[:10]
    if "disjoint" in form:
        values["disjoint"] = [str(entry)[:10] for entry in form.getlist("disjoint") if entry][:2]
    try:
        return RulesIn.model_validate(values)
    except ValidationError as problem:
        wrong = {str(entry["loc"][0]): entry["msg"].removeprefix("Value error, ") for entry in problem.errors()}
        raise errors.Invalid(wrong) from None


async def _page(
    request: Request, owner: Person, task: str, n: int, form: FormData | QueryParams, status: int = 200, **more: Any
) -> Response:
    """The page: the rules as the form has them, else as the config does; with what `more` knows."""
    state = request.app.state

    def look(session: Session) -> dict[str, Any]:
        release = service.release_of_round(session, task, n)
        round_row = rounds.round_of(session, task, n)
        job = session.get(jobs.Job, release.job_id) if release and release.job_id else None
        rules = service.release_rules(session, task, n, {}).model_dump()
        return {"release": release, "shown": round_views.round_out(session, round_row), "job": job, "rules": rules}

    values = await state.db.aread(look)
    form_values: dict[str, Any] = {name: form[name] for name in (*NUMBERS, "unverified") if name in form}
    if "disjoint" in form:
        form_values["disjoint"] = [entry for entry in form.getlist("disjoint") if entry]
    page_values = {"preview": None, "errors": {}, "problem": "", "progress": await _progress(request, values)}
    names = {*NUMBERS, "unverified", "disjoint"}  # what asks for the same preview again
    query = [(name, str(value)[:20]) for name, value in form.multi_items() if name in names]
    page_values |= values | {"given": values["rules"] | form_values, "query": query}
    part = "releases/manage/_release.html"
    return await frame.console_page(
        request, task, "releases/manage/release.html", "rounds", status=status, fragment=part, **(page_values | more)
    )


async def _progress(request: Request, values: dict[str, Any]) -> dict[str, Any] | None:
    release: Release | None = values["release"]
    if values["job"] is None or release is None or release.state not in (ReleaseState.QUEUED, ReleaseState.WRITING):
        return None
    return await to_thread.run_sync(jobs.progress, request.app.state.settings, values["job"])


@manage_router.get("/tasks/{task}/manage/rounds/{n}/release", name="manage_release")
async def manage_release(request: Request, task: str, n: Number, owner: TaskOwner, look: Look = "") -> Response:
    """The rules, with `look` what a release by them would hold; or how a release goes, or what it became."""
    form = request.query_params
    if not look:
        return await _page(request, owner, task, n, form)
    try:
        preview: ReleasePreviewOut = await api.preview_out(request, owner, task, n, api.rule_changes(read_rules(form)))
    except errors.Invalid as problem:
        return await _page(request, owner, task, n, form, 422, errors=problem.fields)
    except errors.Conflict as problem:
        return await _page(request, owner, task, n, form, 409, problem=problem.detail)
    return await _page(request, owner, task, n, form, preview=preview)


@manage_router.post(
    "/tasks/{task}/manage/rounds/{n}/release", name="release_round_form", dependencies=[Depends(api.release_limit)]
)
async def release_form(request: Request, task: str, n: Number, owner: TaskOwner) -> Response:
    """Release the round for good, in the background."""
    form = await request.form()
    try:
        if str(form.get("sure", "")) != str(n):
            raise errors.Invalid({"sure": _("Type the number of the round to confirm.")})
        await api.start_release(request, owner, task, n, api.rule_changes(read_rules(form)), bool(form.get("anyway")))
    except errors.Invalid as problem:
        preview = (
            await api.preview_out(request, owner, task, n, api.rule_changes(read_rules(form)))
            if "sure" in problem.fields
            else None
        )
        return await _page(request, owner, task, n, form, 422, errors=problem.fields, preview=preview)
    except errors.Conflict as problem:
        return await _page(request, owner, task, n, form, 409, problem=problem.detail)
    return RedirectResponse(str(request.app.url_path_for("manage_release", task=task, n=n)), status_code=303)
