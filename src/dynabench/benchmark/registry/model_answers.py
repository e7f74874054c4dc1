"""Talking to models outside of any round: inputs checked by the task's fields, pictures, and heat maps over them."""

import asyncio
import base64
import binascii
import io
import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import urlencode

from sqlalchemy.orm import Session

from dynabench.benchmark.registry.service import ListedModel
from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.models.client import Answer, Host
from dynabench.models.protocol import Attribution, ModelCard, explained
from dynabench.people.accounts.tables import Person
from dynabench.rounds import service as rounds
from dynabench.tasks.fields import Chat, Field, FieldError, JsonSchema, Text, Values
from dynabench.tasks.fields.base import clean_group
from dynabench.tasks.words import word_f1

GROUP = "inputs"
LONGEST_LINK = 1800  # characters of an address that every browser and mail program passes on
PLAIN = 5000  # characters of an input that no field of a task describes


@dataclass(frozen=True)
class ModelInputs:
    """Inputs as they were written (`values`) and as models get them (`sent`)."""

    values: dict[str, Any]
    sent: dict[str, Any]


@dataclass(frozen=True)
class ModelReply:
    """The reply of one model, or the `problem` that prevented it; `value` is the answer alone, `by` the task's
    answer field."""

    card: ModelCard
    answer: Answer | None
    problem: str = ""
    by: Field | None = None

    @property
    def value(self) -> Any:
        """The answer: a label, spans, or text."""
        return self.answer.answer[self.card.answer] if self.answer else None

    @property
    def words(self) -> str:
        """The answer in words."""
        if isinstance(self.value, str):
            return self.by.in_words(self.value) if self.by is not None else self.value
        return " … ".join(str(span["text"]) for span in self.value or [])


@dataclass(frozen=True)
class ReplyDifference:
    """The difference between two answers to one input.

    `label` is the one whose probabilities, `first` and `second`, are furthest apart; `overlap` the share of words
    that two answers in words have in common (F1).
    """

    same: bool
    label: str = ""
    first: float = 0.0
    second: float = 0.0
    overlap: float | None = None


def input_fields(session: Session, card: ModelCard) -> list[Field]:
    """The fields with which inputs of a model are written: those of its task, plain text for others."""
    try:
        config = rounds.task_config(session, card.task)
        both = (*config.context, *config.input)
        field_by_name = {field.name: field for field in both if not isinstance(field, Chat)}
    except errors.NotFound:
        field_by_name = {}
    return [
        Picture.model_construct(name=name, label=_titled(name))
        if name in card.images
        else field_by_name.get(name)
        or Text.model_construct(name=name, label=_titled(name), multiline=True, max_length=PLAIN, min_length=1)
        for name in card.inputs
    ]


def _titled(name: str) -> str:
    return name.replace("_", " ").capitalize()


def answer_field(session: Session, card: ModelCard) -> Field | None:
    """The task's field that an answer of the model fills, which says it in words."""
    try:
        config = rounds.task_config(session, card.task)
    except errors.NotFound:
        return None
    return next((field for field in config.answer if field.name == card.answer), None)


def read_inputs(model_fields: Sequence[Field], values: object) -> ModelInputs:
    """The inputs, checked; raises `Invalid` with keys such as `inputs.hypothesis`."""
    cleaned = clean_group(GROUP, model_fields, values)
    return ModelInputs(cleaned, {field.name: field.serialise(cleaned.get(field.name)) for field in model_fields})


def may_ask(viewer: Person | None, card: ModelCard) -> None:
    """Refuse visitors where inputs leave the platform: such calls may cost money, and another site reads them."""
    if viewer is None and not card.inside:
        raise errors.Unauthenticated(
            _("Log in to ask %(name)s: it is served elsewhere, and inputs leave this platform.", name=card.name)
        )


async def ask_model(host: Host, card: ModelCard, inputs: ModelInputs, by: Field | None = None) -> ModelReply:
    """Return a model's reply, with the problem where there is no answer."""
    try:
        answer = await host.answer(card.name, card.version, inputs.sent)
        if not _fits(card, answer.answer.get(card.answer)):
            raise errors.Unavailable(
                _(
                    "The answer of %(name)s is not %(expected)s.",
                    name=card.name,
                    expected=_EXPECTED[card.returns],
                )
            )
    except errors.Unavailable as problem:
        return ModelReply(card, None, problem.detail, by)
    return ModelReply(card, answer, "", by)


