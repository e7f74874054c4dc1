"""A form to talk to one model, or to two at once, and what they said: what both pages share."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fastapi import Request
from starlette.datastructures import FormData, UploadFile
from starlette.responses import Response

from dynabench.benchmark.registry import model_answers, pictures
from dynabench.benchmark.registry.model_answers import GROUP, ModelInputs, ModelReply, ReplyDifference
from dynabench.benchmark.registry.pictures import Heat, Picture
from dynabench.benchmark.registry.service import Model
from dynabench.collection.api import throttle
from dynabench.kit import errors
from dynabench.models.client import Host
from dynabench.models.protocol import SPAN_PARTS, Attribution, Card
from dynabench.people.accounts.tables import Person
from dynabench.tasks import group_values
from dynabench.tasks.fields import Field, FieldError
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

    cards: list[Card]
    fields: list[Field]
    action: str
    values: dict[str, Any] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    asked: ModelInputs | None = None
    said: list[ModelReply] = field(default_factory=list)
    difference: ReplyDifference | None = None
    shown: ExplanationView | None = None
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
        elif content := await value.read(pictures.LARGEST + 1):
            try:
                pairs = [*(pair for pair in pairs if pair[0] != name), (name, pictures.data_address(content))]
            except FieldError as error:
                wrong[name] = str(error)
    return PostedInputs(pairs, wrong)


async def answer_form(
    request: Request,
    viewer: Person | None,
    models: Sequence[Model],
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
    if not _fill_form(form, words) or form.asked is None:
        return form
    for _ in cards:
        throttle(request, viewer)
    host: Host = request.app.state.host
    form.said = await model_answers.ask_models(
        host, cards, form.asked, await db.aread(model_answers.answer_field, cards[0])
    )
    form.difference = model_answers.reply_difference(*form.said) if len(form.said) == 2 else None
    form.link = model_answers.link_with_inputs(request.url.path, form.asked, **rest) if not form.pictured else ""
    if not any(item.answer for item in form.said):
        form.status = 503 if posted_inputs is not None else 200
    await _explain(host, form, dict(words.pairs).get("explain", ""))
    return form


def _fill_form(form: ModelForm, posted_inputs: PostedInputs) -> bool:
    """Fill in what was written; whether it can be asked."""
    form.values = group_values.read_group_form(GROUP, form.fields, posted_inputs.pairs)
    try:
        form.asked = model_answers.read_inputs(form.fields, form.values)
    except errors.Invalid as problem:
        form.errors = problem.fields
    form.errors |= posted_inputs.errors
    form.status = 422 if form.errors else 200
    return not form.errors


async def _explain(host: Host, form: ModelForm, choice: str) -> None:
    """The explanation that a button of the form asked for, as `model:method`."""
    name, _, method = choice.partition(":")
    card = next((reply.card for reply in form.said if reply.card.name == name and reply.answer), None)
    if card is None or method not in card.methods or form.asked is None:
        return
    try:
        attribution = await model_answers.explain_answer(host, card, form.asked, method)
    except (errors.Unavailable, errors.Invalid) as problem:
        form.problem = problem.detail
        return
    sent = form.asked.sent
    heats = {reply: pictures.heat(str(sent[reply]), rows) for reply, rows in attribution.maps.items() if reply in sent}
    form.shown = ExplanationView(
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
