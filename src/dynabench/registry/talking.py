"""A form to talk to one model, or to two at once, and what they said: what both pages share."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fastapi import Request
from starlette.datastructures import FormData, UploadFile
from starlette.responses import Response

from dynabench import errors
from dynabench.accounts.tables import Person
from dynabench.collection.api import throttle
from dynabench.models.client import Host
from dynabench.models.protocol import SPAN_PARTS, Attribution, Card
from dynabench.registry import asking, pictures
from dynabench.registry.asking import GROUP, Asked, Difference, Said
from dynabench.registry.pictures import Heat, Picture
from dynabench.registry.service import Model
from dynabench.tasks import group_values
from dynabench.tasks.fields import Field, FieldError
from dynabench.web import render
from dynabench.web.pages import wants_fragment

_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
_TITLE = re.compile(r"\A\s*# [^\n]*\n")
Pairs = list[tuple[str, str]]


@dataclass(frozen=True)
class Given:
    """What was posted, and what is wrong with uploaded pictures, by name."""

    pairs: Pairs
    errors: dict[str, str]


@dataclass(frozen=True)
class Shown:
    """An explanation that was asked for with the form: words, and heat maps by input."""

    model: str
    attribution: Attribution
    heats: Mapping[str, Heat]


@dataclass
class Talk:
    """The form and what came of it. `action` is where it posts to."""

    cards: list[Card]
    fields: list[Field]
    action: str
    values: dict[str, Any] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    asked: Asked | None = None
    said: list[Said] = field(default_factory=list)
    difference: Difference | None = None
    shown: Shown | None = None
    problem: str = ""
    link: str = ""
    status: int = 200

    @property
    def parts(self) -> tuple[str, ...]:
        """What of an extracted answer is explained apart."""
        return SPAN_PARTS if self.cards[0].returns == "spans" else ()

    @property
    def pictured(self) -> bool:
        """Whether an input is a picture: then the form carries files."""
        return any(isinstance(each, Picture) for each in self.fields)


async def posted(form: FormData) -> Given:
    """The form's fields in order; an uploaded picture takes the place of the one that was kept from before."""
    pairs: Pairs = []
    wrong: dict[str, str] = {}
    for name, value in form.multi_items():
        if not isinstance(value, UploadFile):
            pairs.append((name, value))
        elif content := await value.read(pictures.LARGEST + 1):
            try:
                pairs = [*(pair for pair in pairs if pair[0] != name), (name, pictures.address(content))]
            except FieldError as error:
                wrong[name] = str(error)
    return Given(pairs, wrong)


async def talk(
    request: Request,
    viewer: Person | None,
    models: Sequence[Model],
    query: str,
    rest: Mapping[str, str],
    given: Given | None,
) -> Talk:
    """The form for these models, and what they said where inputs were `given` or stand in the address.

    `query` and `rest` are the parameters that say which models are meant. Raises `Unavailable`, `Unauthenticated`.
    """
    db = request.app.state.db
    cards = [model.ready(rest.get("version", "")) for model in models]
    for card in cards:
        asking.may_ask(viewer, card)
    made = Talk(cards, await db.aread(asking.fields, cards[0]), f"{request.url.path}{query}")
    if given is None and not asking.from_query(request.query_params):
        return made
    words = given or Given(list(request.query_params.multi_items()), {})
    if not _read(made, words) or made.asked is None:
        return made
    for _ in cards:
        throttle(request, viewer)
    host: Host = request.app.state.host
    made.said = await asking.ask_all(host, cards, made.asked, await db.aread(asking.answer_field, cards[0]))
    made.difference = asking.difference(*made.said) if len(made.said) == 2 else None
    made.link = asking.link(request.url.path, made.asked, **rest) if not made.pictured else ""
    if not any(each.answer for each in made.said):
        made.status = 503 if given is not None else 200
    await _explained(host, made, dict(words.pairs).get("explain", ""))
    return made


def _read(made: Talk, given: Given) -> bool:
    """Fill in what was written; whether it can be asked."""
    made.values = group_values.read_group_form(GROUP, made.fields, given.pairs)
    try:
        made.asked = asking.asked(made.fields, made.values)
    except errors.Invalid as problem:
        made.errors = problem.fields
    made.errors |= given.errors
    made.status = 422 if made.errors else 200
    return not made.errors


async def _explained(host: Host, made: Talk, wanted: str) -> None:
    """The explanation that a button of the form asked for, as `model:method`."""
    name, _, method = wanted.partition(":")
    card = next((each.card for each in made.said if each.card.name == name and each.answer), None)
    if card is None or method not in card.methods or made.asked is None:
        return
    try:
        found = await asking.explain(host, card, made.asked, method)
    except (errors.Unavailable, errors.Invalid) as problem:
        made.problem = problem.detail
        return
    sent = made.asked.sent
    heats = {each: pictures.heat(str(sent[each]), rows) for each, rows in found.maps.items() if each in sent}
    made.shown = Shown(name, found, {each: drawn for each, drawn in heats.items() if drawn is not None})


def rendered(request: Request, template: str, made: Talk, status: int = 200, **values: Any) -> Response:
    """The page with the talk, or for htmx what was said; the form anew where fields were refused."""
    refused = bool(made.errors)
    fragment = "registry/_talk.html" if refused else "registry/_said.html"
    fragment_or_none = fragment if request.method == "POST" else None
    status = max(status, made.status)
    values["talk"] = made
    response = render(request, template, status=status, fragment=fragment_or_none, **values)
    if request.method == "POST" and wants_fragment(request):
        if refused:
            response.headers.update({"HX-Retarget": "#talk", "HX-Reswap": "outerHTML"})
        elif made.link:
            response.headers["HX-Push-Url"] = made.link
    return response


def card_text(readme: str) -> str:
    """A model's card without what programs read before it and without its title, which the page has."""
    return _TITLE.sub("", _FRONT_MATTER.sub("", readme.replace("\r\n", "\n")), count=1)
