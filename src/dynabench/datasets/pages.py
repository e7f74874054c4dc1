"""Datasets as pages: all of them, a task's, one; and what owners change."""

from collections.abc import Sequence
from typing import Annotated, Any

from anyio import to_thread
from fastapi import APIRouter, Depends, Query, Request
from pydantic import ValidationError
from sqlalchemy.orm import Session
from starlette.responses import Response

from dynabench.collection import overview
from dynabench.datasets import library, library_api, stored, twin_pages
from dynabench.datasets import library_api as views
from dynabench.datasets.intake import service
from dynabench.datasets.intake.layout import FileLayout, answer_options, row_fields
from dynabench.datasets.schemas import DatasetChange, DatasetIn, DatasetPage, HubDataset, VersionIn
from dynabench.datasets.tables import Dataset, DatasetVersion
from dynabench.intake import sources
from dynabench.kit import errors
from dynabench.kit.api import After, AppSettings, Db
from dynabench.kit.db import Database
from dynabench.kit.forms import redirect
from dynabench.kit.language import _
from dynabench.people import may
from dynabench.people.accounts.auth import Member, Viewer
from dynabench.people.accounts.tables import Person
from dynabench.people.disclosure import Disclosure, is_hidden_for_good
from dynabench.people.may import Action
from dynabench.rounds import owner_lists, people, uploaded_files
from dynabench.rounds import service as rounds
from dynabench.rounds import views as round_views
from dynabench.rounds.tables import RoundState
from dynabench.rounds.uploaded_files import refused_file
from dynabench.web import render
from dynabench.web.charts import ChartRow, RowPlot
from dynabench.web.filters import number
from dynabench.web.pages import wants_fragment

router = APIRouter(include_in_schema=False)
router.include_router(twin_pages.router)
Words = Annotated[str, Query(max_length=100)]
SHOWN_ROWS = 10  # of a public dataset, on its page
SLICES_AT_ONCE = 12
MOST_SLICES = 30
REFUSED_ROWS = 50


def task_head(session: Session, viewer: Person | None, task: str) -> dict[str, Any]:
    """Return the values that the head of a task's pages needs."""
    started = overview.started(session, task)
    current = round_views.current_round(started)
    round_shown = round_views.round_out(session, current) if current else None
    owner = bool(may.may_in(session, viewer, Action.EXPORT_UNRELEASED, task))
    finished = [round_.number for round_ in started if round_.state in (RoundState.CLOSED, RoundState.RELEASED)]
    config = rounds.task_config(session, task)
    return {"task": task, "config": config, "round": round_shown, "owner": owner, "finished": finished}


@router.get("/datasets", name="datasets")
async def all_datasets(
    request: Request, db: Db, viewer: Viewer, q: Words = "", task: Words = "", after: library_api.Cursor = ""
) -> Response:
    """The datasets of all tasks, searched, filtered and paged by the address."""
    counts = await db.aread(views.dataset_counts, viewer, q)
    page = (
        await db.aread(views.dataset_page, viewer, task, q, after)
        if not task or task in counts
        else DatasetPage(items=[])
    )
    many = counts.get(task, 0) if task else sum(counts.values())
    values: dict[str, Any] = {"q": q, "chosen": task, "counts": counts, "page": page, "many": many, "after": after}
    values["task_names"] = await db.aread(rounds.task_names, counts)
    return render(request, "datasets/list.html", fragment="datasets/_found.html", **values)


@router.get("/tasks/{task}/datasets", name="task_datasets", dependencies=[Depends(people.load_actions)])
async def task_datasets(request: Request, task: str, viewer: Viewer, after: library_api.Cursor = "") -> Response:
    """A task's datasets; owners add to them."""
    return await task_tab(request, task, viewer, after=after)


async def task_tab(
    request: Request, task: str, viewer: Person | None, status: int = 200, after: str = "", **values: Any
) -> Response:
    """The tab, with `errors` of a form on it."""
    db: Database = request.app.state.db
    head = await db.aread(task_head, viewer, task)
    page = await db.aread(views.dataset_page, viewer, task, "", after)
    head |= {"found": page.items, "following": page.next, "after": after, "hidden": page.hidden}
    head |= {"errors": {}, "given": {}, "of": None}
    head |= {"hub": request.app.state.settings.hub_url}
    return render(request, "datasets/task.html", status=status, **(head | values))


