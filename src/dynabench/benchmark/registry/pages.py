"""The registry as pages: the list, a model with a form to talk to it, two side by side. Forms work without scripts."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from sqlalchemy.orm import Session
from starlette.responses import RedirectResponse, Response

from dynabench.benchmark.registry import model_answers, model_pages, service, submissions
from dynabench.benchmark.registry.api import Name, find_model
from dynabench.benchmark.registry.model_pages import PostedInputs
from dynabench.benchmark.registry.service import Model
from dynabench.collection import overview
from dynabench.kit import errors
from dynabench.kit.db import Database
from dynabench.kit.language import _
from dynabench.models.client import Host
from dynabench.people.accounts.auth import Member, Viewer
from dynabench.people.accounts.tables import Person
from dynabench.rounds import seats, views
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import RoundState, Task
from dynabench.web import render

router = APIRouter(include_in_schema=False)
Words = Annotated[str, Query(max_length=100)]
FORM: dict[str, Any] = {"max_files": 4, "max_fields": 50, "max_part_size": 3 * 2**20}


async def visible_models(request: Request, viewer: Person | None) -> tuple[list[Model], str]:
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
    everything, down = await visible_models(request, viewer)
    matching = service.search_models(everything, q)
    counts = {
        name: sum(model.task == name for model in matching) for name in sorted({model.task for model in matching})
    }
    return render(
        request,
        "registry/list.html",
        fragment="registry/_found.html",
        q=q,
        task=task,
        counts=counts,
        found=service.search_models(everything, q, task),
        total=len(everything),
        down=down,
    )


@router.get("/tasks/{task}/models", name="task_models", dependencies=[Depends(seats.know)])
async def task_models(request: Request, task: str, viewer: Viewer) -> Response:
    """The models of one task."""

    def head(session: Session) -> dict[str, Any]:
        started = overview.started(session, task)
        current = next(
            (round_row for round_row in started if round_row.state == RoundState.OPEN), started[0] if started else None
        )
        round_view = views.round_out(session, current) if current else None
        return {"config": rounds.task_config(session, task), "round": round_view}

    values = await request.app.state.db.aread(head)
    everything, down = await visible_models(request, viewer)
    matching = service.search_models(everything, "", task)
    return render(request, "registry/task.html", task=task, found=matching, down=down, **values)


@router.get("/models/compare", name="compare_models")
async def compare(request: Request, viewer: Viewer, a: Words = "", b: Words = "") -> Response:
    """Two models of one task beside each other; inputs in the address are asked."""
    return await _compared(request, viewer, a, b)


@router.post("/models/compare", name="ask_both")
async def ask_both(request: Request, viewer: Viewer, a: Words = "", b: Words = "") -> Response:
    """Both, asked the same."""
    async with request.form(**FORM) as form:
        return await _compared(request, viewer, a, b, await model_pages.read_form(form))


async def _compared(
    request: Request, viewer: Person | None, a: str, b: str, posted_inputs: PostedInputs | None = None
) -> Response:
    everything, down = await visible_models(request, viewer)
    names = {model.name: model for model in everything}
    values: dict[str, Any] = {"a": a, "b": b, "models": everything, "down": down, "wrong": "", "talk": None}
    template, status = "registry/compare.html", 200
    try:
        chosen = [names[name] for name in (a, b) if name in names]
        for name in (a, b):
            if name and name not in names and not down:
                raise errors.NotFound(_("There is no model %(name)s.", name=repr(name)))
        if len(chosen) == 2:
            model_answers.require_alike(*chosen)
            talk = await model_pages.answer_form(
                request, viewer, chosen, f"?a={a}&b={b}", {"a": a, "b": b}, posted_inputs
            )
            return model_pages.render_form(request, template, talk, **values)
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
    """Show the model's answer; nothing is stored."""
    async with request.form(**FORM) as form:
        return await _page(request, viewer, name, version, await model_pages.read_form(form))


@router.post("/models/{name}/listing", name="model_listing")
async def change(request: Request, name: Name, person: Member) -> Response:
    """Change who may see a model (its keeper, admins), and its keeper (admins)."""
    form = await request.form()
    changes = {
        field_name: str(form[field_name])[:600] for field_name in ("visibility", "note", "keeper") if field_name in form
    }
    model = await find_model(request, person, name)
    try:
        await request.app.state.db.awrite(
            service.change_listing,
            person,
            model,
            changes.get("visibility", ""),
            changes.get("note"),
            changes.get("keeper"),
        )
    except errors.Invalid as problem:
        return await _page(request, person, name, "", listing=changes, wrong=problem.fields)
    return RedirectResponse(str(request.app.url_path_for("model", name=name)) + "?listed=1#who", status_code=303)


async def _page(
    request: Request,
    viewer: Person | None,
    name: str,
    version: str,
    posted_inputs: PostedInputs | None = None,
    listing: dict[str, str] | None = None,
    wrong: dict[str, str] | None = None,
) -> Response:
    host: Host = request.app.state.host
    db: Database = request.app.state.db
    try:
        model = await find_model(request, viewer, name)
        readme = await host.readme(name, model.version(version).version)
    except errors.Unavailable:
        played = await db.aread(service.played_rounds, viewer, name)
        return render(request, "registry/silent.html", model_name=name, played=played)
    values: dict[str, Any] = {
        "model": model,
        "copy": model.version(version),
        "card": model.version(version).card,
        "readme": model_pages.card_text(readme),
        "played": await db.aread(service.played_rounds, viewer, name, model.task),
        "has_task": await db.aread(lambda session: session.get(Task, model.task) is not None),
        "enterable": await db.aread(submissions.enterable_tasks, viewer, model.card),
        "listing": listing or {},
        "wrong": wrong or {},
        "silent": "",
        "talk": None,
        "notice": _("Saved: who may see this model.") if "listed" in request.query_params else "",
    }
    try:
        base = f"?version={version}" if version else ""
        talk = await model_pages.answer_form(request, viewer, [model], base, {"version": version}, posted_inputs)
    except (errors.Unavailable, errors.Unauthenticated) as problem:
        return render(request, "registry/model.html", **(values | {"silent": problem.detail}))
    return model_pages.render_form(request, "registry/model.html", talk, status=422 if wrong else 200, **values)
