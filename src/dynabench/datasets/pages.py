"""Datasets as pages: all of them, a task's, one; and what owners change."""

from typing import Annotated, Any

from anyio import to_thread
from fastapi import APIRouter, Depends, Query, Request
from pydantic import ValidationError
from sqlalchemy.orm import Session
from starlette.responses import RedirectResponse, Response

from dynabench.collection import overview
from dynabench.datasets import library, library_api, library_queries, stored, twin_pages, upload_pages
from dynabench.datasets import library_views as views
from dynabench.datasets.library_schemas import Change, DatasetPage
from dynabench.datasets.tables import Dataset, DatasetVersion
from dynabench.kit import errors
from dynabench.kit.db import Database
from dynabench.people import may
from dynabench.people.accounts.auth import Member, Viewer
from dynabench.people.accounts.tables import Person
from dynabench.people.disclosure import Disclosure, is_hidden_for_good
from dynabench.people.may import Action
from dynabench.rounds import owner_lists, seats
from dynabench.rounds import service as rounds
from dynabench.rounds import views as round_views
from dynabench.rounds.owner_api import After
from dynabench.rounds.refused_rows import refused_file
from dynabench.rounds.tables import RoundState
from dynabench.web import render

router = APIRouter(include_in_schema=False)
router.include_router(upload_pages.router)
router.include_router(twin_pages.router)
Words = Annotated[str, Query(max_length=100)]
ROWS = 10  # of a public dataset, on its page
SLICES = 30
REFUSED = 50


def head(session: Session, viewer: Person | None, task: str) -> dict[str, Any]:
    """Return the values that the head of a task's pages needs."""
    started = overview.started(session, task)
    current = next((each for each in started if each.state == RoundState.OPEN), started[0] if started else None)
    shown = round_views.round_out(session, current) if current else None
    owner = bool(may.may_in(session, viewer, Action.EXPORT_UNRELEASED, task))
    finished = [each.number for each in started if each.state in (RoundState.CLOSED, RoundState.RELEASED)]
    config = rounds.task_config(session, task)
    return {"task": task, "config": config, "round": shown, "owner": owner, "finished": finished}


@router.get("/datasets", name="datasets")
async def everything(
    request: Request, viewer: Viewer, q: Words = "", task: Words = "", after: library_api.Cursor = ""
) -> Response:
    """The datasets of all tasks, searched, filtered and paged by the address."""
    db: Database = request.app.state.db
    counts = await db.aread(views.counts, viewer, q)
    page = await db.aread(views.page, viewer, task, q, after) if not task or task in counts else DatasetPage(items=[])
    many = counts.get(task, 0) if task else sum(counts.values())
    values: dict[str, Any] = {"q": q, "chosen": task, "counts": counts, "page": page, "many": many, "after": after}
    return render(request, "datasets/list.html", fragment="datasets/_found.html", **values)


@router.get("/tasks/{task}/datasets", name="task_datasets", dependencies=[Depends(seats.know)])
async def of_task(request: Request, task: str, viewer: Viewer, after: library_api.Cursor = "") -> Response:
    """A task's datasets; owners add to them."""
    return await tab(request, task, viewer, after=after)


async def tab(
    request: Request, task: str, viewer: Person | None, status: int = 200, after: str = "", **values: Any
) -> Response:
    """The tab, with `errors` of a form on it."""
    db: Database = request.app.state.db
    known = await db.aread(head, viewer, task)
    page = await db.aread(views.page, viewer, task, "", after)
    known |= {"found": page.items, "following": page.next, "after": after, "hidden": page.hidden}
    known |= {"errors": {}, "given": {}, "of": None}
    known |= {"hub": request.app.state.settings.hub_url}
    return render(request, "datasets/task.html", status=status, **(known | values))


@router.post("/tasks/{task}/datasets/rounds/{n}", name="dataset_of_round")
async def make_of_round(request: Request, task: str, n: int, person: Member) -> Response:
    """A dataset of a round's verified examples."""
    await request.form()
    try:
        name = await library_api.of_round(request, task, n, person)
    except errors.Conflict as problem:
        return await tab(request, task, person, 409, errors={"round": problem.detail})
    return RedirectResponse(str(request.app.url_path_for("dataset", task=task, name=name)), status_code=303)


@router.get("/tasks/{task}/datasets/{name}", name="dataset", dependencies=[Depends(seats.know)])
async def one(request: Request, task: str, name: str, viewer: Viewer) -> Response:
    """A dataset: its card, versions and slices; the first rows if it is public."""
    return await page(request, task, name, viewer)