@router.post("/tasks/{task}/datasets/rounds/{n}", name="dataset_of_round")
async def make_of_round(request: Request, task: str, n: int, person: Member) -> Response:
    """A dataset of a round's verified examples."""
    await request.form()
    try:
        name = await library_api.make_round_dataset(request, task, n, person)
    except errors.Conflict as problem:
        return await task_tab(request, task, person, 409, errors={"round": problem.detail})
    return redirect(request, "dataset", task=task, name=name)


# `files` and `hub` are no names of datasets: their routes come before those with a name.
@router.post("/tasks/{task}/datasets/files", name="send_dataset")
async def send_dataset(request: Request, settings: AppSettings, db: Db, task: str, person: Member) -> Response:
    """Keep a file and show what is in it (owners); `of` is the dataset that it is a new version of."""

    config = await db.aread(rounds.require_config, person, Action.MANAGE_DATASETS, task)
    async with request.form(max_files=1, max_fields=10) as form:
        dataset_name = str(form.get("of", ""))[:62]
        try:
            path = await uploaded_files.store_form_file(settings, task, form, sources.kind_of_source)
            try:
                await to_thread.run_sync(service.preview_dataset, path, config)
            except errors.Problem:
                path.unlink(missing_ok=True)
                raise
        except (errors.Invalid, errors.TooLarge) as problem:
            wrong = uploaded_files.upload_errors(problem)
            return await task_tab(request, task, person, 422, errors=wrong, of=dataset_name or None)
    return redirect(request, "map_dataset", task=task, file=path.name.partition("--")[0], query={"of": dataset_name})


@router.post("/tasks/{task}/datasets/hub", name="hub_dataset")
async def start_hub_dataset(request: Request, settings: AppSettings, db: Db, task: str, person: Member) -> Response:
    """Read a dataset of the hub (owners); it is downloaded by the worker, which tells the columns apart."""

    form = await request.form()
    typed = {name: str(form.get(name, ""))[:200].strip() for name in HUB_FIELDS}
    await db.aread(rounds.require_config, person, Action.MANAGE_DATASETS, task)
    try:
        layout = str(form.get("layout", ""))[:20_000].strip()
        title = typed["dataset"].rpartition("/")[2]
        name = await db.aread(library.fresh_name, task, title)
        body = DatasetIn(name=name, title=title[:200], source=f"{settings.hub_url}/datasets/"
                         f"{typed['dataset']}"[:500], hub=HubDataset(**typed),
                         layout=FileLayout.parse(layout) if layout else None)  # fmt: skip
        await db.awrite(service.start_dataset, person, settings, task, body)
    except (errors.Invalid, ValidationError) as problem:
        wrong = problem.fields if isinstance(problem, errors.Invalid) else {"dataset": _("Give a shorter id.")}
        return await task_tab(request, task, person, 422, errors=wrong, given=typed)
    return redirect(request, "dataset", task=task, name=name)


@router.get("/tasks/{task}/datasets/{name}", name="dataset", dependencies=[Depends(people.load_actions)])
async def show_dataset(request: Request, task: str, name: str, viewer: Viewer) -> Response:
    """A dataset: its card, versions and slices; the first rows if it is public."""
    return await dataset_page(request, task, name, viewer)


async def dataset_page(
    request: Request, task: str, name: str, viewer: Person | None, status: int = 200, **more: Any
) -> Response:
    """The page of a dataset, with `errors` of a form on it."""
    db: Database = request.app.state.db
    values = await db.aread(task_head, viewer, task)
    dataset = await db.aread(views.dataset_full, viewer, task, name)
    disclosure = Disclosure.of(viewer, dataset)
    values |= {
        "dataset": dataset,
        "disclosure": disclosure,
        "renewable": not (dataset.retired or dataset.kind == "round" or is_hidden_for_good(dataset)),
        "rows": [],
        "withheld": "",
        "citation": "",
        "errors": {},
        "given": {},
        "warning": "",
    }
    values |= {"once_public": False, "slices": [], "slice_plots": [], "hub": request.app.state.settings.hub_url}
    if dataset.version:
        values |= await db.aread(_citation_values, request, viewer, task, name)
        slices = sorted(dataset.version.slices.items(), key=lambda each: -each[1])
        values |= {"slices": slices[:MOST_SLICES], "slice_plots": slice_plots(slices), "tags": len(slices)}
        if disclosure.rows:
            try:
                version = await db.aread(library.readable_version, viewer, task, name)
                values["rows"] = await to_thread.run_sync(_first_rows, request, version.digest)
            except errors.Unauthenticated as problem:
                values["withheld"] = problem.detail
    part = "datasets/_reading.html" if status == 200 else None
    return render(request, "datasets/dataset.html", status=status, fragment=part, **(values | more))


