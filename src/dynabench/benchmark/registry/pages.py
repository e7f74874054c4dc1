"""The registry as pages: the list, a model with a form to talk to it, two side by side. Forms work without scripts."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from sqlalchemy.orm import Session
from starlette.datastructures import FormData, UploadFile
from starlette.responses import RedirectResponse, Response

from dynabench.benchmark.registry import model_answers, service, submissions
from dynabench.benchmark.registry.api import Name, find_model
from dynabench.benchmark.registry.model_answers import GROUP, Heat, ModelInputs, ModelReply, Picture, ReplyDifference
from dynabench.benchmark.registry.service import ListedModel
from dynabench.collection import overview
from dynabench.collection.api import throttle
from dynabench.kit import errors
from dynabench.kit.api import Db, site_address
from dynabench.kit.db import Database
from dynabench.kit.language import _, join_messages
from dynabench.models.client import Host
from dynabench.models.protocol import SPAN_PARTS, Attribution, ModelCard
from dynabench.people.accounts.auth import Member, Viewer
from dynabench.people.accounts.tables import Person
from dynabench.rounds import people
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Task
from dynabench.tasks.fields import Field, FieldError
from dynabench.tasks.fields.base import read_group_form
from dynabench.web import render
from dynabench.web.pages import wants_fragment

_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
_TITLE = re.compile(r"\A\s*# [^\n]*\n")
Pairs = list[tuple[str, str]]


@dataclass(frozen=True)
class PostedInputs:
    """The posted values, and the problems with uploaded pictures, by name."""

    pairs: Pairs
    errors: dict[str, str]


@dataclass(frozen=True)
class ExplanationView:
    """An explanation that was asked for with the form: words, and heat maps by input."""

    model: str
    attribution: Attribution
    heats: Mapping[str, Heat]


@dataclass
class ModelForm:
    """The form and what came of it. `action` is where it posts to."""

    cards: list[ModelCard]
    fields: list[Field]
    action: str
    values: dict[str, Any] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    inputs: ModelInputs | None = None
    replies: list[ModelReply] = field(default_factory=list)
    difference: ReplyDifference | None = None
    explanation: ExplanationView | None = None
    problem: str = ""
    link: str = ""
    status: int = 200

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts of an extracted answer that are explained separately."""
        return SPAN_PARTS if self.cards[0].returns == "spans" else ()

    @property
    def pictured(self) -> bool:
        """True if an input is a picture: then the form uploads files."""
        return any(isinstance(input_field, Picture) for input_field in self.fields)


async def read_form(form: FormData) -> PostedInputs:
    """The form's fields in order; an uploaded picture takes the place of the one that was kept from before."""
    pairs: Pairs = []
    wrong: dict[str, str] = {}
    for name, value in form.multi_items():
        if not isinstance(value, UploadFile):
            pairs.append((name, value))
        elif content := await value.read(model_answers.LARGEST + 1):
            try:
                pairs = [*(pair for pair in pairs if pair[0] != name), (name, model_answers.data_address(content))]
            except FieldError as error:
                wrong[name] = str(error)
    return PostedInputs(pairs, wrong)


async def answer_form(
    request: Request,
    viewer: Person | None,
    models: Sequence[ListedModel],
    query: str,
    rest: Mapping[str, str],
    posted_inputs: PostedInputs | None,
) -> ModelForm:
    """The form for these models, and what they said where inputs were `given` or stand in the address.

    `query` and `rest` are the parameters that say which models are meant. Raises `Unavailable`, `Unauthenticated`.
    """
    db = request.app.state.db
    cards = [model.ready(rest.get("version", "")) for model in models]
    for card in cards:
        model_answers.may_ask(viewer, card)
    form = ModelForm(cards, await db.aread(model_answers.input_fields, cards[0]), f"{request.url.path}{query}")
    if posted_inputs is None and not model_answers.has_inputs(request.query_params):
        return form
    words = posted_inputs or PostedInputs(list(request.query_params.multi_items()), {})
    if not _fill_form(form, words) or form.inputs is None:
        return form
    for _card in cards:
        throttle(request, viewer)
    host: Host = request.app.state.host
    form.replies = await model_answers.ask_models(
        host, cards, form.inputs, await db.aread(model_answers.answer_field, cards[0])
    )
    form.difference = model_answers.reply_difference(*form.replies) if len(form.replies) == 2 else None
    form.link = model_answers.link_with_inputs(request.url.path, form.inputs, **rest) if not form.pictured else ""
    if not any(item.answer for item in form.replies):
        form.status = 503 if posted_inputs is not None else 200
    await _explain(host, form, dict(words.pairs).get("explain", ""))
    return form