async def page(
    request: Request, task: str, name: str, viewer: Person | None, status: int = 200, **more: Any
) -> Response:
    """The page of a dataset, with `errors` of a form on it."""
    db: Database = request.app.state.db
    values = await db.aread(head, viewer, task)
    found = await db.aread(views.full, viewer, task, name)
    disclosure = Disclosure.of(viewer, found)
    values |= {
        "dataset": found,
        "disclosure": disclosure,
        "renewable": not (found.retired or found.kind == "round" or is_hidden_for_good(found)),
        "rows": [],
        "withheld": "",
        "citation": "",
        "errors": {},
        "given": {},
        "warning": "",
    }
    values |= {"once_public": False, "slices": [], "most": 1, "hub": request.app.state.settings.hub_url}
    if found.version:
        values |= await db.aread(_about, request, viewer, task, name)
        slices = sorted(found.version.slices.items(), key=lambda each: -each[1])
        values |= {"slices": slices[:SLICES], "most": max([n for _, n in slices], default=1), "tags": len(slices)}
        if disclosure.rows:
            try:
                version = await db.aread(library.rows_for, viewer, task, name)
                values["rows"] = await to_thread.run_sync(_first, request, version.digest)
            except errors.Unauthenticated as problem:
                values["withheld"] = problem.detail
    part = "datasets/_reading.html" if status == 200 else None
    return render(request, "datasets/dataset.html", status=status, fragment=part, **(values | more))


def _about(session: Session, request: Request, viewer: Person | None, task: str, name: str) -> dict[str, Any]:
    found: Dataset = library.find(session, viewer, task, name)
    version = session.get_one(DatasetVersion, found.version_id)
    cited = library.citation(found, version, str(request.url_for("dataset", task=task, name=name)))
    return {"citation": cited, "once_public": library.was_public(session, found)}


def _first(request: Request, digest: str) -> list[stored.Stored]:
    return list(stored.read(request.app.state.settings, digest, rows=ROWS))


@router.post("/tasks/{task}/datasets/{name}", name="change_dataset")
async def change(request: Request, task: str, name: str, person: Member) -> Response:
    """Change what the form says (owners)."""
    db: Database = request.app.state.db
    form = await request.form()
    names = ("title", "card", "licence", "source", "visibility", "weight")
    given: dict[str, Any] = {key: str(form[key])[:50_000].replace("\r\n", "\n") for key in names if key in form}
    if "languages" in form:
        given["languages"] = [each for each in str(form["languages"])[:1000].replace(",", " ").split() if each]
    if form.get("retired") in ("yes", "no"):
        given["retired"] = form["retired"] == "yes"
    try:
        wanted = Change.model_validate(given)
    except ValidationError as problem:
        await db.aread(library.owned, person, task, name)
        wrong = {str(each["loc"][0]): each["msg"].removeprefix("Value error, ") for each in problem.errors()}
        return await page(request, task, name, person, 422, errors=wrong, given=given)
    warning = await db.awrite(library.change, person, task, name, wanted)
    if warning:
        return await page(request, task, name, person, 200, warning=warning)
    return RedirectResponse(str(request.app.url_path_for("dataset", task=task, name=name)), status_code=303)


@router.get("/tasks/{task}/datasets/{name}/versions/{n}/refused", name="refused_rows",
            dependencies=[Depends(seats.know)])  # fmt: skip
async def refused(request: Request, task: str, name: str, n: int, person: Member, after: After = "") -> Response:
    """The rows that a version's reading refused (owners)."""

    def read(session: Session) -> dict[str, Any]:
        version = views.version(session, person, task, name, n)
        rows = owner_lists.refused(session, version.job_id or "", after, REFUSED)
        total = session.scalar(library_queries.refused(version.job_id or ""))
        return head(session, person, task) | {"version": version.number, "found": rows, "total": total}

    values = await request.app.state.db.aread(read)
    return render(request, "datasets/refused.html", dataset=name, after=after, **values)


@router.get("/tasks/{task}/datasets/{name}/versions/{n}/refused.csv", name="refused_rows_file")
async def refused_csv(request: Request, task: str, name: str, n: int, person: Member) -> Response:
    """All of them as a file (owners)."""
    db: Database = request.app.state.db
    version = await db.aread(views.version, person, task, name, n)
    return await to_thread.run_sync(refused_file, db, version.job_id or "", f"{task}-{name}-v{n}-refused.csv")