def _citation_values(session: Session, request: Request, viewer: Person | None, task: str, name: str) -> dict[str, Any]:
    dataset: Dataset = library.find_dataset(session, viewer, task, name)
    version = session.get_one(DatasetVersion, dataset.version_id)
    cited = library.bibtex_entry(dataset, version, str(request.url_for("dataset", task=task, name=name)))
    return {"citation": cited, "once_public": library.was_public(session, dataset)}


def _first_rows(request: Request, digest: str) -> list[stored.StoredRow]:
    return list(stored.read_rows(request.app.state.settings, digest, rows=SHOWN_ROWS))


@router.post("/tasks/{task}/datasets/{name}", name="change_dataset")
async def change(request: Request, db: Db, task: str, name: str, person: Member) -> Response:
    """Change what the form says (owners)."""
    form = await request.form()
    names = ("title", "card", "licence", "source", "visibility", "weight")
    typed: dict[str, Any] = {key: str(form[key])[:50_000].replace("\r\n", "\n") for key in names if key in form}
    if "languages" in form:
        typed["languages"] = [
            language for language in str(form["languages"])[:1000].replace(",", " ").split() if language
        ]
    if form.get("retired") in ("yes", "no"):
        typed["retired"] = form["retired"] == "yes"
    try:
        changes = DatasetChange.model_validate(typed)
    except ValidationError as problem:
        await db.aread(library.owned_dataset, person, task, name)
        wrong = {
            str(language["loc"][0]): language["msg"].removeprefix("Value error, ") for language in problem.errors()
        }
        return await dataset_page(request, task, name, person, 422, errors=wrong, given=typed)
    warning = await db.awrite(library.change_dataset, person, task, name, changes)
    if warning:
        return await dataset_page(request, task, name, person, 200, warning=warning)
    return redirect(request, "dataset", task=task, name=name)


@router.get("/tasks/{task}/datasets/{name}/versions/{n}/refused", name="refused_rows",
            dependencies=[Depends(people.load_actions)])  # fmt: skip
async def refused_page(
    request: Request, db: Db, task: str, name: str, n: int, person: Member, after: After = None
) -> Response:
    """The rows that a version's reading refused (owners)."""

    def read(session: Session) -> dict[str, Any]:
        version = views.owned_version(session, person, task, name, n)
        rows = owner_lists.list_refused_rows(session, version.job_id or "", after, REFUSED_ROWS)
        total = session.scalar(library.count_refused(version.job_id or ""))
        return task_head(session, person, task) | {"version": version.number, "found": rows, "total": total}

    values = await db.aread(read)
    return render(request, "datasets/refused.html", dataset=name, after=after, **values)


@router.get("/tasks/{task}/datasets/{name}/versions/{n}/refused.csv", name="refused_rows_file")
async def refused_csv(db: Db, task: str, name: str, n: int, person: Member) -> Response:
    """All of them as a file (owners)."""
    version = await db.aread(views.owned_version, person, task, name, n)
    return await to_thread.run_sync(refused_file, db, version.job_id or "", f"{task}-{name}-v{n}-refused.csv")


TOLERANCES = ("few", "none", "any")
HUB_FIELDS = ("dataset", "config", "split", "revision")


def _read_layout(form_values: Any, guessed: FileLayout) -> FileLayout:
    """The layout that a form says; the guess where it says nothing."""
    if "form" not in form_values:
        return guessed
    names = [name for name in form_values if name.startswith(("field.", "value."))]
    chosen = {name: str(form_values[name])[:200] for name in names if form_values[name]}
    values: dict[str, Any] = {
        name.removeprefix("value."): form_values.getlist(name) if len(form_values.getlist(name)) > 1 else text
        for name, text in chosen.items() if name.startswith("value.")
    }  # fmt: skip
    if str(form_values["form"]) != "columns":
        values = dict(guessed.values)
    return FileLayout.parse({
        "form": str(form_values["form"])[:20],
        "fields": {name.removeprefix("field."): text for name, text in chosen.items() if name.startswith("field.")},
        "values": values,
        "uid": str(form_values.get("uid", ""))[:200],
        "tags": str(form_values.get("tags", ""))[:200],
        "columns": [str(column)[:200] for column in form_values.getlist("columns") if column][:10],
    })  # fmt: skip