def _fill_form(form: ModelForm, posted_inputs: PostedInputs) -> bool:
    """Fill in what was written; whether it can be asked."""
    form.values = read_group_form(GROUP, form.fields, posted_inputs.pairs)
    try:
        form.inputs = model_answers.read_inputs(form.fields, form.values)
    except errors.Invalid as problem:
        form.errors = problem.fields
    form.errors |= posted_inputs.errors
    form.status = 422 if form.errors else 200
    return not form.errors


async def _explain(host: Host, form: ModelForm, choice: str) -> None:
    """The explanation that a button of the form asked for, as `model:method`."""
    name, _, method = choice.partition(":")
    card = next((reply.card for reply in form.replies if reply.card.name == name and reply.answer), None)
    if card is None or method not in card.methods or form.inputs is None:
        return
    try:
        attribution = await model_answers.explain_answer(host, card, form.inputs, method)
    except (errors.Unavailable, errors.Invalid) as problem:
        form.problem = problem.detail
        return
    sent = form.inputs.sent
    heats = {
        reply: model_answers.heat(str(sent[reply]), rows) for reply, rows in attribution.maps.items() if reply in sent
    }
    form.explanation = ExplanationView(
        name, attribution, {reply: drawn for reply, drawn in heats.items() if drawn is not None}
    )


def render_form(request: Request, template: str, form: ModelForm, status: int = 200, **values: Any) -> Response:
    """The page with the talk, or for htmx what was said; the form anew where fields were refused."""
    refused = bool(form.errors)
    fragment = "registry/_talk.html" if refused else "registry/_said.html"
    fragment_or_none = fragment if request.method == "POST" else None
    status = max(status, form.status)
    values["talk"] = form
    response = render(request, template, status=status, fragment=fragment_or_none, **values)
    if request.method == "POST" and wants_fragment(request):
        if refused:
            response.headers.update({"HX-Retarget": "#talk", "HX-Reswap": "outerHTML"})
        elif form.link:
            response.headers["HX-Push-Url"] = form.link
    return response


def card_text(readme: str) -> str:
    """A model's card without what programs read before it and without its title, which the page has."""
    return _TITLE.sub("", _FRONT_MATTER.sub("", readme.replace("\r\n", "\n")), count=1)


def usage_code(request: Request, card: ModelCard | None) -> str:
    """Return lines that ask a model by the Python client; empty for pictures, which are files, and without a card."""
    if card is None or card.images:
        return ""
    inputs = ", ".join(f'"{name}": "…"' for name in card.inputs)
    return "\n".join(
        [
            "from dynabench.client import Client",
            "",
            f'with Client("{site_address(request)}") as client:',
            f"    inputs = {{{inputs}}}",
            f'    answer = client.ask("{card.name}", inputs)',
        ]
    )


ResultList = Callable[[Session, str], list[dict[str, Any]]]
result_lists: list[ResultList] = []
"""Functions of higher packages that list results of a model for its page, by its name."""

router = APIRouter(include_in_schema=False)
Words = Annotated[str, Query(max_length=100)]
FORM: dict[str, Any] = {"max_files": 4, "max_fields": 50, "max_part_size": 3 * 2**20}


async def visible_models(request: Request, viewer: Person | None) -> tuple[list[ListedModel], str]:
    """The models that the viewer may see, and why there are none to show while no host answers."""
    host: Host = request.app.state.host
    db: Database = request.app.state.db
    try:
        states = await host.states()
    except errors.Unavailable:
        return [], _("The model host is not answering, so models cannot be shown. Try again in a moment.")
    return await db.aread(service.models, viewer, states, host.health()), ""


