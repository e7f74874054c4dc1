"""The config of a task on the console: edited as YAML, or its main settings in a form; kept in versions."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from sqlalchemy.orm import Session
from starlette.datastructures import FormData
from starlette.responses import Response

from dynabench.kit import errors
from dynabench.kit.api import After, Db, attachment
from dynabench.kit.forms import redirect
from dynabench.kit.language import _
from dynabench.people.accounts.tables import Person
from dynabench.rounds import builder, config_review, owner_lists, service
from dynabench.rounds.config_review import Effect
from dynabench.rounds.manage import frame
from dynabench.rounds.manage.frame import TaskOwner
from dynabench.rounds.schemas import VersionNumber
from dynabench.tasks import TaskConfig
from dynabench.tasks.fields import Text
from dynabench.tasks.reading import Path, with_values
from dynabench.web.pages import wants_fragment

router = APIRouter()

PAGE_ROWS = 20

View = Literal["beside", "inline"]
Against = Annotated[int | None, Query(ge=1, le=2**31 - 1)]


async def _config_page(
    request: Request,
    task: str,
    text: str | None = None,
    after: int | None = None,
    status: int = 200,
    part: str = "rounds/_checked.html",
    refused: dict[str, str] | None = None,
    **more: Any,
) -> Response:
    """The editor with `text` (None: the newest version); `more` may hold what was found wrong.

    htmx gets `part`; `refused` are the messages of an edit by the form that was refused.
    """

    def read(session: Session) -> dict[str, Any]:
        page = owner_lists.list_versions(session, task, after, PAGE_ROWS)
        newest = owner_lists.list_versions(session, task, None, 1).items[0].number
        source = owner_lists.read_version(session, task, newest).config if text is None else text
        values = {"versions": page.items, "next": page.next, "after": after, "text": source, "base": newest}
        values |= (more if "problems" in more else config_review.check_config(session, source, task)) | more
        problems: Any = values["problems"]
        return values | {"builder": builder.build_form(source, problems, refused)}

    values = {"notice": "", "rewritten": False, "address": str(request.app.url_path_for("manage_config", task=task))}
    values |= await request.app.state.db.aread(read)
    fragment = part if wants_fragment(request) else None
    return await frame.console_page(
        request, task, "rounds/manage/config.html", "config", status=status, fragment=fragment, **values
    )


@router.get("/tasks/{task}/manage/config", name="manage_config")
async def show_config(
    request: Request, task: str, owner: TaskOwner, after: After = None, saved: Against = None
) -> Response:
    """The newest config in an editor, what it looks like, and the versions before."""
    notice = _("Saved as version %(saved)s. Rounds drafted earlier keep their version.", saved=saved) if saved else ""
    return await _config_page(request, task, after=after, notice=notice)


def _save_config(session: Session, owner: Person, task: str, text: str, base: str) -> int:
    checked = config_review.check_config(session, text, task)
    if checked["problems"]:
        raise errors.Invalid({problem.path: problem.message for problem in checked["problems"]})
    newest = owner_lists.list_versions(session, task, None, 1).items[0]
    if base != str(newest.number):
        by = newest.by or "the operator"
        text = _(
            "%(by)s saved version %(number)s while you were editing. Review it below; saving again replaces it.",
            by=by,
            number=newest.number,
        )
        raise errors.Conflict(text)
    return service.save_task(session, owner, text).version


@router.post("/tasks/{task}/manage/config", name="save_config")
async def save_config(request: Request, db: Db, task: str, owner: TaskOwner) -> Response:
    """Save a new version; or (`then` = check) say what is wrong with it or what it would look like, or (`then` = edit)
    edit its text as the form says."""
    async with request.form() as form:
        text = await config_review.posted_config(form)
        if form.get("then") == "check":
            return await _config_page(request, task, text)
        if form.get("then") == "edit":
            edited = builder.edit_config(text, str(form.get("edit", "")))
            return await _config_page(
                request,
                task,
                edited.text,
                part="rounds/_edited.html",
                refused=edited.errors,
                rewritten=edited.rewritten,
            )
        base = str(form.get("base", ""))
    try:
        await service.parse_ahead(text)
        number = await db.awrite(_save_config, owner, task, text, base)
    except errors.Invalid:
        return await _config_page(request, task, text, status=422)
    except errors.Conflict as problem:
        wrong = [config_review.ConfigProblem("config", problem.detail, None)]
        return await _config_page(request, task, text, status=409, problems=wrong, preview=None, effects=[])
    return redirect(request, "manage_config", task=task, query={"saved": number})


@router.get("/tasks/{task}/manage/config/versions/{n}.yaml", name="download_version")
async def download(db: Db, task: str, n: VersionNumber, owner: TaskOwner) -> Response:
    """The YAML of one version."""
    config_version = await db.aread(owner_lists.read_version, task, n)
    headers = attachment(f"{task}-{n}.yaml")
    return Response(config_version.config, media_type="application/yaml", headers=headers)


@router.get("/tasks/{task}/manage/config/versions/{n}", name="config_version")
async def show_version(
    request: Request,
    db: Db,
    task: str,
    n: VersionNumber,
    owner: TaskOwner,
    against: Against = None,
    view: View = "beside",
) -> Response:
    """One version, and what changed from another one, by default from the one before."""

    def read(session: Session) -> dict[str, Any]:
        config_version = owner_lists.read_version(session, task, n)
        other = against or (n - 1)
        before = owner_lists.read_version(session, task, other) if other else None
        lines = config_review.diff_lines(before.config, config_version.config) if before else []
        numbers = [entry.number for entry in owner_lists.list_versions(session, task, None, 100).items]
        does = config_review.check_config(session, config_version.config, task)["effects"]
        values = {"version": config_version, "before": before, "numbers": numbers, "lines": lines, "effects": does}
        return values | {"pairs": config_review.pair_lines(lines), "view": view, "newest": numbers[0]}

    values = await db.aread(read)
    return await frame.console_page(request, task, "rounds/manage/version.html", "config", **values)


@router.post("/tasks/{task}/manage/config/versions/{n}/restore", name="restore_version")
async def restore(request: Request, db: Db, task: str, n: VersionNumber, owner: TaskOwner) -> Response:
    """Make the text of an earlier version the newest one."""

    def write(session: Session) -> int:
        return service.save_task(session, owner, owner_lists.read_version(session, task, n).config).version

    number = await db.awrite(write)
    return redirect(request, "manage_config", task=task, query={"saved": number})


PATHS: dict[str, Path] = {
    "name": ("name",),
    "description": ("description",),
    "content_warning": ("content_warning",),
    "annotators": ("annotators",),
    "mode": ("validate", "mode"),
    "votes": ("validate", "votes"),
    "adjudicate_up_to": ("validate", "adjudicate_up_to"),
    "also_not_fooled": ("validate", "also_not_fooled"),
    "licence": ("data", "licence"),
}
NUMBERS = ("votes", "adjudicate_up_to")
LONGEST = 20_000


def settings_values(config: TaskConfig) -> dict[str, Any]:
    """Return the values of a config that the form shows."""
    rules = config.validation
    values: dict[str, Any] = {name: getattr(config, name) for name in PATHS if name in TaskConfig.model_fields}
    values |= {"mode": rules.mode, "votes": rules.votes, "adjudicate_up_to": rules.adjudicate_up_to}
    values |= {"also_not_fooled": rules.also_not_fooled, "licence": config.data.licence}
    return values | {
        f"language.{group}.{place}": field.language or "" for group, place, field in language_texts(config)
    }


def language_texts(config: TaskConfig) -> list[tuple[str, int, Text]]:
    """The texts that are read and written, with where they stand: their language is a setting."""
    groups = ("context", "input")
    return [(group, place, field) for group in groups for place, field in enumerate(config.fields(group))
            if isinstance(field, Text)]  # fmt: skip


def read_settings(form: FormData, config: TaskConfig) -> dict[str, Any]:
    """Return the posted values in the form of the config; raise `Invalid` for a field that needs a number."""
    values: dict[str, Any] = {name: str(form.get(name, "")).replace("\r\n", "\n").strip()[:LONGEST] for name in PATHS}
    values["also_not_fooled"] = bool(form.get("also_not_fooled"))
    if wrong := {
        name: _("Give a number.") for name in NUMBERS if not values[name].isdecimal() or len(values[name]) > 4
    }:
        raise errors.Invalid(wrong)
    values |= {name: int(values[name]) for name in NUMBERS}
    languages = (f"language.{group}.{place}" for group, place, _ in language_texts(config))
    return values | {name: str(form.get(name, "")).strip()[:40] for name in languages}


def edit_source(source: str, config: TaskConfig, settings: dict[str, Any]) -> str:
    """The config's text with the settings that differ from what it says now."""
    current, changes = settings_values(config), dict[Path, Any]()
    for name, value in settings.items():
        if value != (current[name].strip() if isinstance(current[name], str) else current[name]):
            if name in PATHS:
                changes[PATHS[name]] = value
            else:
                _language, group, place = name.split(".")
                changes[group, int(place), "language"] = value or None
    return with_values(source, changes)


