"""A file on its way to a dataset, as pages: sent, its columns told apart on the first rows, read in the background."""

from typing import Any

from anyio import to_thread
from fastapi import APIRouter, Request
from pydantic import ValidationError
from starlette.datastructures import UploadFile
from starlette.responses import RedirectResponse, Response

from dynabench.datasets import library, waiting
from dynabench.datasets.intake import service
from dynabench.datasets.intake.layout import Layout, answer_options, wanted_fields
from dynabench.datasets.library_api import config_for
from dynabench.datasets.library_schemas import DatasetIn, HubDataset, VersionIn
from dynabench.intake import sources
from dynabench.kit import errors
from dynabench.kit.db import Database
from dynabench.kit.language import _
from dynabench.people.accounts.auth import Member
from dynabench.people.accounts.tables import Person
from dynabench.rounds.waiting import pieces
from dynabench.web import render
from dynabench.web.pages import wants_fragment

router = APIRouter()
TOLERANCES = ("few", "none", "any")
HUB = ("dataset", "config", "split", "revision")


@router.post("/tasks/{task}/datasets/files", name="send_dataset")
async def send(request: Request, task: str, person: Member) -> Response:
    """Keep a file and show what is in it (owners); `of` is the dataset that it is a new version of."""
    from dynabench.datasets import pages

    db: Database = request.app.state.db
    settings = request.app.state.settings
    config = await db.aread(config_for, person, task)
    async with request.form(max_files=1, max_fields=10) as form:
        file, of = form.get("file"), str(form.get("of", ""))[:62]
        try:
            if not isinstance(file, UploadFile) or not file.filename:
                raise errors.Invalid({"file": _("Choose a file first.")})
            path = await waiting.keep(settings, task, file.filename[-200:], pieces(file), sources.kind_of_source)
            try:
                await to_thread.run_sync(service.sample, path, config)
            except errors.Problem:
                path.unlink(missing_ok=True)
                raise
        except (errors.Invalid, errors.TooLarge) as problem:
            fields = problem.fields if isinstance(problem, errors.Invalid) else {}
            message = fields.get("name") or fields.get("file") or "; ".join(fields.values()) or problem.detail
            return await pages.tab(request, task, person, 422, errors={"file": message}, of=of or None)
    address = request.app.url_path_for("map_dataset", task=task, file=path.name.partition("--")[0])
    return RedirectResponse(f"{address}?of={of}" if of else str(address), status_code=303)


@router.post("/tasks/{task}/datasets/hub", name="hub_dataset")
async def start_hub(request: Request, task: str, person: Member) -> Response:
    """Read a dataset of the hub (owners); it is downloaded by the worker, which tells the columns apart."""
    from dynabench.datasets import pages

    db: Database = request.app.state.db
    form = await request.form()
    given = {name: str(form.get(name, ""))[:200].strip() for name in HUB}
    await db.aread(config_for, person, task)
    try:
        layout = str(form.get("layout", ""))[:20_000].strip()
        title = given["dataset"].rpartition("/")[2]
        name = await db.aread(library.fresh_name, task, title)
        body = DatasetIn(name=name, title=title[:200], source=f"{request.app.state.settings.hub_url}/datasets/"
                         f"{given['dataset']}"[:500], hub=HubDataset(**given),
                         layout=Layout.parse(layout) if layout else None)  # fmt: skip
        await db.awrite(service.start, person, request.app.state.settings, task, body)
    except (errors.Invalid, ValidationError) as problem:
        wrong = problem.fields if isinstance(problem, errors.Invalid) else {"dataset": _("Give a shorter id.")}
        return await pages.tab(request, task, person, 422, errors=wrong, given=given)
    return RedirectResponse(str(request.app.url_path_for("dataset", task=task, name=name)), status_code=303)