@router.get("/models", name="models")
async def models(request: Request, viewer: Viewer, q: Words = "", task: Words = "") -> Response:
    """All models, searched and filtered by the address."""
    everything, down = await visible_models(request, viewer)
    matching = service.search_models(everything, q)
    counts = {
        name: sum(model.task == name for model in matching) for name in sorted({model.task for model in matching})
    }
    names = await request.app.state.db.aread(rounds.task_names, counts)
    return render(
        request,
        "registry/list.html",
        fragment="registry/_found.html",
        q=q,
        task=task,
        counts=counts,
        task_names=names,
        found=service.search_models(everything, q, task),
        total=len(everything),
        down=down,
    )


@router.get("/tasks/{task}/models", name="task_models", dependencies=[Depends(people.load_actions)])
async def task_models(request: Request, db: Db, task: str, viewer: Viewer) -> Response:
    """The models of one task."""

    values = await db.aread(overview.page_head, task)
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
        return await _compared(request, viewer, a, b, await read_form(form))


async def _compared(
    request: Request, viewer: Person | None, a: str, b: str, posted_inputs: PostedInputs | None = None
) -> Response:
    everything, down = await visible_models(request, viewer)
    names = {model.name: model for model in everything}
    task_names = await request.app.state.db.aread(rounds.task_names, {model.task for model in everything})
    values: dict[str, Any] = {
        "a": a,
        "b": b,
        "models": everything,
        "task_names": task_names,
        "down": down,
        "wrong": "",
        "talk": None,
    }
    template, status = "registry/compare.html", 200
    try:
        chosen = [names[name] for name in (a, b) if name in names]
        for name in (a, b):
            if name and name not in names and not down:
                raise errors.NotFound(_("There is no model %(name)s.", name=repr(name)))
        if len(chosen) == 2:
            model_answers.require_alike(*chosen)
            talk = await answer_form(request, viewer, chosen, f"?a={a}&b={b}", {"a": a, "b": b}, posted_inputs)
            return render_form(request, template, talk, **values)
    except errors.Invalid as problem:
        values["wrong"], status = join_messages(problem.fields.values()), 422
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
        return await _page(request, viewer, name, version, await read_form(form))


@router.post("/models/{name}/listing", name="model_listing")
async def change(request: Request, db: Db, name: Name, person: Member) -> Response:
    """Change who may see a model (its keeper, admins), and its keeper (admins)."""
    form = await request.form()
    changes = {
        field_name: str(form[field_name])[:600] for field_name in ("visibility", "note", "keeper") if field_name in form
    }
    model = await find_model(request, person, name)
    try:
        await db.awrite(
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


def _listed_results(session: Session, name: str) -> list[dict[str, Any]]:
    return [result for results in result_lists for result in results(session, name)]


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
        names = await db.aread(rounds.task_names, {target_round.task for target_round in played})
        return render(request, "registry/silent.html", model_name=name, played=played, task_names=names)
    played = await db.aread(service.played_rounds, viewer, name, model.task)
    names = await db.aread(rounds.task_names, {model.task, *(target_round.task for target_round in played)})
    values: dict[str, Any] = {
        "model": model,
        "copy": model.version(version),
        "card": model.version(version).card,
        "readme": card_text(readme),
        "played": played,
        "has_task": await db.aread(lambda session: session.get(Task, model.task) is not None),
        "task_name": names[model.task],
        "task_names": names,
        "enterable": await db.aread(submissions.enterable_tasks, viewer, model.card),
        "results": await db.aread(_listed_results, name),
        "listing": listing or {},
        "wrong": wrong or {},
        "silent": "",
        "talk": None,
        "usage": usage_code(request, model.version(version).card),
        "notice": _("Visibility saved.") if "listed" in request.query_params else "",
    }
    try:
        base = f"?version={version}" if version else ""
        talk = await answer_form(request, viewer, [model], base, {"version": version}, posted_inputs)
    except (errors.Unavailable, errors.Unauthenticated) as problem:
        return render(request, "registry/model.html", **(values | {"silent": problem.detail}))
    return render_form(request, "registry/model.html", talk, status=422 if wrong else 200, **values)
