"""The registry as pages: the list, a model with a form to talk to it, two side by side. Forms work without scripts."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from sqlalchemy.orm import Session
from starlette.responses import RedirectResponse, Response

from dynabench import errors
from dynabench.accounts.auth import Member, Viewer
from dynabench.accounts.tables import Person
from dynabench.collection import overview
from dynabench.db import Database
from dynabench.language import _
from dynabench.models.client import Host
from dynabench.registry import asking, service, submissions, talking
from dynabench.registry.api import Name, found
from dynabench.registry.service import Model
from dynabench.registry.talking import Given
from dynabench.rounds import seats, views
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import RoundState, Task
from dynabench.web import render

router = APIRouter(include_in_schema=False)
Words = Annotated[str, Query(max_length=100)]
FORM: dict[str, Any] = {"max_files": 4, "max_fields": 50, "max_part_size": 3 * 2**20}


async def seen(request: Request, viewer: Person | None) -> tuple[list[Model], str]:
    """The models that the viewer may see, and why there are none to show while no host answers."""
    host: Host = request.app.state.host
    db: Database = request.app.state.db
    try:
        states = await host.states()
    except errors.Unavailable:
        return [], _("The model host does not answer now, so no models can be shown. Try again in a moment.")
    return await db.aread(service.models, viewer, states, host.health()), ""


@router.get("/models", name="models")
async def models(request: Request, viewer: Viewer, q: Words = "", task: Words = "") -> Response:
    """All models, searched and filtered by the address."""
    everything, down = await seen(request, viewer)
    matching = service.search(everything, q)
    counts = {name: sum(each.task == name for each in matching) for name in sorted({each.task for each in matching})}
    return render(
        request,
        "registry/list.html",
        fragment="registry/_found.html",
        q=q,
        task=task,
        counts=counts,
        found=service.search(everything, q, task),
        total=len(everything),
        down=down,
    )


@router.get("/tasks/{task}/models", name="task_models", dependencies=[Depends(seats.know)])
async def task_models(request: Request, task: str, viewer: Viewer) -> Response:
    """The models of one task."""

    def head(session: Session) -> dict[str, Any]:
        started = overview.started(session, task)
        current = next((each for each in started if each.state == RoundState.OPEN), started[0] if started else None)
        shown = views.round_out(session, current) if current else None
        return {"config": rounds.task_config(session, task), "round": shown}

    values = await request.app.state.db.aread(head)
    everything, down = await seen(request, viewer)
    matching = service.search(everything, "", task)
    return render(request, "registry/task.html", task=task, found=matching, down=down, **values)


@router.get("/models/compare", name="compare_models")
async def compare(request: Request, viewer: Viewer, a: Words = "", b: Words = "") -> Response:
    """Two models of one task beside each other; inputs in the address are asked."""
    return await _compared(request, viewer, a, b)


@router.post("/models/compare", name="ask_both")
async def ask_both(request: Request, viewer: Viewer, a: Words = "", b: Words = "") -> Response:
    """Both, asked the same."""
    async with request.form(**FORM) as form:
        return await _compared(request, viewer, a, b, await talking.posted(form))


async def _compared(request: Request, viewer: Person | None, a: str, b: str, given: Given | None = None) -> Response:
    everything, down = await seen(request, viewer)
    names = {each.name: each for each in everything}
    values: dict[str, Any] = {"a": a, "b": b, "models": everything, "down": down, "wrong": "", "talk": None}
    template, status = "registry/compare.html", 200
    try:
        chosen = [names[name] for name in (a, b) if name in names]
        for name in (a, b):
            if name and name not in names and not down:
                raise errors.NotFound(_("There is no model %(name)s.", name=repr(name)))
        if len(chosen) == 2:
            asking.alike(*chosen)
            talk = await talking.talk(request, viewer, chosen, f"?a={a}&b={b}", {"a": a, "b": b}, given)
            return talking.rendered(request, template, talk, **values)
    except errors.Invalid as problem:
        values["wrong"], status = "; ".join(problem.fields.values()), 422
    except errors.Unavailable as problem:
        values["wrong"] = problem.detail
    return render(request, template, status=status, **values)


@router.get("/models/{name}", name="model")
async def model_page(request: Request, name: Name, viewer: Viewer, version: Words = "") -> Response:
    """A model's card, and a form to talk to it; inputs in the address are asked, so that an answer is a link."""
    return await _page(request, viewer, name, version)


@router.post("/models/{name}", name="talk_to_model")
async def ask(request: Request, name: Name, viewer: Viewer, version: Words = "") -> Response:
    """What the model says; nothing is stored."""
    async with request.form(**FORM) as form:
        return await _page(request, viewer, name, version, await talking.posted(form))


@router.post("/models/{name}/listing", name="model_listing")
async def change(request: Request, name: Name, person: Member) -> Response:
    """Who may see it (its keeper, admins), and who keeps it (admins)."""
    form = await request.form()
    said = {each: str(form[each])[:600] for each in ("visibility", "note", "keeper") if each in form}
    model = await found(request, person, name)
    try:
        await request.app.state.db.awrite(
            service.change, person, model, said.get("visibility", ""), said.get("note"), said.get("keeper")
        )
    except errors.Invalid as problem:
        return await _page(request, person, name, "", listing=said, wrong=problem.fields)
    return RedirectResponse(str(request.app.url_path_for("model", name=name)) + "?listed=1#who", status_code=303)


async def _page(
    request: Request,
    viewer: Person | None,
    name: str,
    version: str,
    given: Given | None = None,
    listing: dict[str, str] | None = None,
    wrong: dict[str, str] | None = None,
) -> Response:
    host: Host = request.app.state.host
    db: Database = request.app.state.db
    try:
        model = await found(request, viewer, name)
        readme = await host.readme(name, model.version(version).version)
    except errors.Unavailable:
        played = await db.aread(service.played, viewer, name)
        return render(request, "registry/silent.html", model_name=name, played=played)
    values: dict[str, Any] = {
        "model": model,
        "copy": model.version(version),
        "card": model.version(version).card,
        "readme": talking.card_text(readme),
        "played": await db.aread(service.played, viewer, name, model.task),
        "has_task": await db.aread(lambda session: session.get(Task, model.task) is not None),
        "enterable": await db.aread(submissions.enterable, viewer, model.card),
        "listing": listing or {},
        "wrong": wrong or {},
        "silent": "",
        "talk": None,
        "notice": _("Saved: who may see this model.") if "listed" in request.query_params else "",
    }
    try:
        base = f"?version={version}" if version else ""
        talk = await talking.talk(request, viewer, [model], base, {"version": version}, given)
    except (errors.Unavailable, errors.Unauthenticated) as problem:
        return render(request, "registry/model.html", **(values | {"silent": problem.detail}))
    return talking.rendered(request, "registry/model.html", talk, status=422 if wrong else 200, **values)