def _layout(given: Any, guessed: Layout) -> Layout:
    """The layout that a form says; the guess where it says nothing."""
    if "form" not in given:
        return guessed
    names = [name for name in given if name.startswith(("field.", "value."))]
    chosen = {name: str(given[name])[:200] for name in names if given[name]}
    values: dict[str, Any] = {
        name.removeprefix("value."): given.getlist(name) if len(given.getlist(name)) > 1 else text
        for name, text in chosen.items() if name.startswith("value.")
    }  # fmt: skip
    if str(given["form"]) != "columns":
        values = dict(guessed.values)
    return Layout.parse({
        "form": str(given["form"])[:20],
        "fields": {name.removeprefix("field."): text for name, text in chosen.items() if name.startswith("field.")},
        "values": values,
        "uid": str(given.get("uid", ""))[:200],
        "tags": str(given.get("tags", ""))[:200],
        "columns": [str(each)[:200] for each in given.getlist("columns") if each][:10],
    })  # fmt: skip


async def _preview(
    request: Request, task: str, file: str, person: Person, given: Any, status: int = 200, wrong: Any = None
) -> Response:
    from dynabench.datasets import pages

    db: Database = request.app.state.db
    config = await db.aread(config_for, person, task)
    path = waiting.find(request.app.state.settings, task, file)
    found = await to_thread.run_sync(service.sample, path, config)
    if "form" in given:
        layout = _layout(given, found.layout)
        found = await to_thread.run_sync(service.sample, path, config, layout)
    of = str(given.get("of", ""))[:62]
    stem = waiting.named(path).partition(".")[0]
    values = await db.aread(pages.head, person, task) | {
        "found": found, "fields": list(wanted_fields(config).values()), "options": answer_options(config), "of": of,
        "address": str(request.app.url_path_for("map_dataset", task=task, file=file)), "tolerances": TOLERANCES,
        "given": given, "errors": (wrong or {}) | (found.problems if "form" in given else {}),
        "free": await db.aread(library.fresh_name, task, stem), "title": stem.replace("_", " ").replace("-", " "),
        "suite": found.layout.form == "checklist" or found.layout.tags == "functionality",
    }  # fmt: skip
    part = "datasets/_sample.html" if wants_fragment(request) else None
    return render(request, "datasets/mapping.html", status=status, fragment=part, **values)


@router.get("/tasks/{task}/datasets/files/{file}", name="map_dataset")
async def look(request: Request, task: str, file: str, person: Member) -> Response:
    """The first rows under what the file looks like, or under the choices in the query (owners)."""
    return await _preview(request, task, file, person, request.query_params)


@router.post("/tasks/{task}/datasets/files/{file}", name="start_dataset")
async def start(request: Request, task: str, file: str, person: Member) -> Response:
    """Read the whole file in the background (owners); or (`then` = look) show the first rows anew."""
    db: Database = request.app.state.db
    settings = request.app.state.settings
    form = await request.form()
    if form.get("then") == "look":
        return await _preview(request, task, file, person, form)
    config = await db.aread(config_for, person, task)
    path = waiting.find(settings, task, file)
    guessed = await to_thread.run_sync(service.sample, path, config)
    name = str(form.get("of") or form.get("name", ""))[:62]
    try:
        layout = _layout(form, guessed.layout)
        layout.check(config)
        how = {"file": file, "layout": layout, "tolerance": str(form.get("tolerance", "few"))[:10]}
        if form.get("of"):
            body = VersionIn.model_validate(how)
            await db.awrite(lambda s: service.renew(s, person, settings, library.owned(s, person, task, name), body))
        else:
            told = {key: str(form.get(key, ""))[:500] for key in ("title", "licence", "visibility", "kind")}
            new = DatasetIn.model_validate(how | {"name": name} | {key: value for key, value in told.items() if value})
            await db.awrite(service.start, person, settings, task, new)
    except errors.Invalid as problem:
        return await _preview(request, task, file, person, form, 422, problem.fields)
    except ValidationError as problem:
        wrong = {str(each["loc"][0]): each["msg"] for each in problem.errors()}
        return await _preview(request, task, file, person, form, 422, wrong)
    return RedirectResponse(str(request.app.url_path_for("dataset", task=task, name=name)), status_code=303)