async def ask_models(host: Host, cards: Iterable[ModelCard], inputs: ModelInputs, by: Field | None) -> list[ModelReply]:
    """Return the replies of several models to the same inputs, asked at the same time."""
    return list(await asyncio.gather(*(ask_model(host, card, inputs, by) for card in cards)))


_EXPECTED = {"label": "label of its own", "spans": "list of spans", "tags": "list of spans", "text": "text"}


def _fits(card: ModelCard, value: Any) -> bool:
    if card.returns == "label":
        return isinstance(value, str) and (not card.labels or value in card.labels)
    if card.returns == "text":
        return isinstance(value, str)
    whole = isinstance(value, list) and all(isinstance(item, dict) for item in value)
    return whole and all(
        isinstance(item.get("text"), str) and isinstance(item.get("start"), int) and isinstance(item.get("end"), int)
        for item in value
    )


async def explain_answer(
    host: Host, card: ModelCard, inputs: ModelInputs, method: str = "", label: str = ""
) -> Attribution:
    """Return the weight of words, or of parts of a picture, for `label`, by default the answer; raises `Invalid`,
    `Unavailable`."""
    wrong = {}
    if method and method not in card.methods:
        wrong["method"] = _(
            "%(name)s supports these explanations: %(value)s.",
            name=card.name,
            value=", ".join(card.methods) or "nothing",
        )
    if label and label not in explained(card):
        wrong["label"] = _("Choose one of %(value)s.", value=", ".join(explained(card)))
    if wrong or not card.methods:
        raise errors.Invalid(wrong or {"method": _("%(name)s supports no explanations.", name=card.name)})
    return await host.attribute(card.name, card.version, inputs.sent, label or None, method or None)


def require_alike(first: ListedModel, second: ListedModel) -> None:
    """Raise `Invalid` unless both take the same inputs for the same task."""
    first_card, other = first.ready(), second.ready()
    if (first_card.task, set(first_card.inputs), first_card.images) != (other.task, set(other.inputs), other.images):
        message = _(
            "%(name)s belongs to %(task)s and %(name2)s to %(task2)s: choose two models of one task.",
            name=other.name,
            task=other.task,
            name2=first_card.name,
            task2=first_card.task,
        )
        raise errors.Invalid({"b": message})


def reply_difference(first: ModelReply, second: ModelReply) -> ReplyDifference | None:
    """Return the difference between two replies; None unless both have an answer."""
    if first.answer is None or second.answer is None:
        return None
    if first.card.returns != "label":
        overlap = word_f1(first.words, second.words)
        return ReplyDifference(first.value == second.value, overlap=overlap)
    first_probabilities, other = first.answer.probabilities or {}, second.answer.probabilities or {}
    both = [label for label in first_probabilities if label in other]
    if not both:
        return ReplyDifference(first.value == second.value)
    widest = max(both, key=lambda label: abs(first_probabilities[label] - other[label]))
    return ReplyDifference(first.value == second.value, widest, first_probabilities[widest], other[widest])


def link_with_inputs(path: str, inputs: ModelInputs, **rest: str) -> str:
    """An address that asks the same again, with `rest` as further parameters; "" where it would be too long."""
    texts = {f"{GROUP}.{name}": value for name, value in inputs.values.items()}
    if not all(isinstance(value, str) for value in texts.values()):
        return ""
    address = f"{path}?{urlencode({name: value for name, value in (rest | texts).items() if value})}"
    return address if len(address) <= LONGEST_LINK else ""


def has_inputs(params: Mapping[str, str]) -> bool:
    """Return True if the query of an address has inputs."""
    return any(name.startswith(f"{GROUP}.") for name in params)


LARGEST = 2 * 2**20
"""Bytes of a picture."""
LONGEST_SIDE = 8192
MOST_PIXELS = 25_000_000
FORMATS = {"PNG": "png", "JPEG": "jpeg", "WEBP": "webp"}
MOST_CELLS = 64
"""Rows, and columns, of a heat map that are drawn at most."""
_DATA = re.compile(r"data:image/(png|jpeg|webp);base64,([A-Za-z0-9+/]+={0,2})")


