"""The settings of a task that owners change most, as a form: each saves a new version of the config's text."""

from typing import Any

from fastapi import APIRouter, Request
from sqlalchemy.orm import Session
from starlette.datastructures import FormData
from starlette.responses import RedirectResponse, Response

from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.people.accounts.tables import Person
from dynabench.rounds import effects, owner_lists, service
from dynabench.rounds.manage import frame
from dynabench.rounds.manage.access import Owning
from dynabench.tasks import TaskConfig
from dynabench.tasks.config_edits import Path, with_values
from dynabench.tasks.fields import Text

router = APIRouter()

PLAIN: dict[str, Path] = {
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


def values(config: TaskConfig) -> dict[str, Any]:
    """Return the values of a config that the form shows."""
    rules = config.validation
    found: dict[str, Any] = {name: getattr(config, name) for name in PLAIN if name in TaskConfig.model_fields}
    found |= {"mode": rules.mode, "votes": rules.votes, "adjudicate_up_to": rules.adjudicate_up_to}
    found |= {"also_not_fooled": rules.also_not_fooled, "licence": config.data.licence}
    return found | {f"language.{group}.{place}": field.language or "" for group, place, field in texts(config)}


def texts(config: TaskConfig) -> list[tuple[str, int, Text]]:
    """The texts that are read and written, with where they stand: their language is a setting."""
    groups = ("context", "input")
    return [(group, place, field) for group in groups for place, field in enumerate(config.fields(group))
            if isinstance(field, Text)]  # fmt: skip


def read(form: FormData, config: TaskConfig) -> dict[str, Any]:
    """Return the posted values in the form of the config; raise `Invalid` for a field that needs a number."""
    found: dict[str, Any] = {name: str(form.get(name, "")).replace("\r\n", "\n").strip()[:LONGEST] for name in PLAIN}
    found["also_not_fooled"] = bool(form.get("also_not_fooled"))
    if wrong := {name: _("Give a number.") for name in NUMBERS if not found[name].isdecimal() or len(found[name]) > 4}:
        raise errors.Invalid(wrong)
    found |= {name: int(found[name]) for name in NUMBERS}
    languages = (f"language.{group}.{place}" for group, place, _ in texts(config))
    return found | {name: str(form.get(name, "")).strip()[:40] for name in languages}


def changed(source: str, config: TaskConfig, wanted: dict[str, Any]) -> str:
    """The config's text with the settings that differ from what it says now."""
    known, changes = values(config), dict[Path, Any]()
    for name, value in wanted.items():
        if value != (known[name].strip() if isinstance(known[name], str) else known[name]):
            if name in PLAIN:
                changes[PLAIN[name]] = value
            else:
                _language, group, place = name.split(".")
                changes[group, int(place), "language"] = value or None
    return with_values(source, changes)


async def _page(request: Request, task: str, status: int = 200, **more: Any) -> Response:
    def look(session: Session) -> dict[str, Any]:
        config = service.newest_config(session, task)
        number = owner_lists.versions(session, task, "", 1).items[0].number
        return {"settings": values(config) | typed, "texts": texts(config), "base": number}

    typed = more.pop("settings", {})
    known: dict[str, Any] = {"errors": {}, "effects": [], "sure": False, "saved": ""}
    known |= await request.app.state.db.aread(look)
    return await frame.page(request, task, "rounds/manage/settings.html", "settings", status=status, **(known | more))


@router.get("/tasks/{task}/manage/settings", name="manage_settings")
async def settings(request: Request, task: str, owner: Owning) -> Response:
    """Quorum, adjudication, who may take part, languages, texts."""
    return await _page(request, task, saved=request.query_params.get("saved", "")[:10])


def _save(session: Session, owner: Person, task: str, form: FormData) -> tuple[int, list[effects.Effect]]:
    """Save what is wanted; where it does something and nobody said that they know, what it would do instead."""
    newest = owner_lists.versions(session, task, "", 1).items[0]
    if str(form.get("base", "")) != str(newest.number):
        raise errors.Conflict(_("Somebody saved another version while you were writing. Look at it, then save again."))
    config, source = service.newest_config(session, task), owner_lists.version(session, task, newest.number).config
    text = changed(source, config, read(form, config))
    after = service.parse_config(text)
    does = effects.effects(session, task, config, after)
    if does and not form.get("sure"):
        return 0, does
    return service.save_task(session, owner, text).version, []


@router.post("/tasks/{task}/manage/settings", name="save_settings")
async def save(request: Request, task: str, owner: Owning) -> Response:
    """Save a new version of the config, once what it does was read."""
    form = await request.form()
    typed = {name: str(value) for name, value in form.items() if name not in ("csrf", "base", "sure")}
    typed["also_not_fooled"] = "true" if form.get("also_not_fooled") else ""
    try:
        number, does = await request.app.state.db.awrite(_save, owner, task, form)
    except errors.Invalid as problem:
        wrong = {each.removeprefix("validate.").removeprefix("data."): text for each, text in problem.fields.items()}
        return await _page(request, task, 422, settings=typed, errors=wrong)
    except errors.Conflict as problem:
        return await _page(request, task, 409, settings=typed, errors={"base": problem.detail})
    if does:
        return await _page(request, task, settings=typed, effects=does, sure=True)
    address = request.app.url_path_for("manage_settings", task=task)
    return RedirectResponse(f"{address}?saved={number}", status_code=303)