async def _dataset_preview(
    request: Request, task: str, file: str, person: Person, form_values: Any, status: int = 200, wrong: Any = None
) -> Response:

    db: Database = request.app.state.db
    config = await db.aread(rounds.require_config, person, Action.MANAGE_DATASETS, task)
    path = uploaded_files.find_named_upload(request.app.state.settings, task, file)
    preview = await to_thread.run_sync(service.preview_dataset, path, config)
    if "form" in form_values:
        layout = _read_layout(form_values, preview.layout)
        preview = await to_thread.run_sync(service.preview_dataset, path, config, layout)
    columns = preview.layout.fields
    unread = [field for name, field in row_fields(config).items() if field.required and not columns.get(name)]
    dataset_name = str(form_values.get("of", ""))[:62]
    stem = uploaded_files.original_name(path).partition(".")[0]
    values = await db.aread(task_head, person, task) | {
        "found": preview, "unread": unread if preview.layout.form == "columns" else [],
        "fields": list(row_fields(config).values()), "options": answer_options(config),
        "of": dataset_name,
        "address": str(request.app.url_path_for("map_dataset", task=task, file=file)), "tolerances": TOLERANCES,
        "given": form_values, "errors": (wrong or {}) | (preview.problems if "form" in form_values else {}),
        "free": await db.aread(library.fresh_name, task, stem), "title": stem.replace("_", " ").replace("-", " "),
        "suite": preview.layout.form == "checklist" or preview.layout.tags == "functionality",
    }  # fmt: skip
    part = "datasets/_sample.html" if wants_fragment(request) else None
    return render(request, "datasets/mapping.html", status=status, fragment=part, **values)


@router.get("/tasks/{task}/datasets/files/{file}", name="map_dataset")
async def map_dataset(request: Request, task: str, file: str, person: Member) -> Response:
    """The first rows under what the file looks like, or under the choices in the query (owners)."""
    return await _dataset_preview(request, task, file, person, request.query_params)


@router.post("/tasks/{task}/datasets/files/{file}", name="start_dataset")
async def start_dataset(
    request: Request, settings: AppSettings, db: Db, task: str, file: str, person: Member
) -> Response:
    """Read the whole file in the background (owners); or (`then` = look) show the first rows anew."""
    form = await request.form()
    if form.get("then") == "look":
        return await _dataset_preview(request, task, file, person, form)
    config = await db.aread(rounds.require_config, person, Action.MANAGE_DATASETS, task)
    path = uploaded_files.find_named_upload(settings, task, file)
    guessed = await to_thread.run_sync(service.preview_dataset, path, config)
    name = str(form.get("of") or form.get("name", ""))[:62]
    try:
        layout = _read_layout(form, guessed.layout)
        layout.check(config)
        how = {"file": file, "layout": layout, "tolerance": str(form.get("tolerance", "few"))[:10]}
        if form.get("of"):
            body = VersionIn.model_validate(how)
            await db.awrite(
                lambda s: service.start_version(s, person, settings, library.owned_dataset(s, person, task, name), body)
            )
        else:
            settings_typed = {key: str(form.get(key, ""))[:500] for key in ("title", "licence", "visibility", "kind")}
            new = DatasetIn.model_validate(
                how | {"name": name} | {key: value for key, value in settings_typed.items() if value}
            )
            await db.awrite(service.start_dataset, person, settings, task, new)
    except errors.Invalid as problem:
        return await _dataset_preview(request, task, file, person, form, 422, problem.fields)
    except ValidationError as problem:
        wrong = {str(error["loc"][0]): error["msg"] for error in problem.errors()}
        return await _dataset_preview(request, task, file, person, form, 422, wrong)
    return redirect(request, "dataset", task=task, name=name)


def slice_plots(slices: Sequence[tuple[str, int]]) -> list[RowPlot]:
    """Return the numbers of rows by tag as bars: those that are shown at once, and the others."""
    rows = [ChartRow(tag, float(count), number(count)) for tag, count in slices[:MOST_SLICES]]
    most = max([row.value for row in rows], default=1.0)
    parts = [rows[:SLICES_AT_ONCE], rows[SLICES_AT_ONCE:]]
    return [RowPlot("bars", tuple(part), (), 0.0, most, "models") for part in parts if part]