class Picture(Field):
    """A PNG, JPEG or WebP picture as `data:image/png;base64,...`."""

    type: Literal["picture"] = "picture"

    missing = _("Choose a picture.")

    def check(self, raw: object, beside: Values) -> str | None:
        """The same text, if it is a picture of a size that can be read."""
        if not isinstance(raw, str):
            raise FieldError(_("This must be a picture as a data: address."))
        if not raw:
            return None
        if len(raw) > LARGEST * 4 // 3 + 100:
            raise FieldError(
                _("A picture may have at most %(largest)s MiB. Make it smaller.", largest=LARGEST // 2**20)
            )
        match = _DATA.fullmatch(raw)
        if match is None:
            raise FieldError(_("Choose a PNG, JPEG or WebP picture."))
        try:
            image_size(base64.b64decode(match[2], validate=True))
        except binascii.Error:
            raise FieldError(_("Choose a PNG, JPEG or WebP picture.")) from None
        return raw

    def json_schema(self) -> JsonSchema:
        """A data address; that it holds a picture is beyond a schema."""
        return {"type": "string", "pattern": f"^{_DATA.pattern}$", "maxLength": LARGEST * 4 // 3 + 100}

    def template(self, view: str) -> str:
        """Its own, beside the registry's pages."""
        return "registry/_picture.html"


def data_address(content: bytes) -> str:
    """An uploaded picture as a data address, its kind read from its content; raises `FieldError`."""
    if len(content) > LARGEST:
        raise FieldError(_("A picture may have at most %(largest)s MiB. Make it smaller.", largest=LARGEST // 2**20))
    kind, _width, _height = image_size(content)
    return f"data:image/{kind};base64,{base64.b64encode(content).decode()}"


def image_size(content: bytes) -> tuple[str, int, int]:
    """Kind, width and height, from the picture's head alone; raises `FieldError` for what is none, or too large."""
    from PIL import Image

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it warns of large pictures, which are refused below
            with Image.open(io.BytesIO(content), formats=tuple(FORMATS)) as picture:
                kind, (width, height) = FORMATS[str(picture.format)], picture.size
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        raise FieldError(_("Choose a PNG, JPEG or WebP picture.")) from None
    if max(width, height) > LONGEST_SIDE or width * height > MOST_PIXELS:
        raise FieldError(
            _(
                "This picture has %(width)s x %(height)s pixels. Make it smaller.",
                width=f"{width:,}",
                height=f"{height:,}",
            )
        )
    return kind, width, height


@dataclass(frozen=True)
class Cell:
    """One rectangle of a heat map, in points of the picture; `weight` from -1 to 1."""

    x: float
    y: float
    width: float
    height: float
    weight: float


@dataclass(frozen=True)
class Heat:
    """A picture of `width` x `height` points with the cells of its map that weigh anything."""

    source: str
    width: int
    height: int
    cells: tuple[Cell, ...]


def heat(source: str, rows: Sequence[Sequence[float]]) -> Heat | None:
    """The map of a picture, given as its data address; None for a map that is empty, ragged or no numbers."""
    match = _DATA.fullmatch(source)
    columns = {len(row) for row in rows}
    if match is None or len(columns) != 1 or not (count := columns.pop()):
        return None
    _, width, height = image_size(base64.b64decode(match[2]))
    down, across = -(-len(rows) // MOST_CELLS), -(-count // MOST_CELLS)
    tall, wide = height / len(rows), width / count
    cells = []
    for top in range(0, len(rows), down):
        for x_start in range(0, count, across):
            part = [weight for row in rows[top : top + down] for weight in row[x_start : x_start + across]]
            weight = max(-1.0, min(1.0, sum(part) / len(part)))
            if abs(weight) >= 0.02:  # NaN is not
                bottom, right = min(top + down, len(rows)), min(x_start + across, count)
                box = (x_start * wide, top * tall, (right - x_start) * wide, (bottom - top) * tall)
                x, y, w, h = (round(coordinate, 2) for coordinate in box)
                cells.append(Cell(x, y, w, h, round(weight, 3)))
    return Heat(source, width, height, tuple(cells))
