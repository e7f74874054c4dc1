"""The config of a task: edited as YAML, checked as one types, kept in versions."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from sqlalchemy.orm import Session
from starlette.responses import RedirectResponse, Response

from dynabench.kit import errors
from dynabench.kit.db import Database
from dynabench.kit.language import _
from dynabench.people.accounts.tables import Person
from dynabench.rounds import editing, owner_lists, service, task_creation
from dynabench.rounds.manage import frame
from dynabench.rounds.manage.access import Owning
from dynabench.rounds.schemas import VersionNumber
from dynabench.web.pages import wants_fragment

router = APIRouter()

SHOWN = 20

After = Annotated[str, Query(max_length=18)]
View = Literal["beside", "inline"]
Against = Annotated[int | None, Query(ge=1, le=2**31 - 1)]


async def _page(
    request: Request, task: str, text: str | None = None, after: str = "", status: int = 200, **more: Any
) -> Response:
    """The editor with `text` (None: the newest version); `more` may hold what was found wrong."""

    def read(session: Session) -> dict[str, Any]:
        found = owner_lists.versions(session, task, after, SHOWN)
        newest = owner_lists.versions(session, task, "", 1).items[0].number
        shown = owner_lists.version(session, task, newest).config if text is None else text
        values = {"versions": found.items, "next": found.next, "after": after, "text": shown, "base": newest}
        return values | (more if "problems" in more else editing.check(session, shown, task)) | more

    values = {"notice": "", "address": str(request.app.url_path_for("manage_config", task=task))}
    values |= await request.app.state.db.aread(read)
    part = "rounds/_check.html" if wants_fragment(request) else None
    return await frame.page(
        request, task, "rounds/manage/config.html", "config", status=status, fragment=part, **values
    )


@router.get("/tasks/{task}/manage/config", name="manage_config")
async def config(request: Request, task: str, owner: Owning, after: After = "", saved: Against = None) -> Response:
    """The newest config in an editor, what it looks like, and the versions before."""
    notice = _("Saved as version %(saved)s. Rounds that were drafted before keep theirs.", saved=saved) if saved else ""
    return await _page(request, task, after=after, notice=notice)


def _save(session: Session, owner: Person, task: str, text: str, base: str) -> int:
    checked = editing.check(session, text, task)
    if checked["problems"]:
        raise errors.Invalid({each.path: each.message for each in checked["problems"]})
    newest = owner_lists.versions(session, task, "", 1).items[0]
    if base != str(newest.number):
        by = newest.by or "the operator"
        text = _(
            "%(by)s saved version %(number)s while you were writing. Look at it below; saving again replaces it.",
            by=by,
            number=newest.number,
        )
        raise errors.Conflict(text)
    return service.save_task(session, owner, text).version


@router.post("/tasks/{task}/manage/config", name="save_config")
async def save(request: Request, task: str, owner: Owning) -> Response:
    """Save a new version; or (`then` = check) say what is wrong with it or what it would look like."""
    db: Database = request.app.state.db
    async with request.form() as form:
        text = await task_creation.posted(form)
        if form.get("then") == "check":
            return await _page(request, task, text)
        base = str(form.get("base", ""))
    try:
        await service.parse_ahead(text)
        number = await db.awrite(_save, owner, task, text, base)
    except errors.Invalid:
        return await _page(request, task, text, status=422)
    except errors.Conflict as problem:
        wrong = [editing.Problem("config", problem.detail, None)]
        return await _page(request, task, text, status=409, problems=wrong, preview=None, effects=[])
    address = request.app.url_path_for("manage_config", task=task)
    return RedirectResponse(f"{address}?saved={number}", status_code=303)


@router.get("/tasks/{task}/manage/config/versions/{n}.yaml", name="download_version")
async def download(request: Request, task: str, n: VersionNumber, owner: Owning) -> Response:
    """The YAML of one version."""
    found = await request.app.state.db.aread(owner_lists.version, task, n)
    headers = {"Content-Disposition": f'attachment; filename="{task}-{n}.yaml"'}
    return Response(found.config, media_type="application/yaml", headers=headers)


@router.get("/tasks/{task}/manage/config/versions/{n}", name="config_version")
async def version(
    request: Request, task: str, n: VersionNumber, owner: Owning, against: Against = None, view: View = "beside"
) -> Response:
    """One version, and what changed from another one, by default from the one before."""

    def read(session: Session) -> dict[str, Any]:
        shown = owner_lists.version(session, task, n)
        other = against or (n - 1)
        before = owner_lists.version(session, task, other) if other else None
        lines = editing.difference(before.config, shown.config) if before else []
        numbers = [each.number for each in owner_lists.versions(session, task, "", 100).items]
        does = editing.check(session, shown.config, task)["effects"]
        known = {"version": shown, "before": before, "numbers": numbers, "lines": lines, "effects": does}
        return known | {"pairs": editing.beside(lines), "view": view, "newest": numbers[0]}

    values = await request.app.state.db.aread(read)
    return await frame.page(request, task, "rounds/manage/version.html", "config", **values)


@router.post("/tasks/{task}/manage/config/versions/{n}/restore", name="restore_version")
async def restore(request: Request, task: str, n: VersionNumber, owner: Owning) -> Response:
    """Make the text of an earlier version the newest one."""

    def write(session: Session) -> int:
        return service.save_task(session, owner, owner_lists.version(session, task, n).config).version

    number = await request.app.state.db.awrite(write)
    address = request.app.url_path_for("manage_config", task=task)
    return RedirectResponse(f"{address}?saved={number}", status_code=303)