async def _settings_page(request: Request, task: str, status: int = 200, **more: Any) -> Response:
    def look(session: Session) -> dict[str, Any]:
        config = service.newest_config(session, task)
        number = owner_lists.list_versions(session, task, None, 1).items[0].number
        return {"settings": settings_values(config) | typed, "texts": language_texts(config), "base": number}

    typed = more.pop("settings", {})
    values: dict[str, Any] = {"errors": {}, "effects": [], "sure": False, "saved": ""}
    values |= await request.app.state.db.aread(look)
    return await frame.console_page(
        request, task, "rounds/manage/settings.html", "settings", status=status, **(values | more)
    )


@router.get("/tasks/{task}/manage/settings", name="manage_settings")
async def show_settings(request: Request, task: str, owner: TaskOwner) -> Response:
    """Quorum, adjudication, who may take part, languages, texts."""
    return await _settings_page(request, task, saved=request.query_params.get("saved", "")[:10])


def _save_settings(session: Session, owner: Person, task: str, form: FormData) -> tuple[int, list[Effect]]:
    """Save what is wanted; where it does something and nobody said that they know, what it would do instead."""
    newest = owner_lists.list_versions(session, task, None, 1).items[0]
    if str(form.get("base", "")) != str(newest.number):
        raise errors.Conflict(_("Another version was saved while you were editing. Review it, then save again."))
    config, source = service.newest_config(session, task), owner_lists.read_version(session, task, newest.number).config
    text = edit_source(source, config, read_settings(form, config))
    after = service.parse_config(text)
    does = config_review.config_effects(session, task, config, after)
    if does and not form.get("sure"):
        return 0, does
    return service.save_task(session, owner, text).version, []


@router.post("/tasks/{task}/manage/settings", name="save_settings")
async def save_settings(request: Request, db: Db, task: str, owner: TaskOwner) -> Response:
    """Save a new version of the config, once what it does was read."""
    form = await request.form()
    typed = {name: str(value) for name, value in form.items() if name not in ("csrf", "base", "sure")}
    typed["also_not_fooled"] = "true" if form.get("also_not_fooled") else ""
    try:
        number, does = await db.awrite(_save_settings, owner, task, form)
    except errors.Invalid as problem:
        wrong = {path.removeprefix("validate.").removeprefix("data."): text for path, text in problem.fields.items()}
        return await _settings_page(request, task, 422, settings=typed, errors=wrong)
    except errors.Conflict as problem:
        return await _settings_page(request, task, 409, settings=typed, errors={"base": problem.detail})
    if does:
        return await _settings_page(request, task, settings=typed, effects=does, sure=True)
    return redirect(request, "manage_settings", task=task, query={"saved": number})
