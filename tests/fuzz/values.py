"""Random values of a config's fields: some that the fields hold, and some that they refuse."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

import jsonschema

from dynabench.tasks.fields import (
    Choice,
    ComparisonField,
    EditField,
    Field,
    Group,
    Image,
    ImageRegion,
    LabelledSpans,
    MultiChoice,
    Number,
    RankingField,
    Rating,
    Slider,
    Sliders,
    Spans,
    Text,
    YesNo,
)
from dynabench.tasks.fields.spans import words_of
from tests.fuzz.fields import WORDS

Values = Mapping[str, Any]
JUNK: list[Any] = [{"no": 1}, [{"no": 1}], ["such", "thing"], True, -7.25, 10**20, "\u0007", "no such", "x" * 200_000]


class Store:
    """The references of files that are there, by kind of field."""

    def __init__(self, image: Values, audio: Values, file: Values) -> None:
        self.by_type = {"image": image, "audio": audio, "file": file}


def valid(rng: Random, fields: Sequence[Field], store: Store, beside: Values) -> dict[str, Any]:
    """A value for each field, in order; `beside` is what fields may refer to."""
    result: dict[str, Any] = {}
    for field in fields:
        if field.required or rng.random() < 0.7:
            result[field.name] = value(rng, field, store, {**beside, **result})
    return result


def value(rng: Random, field: Field, store: Store, beside: Values) -> Any:
    """Something that the field holds."""
    if isinstance(field, EditField):
        return _text(rng, field, f"{beside.get(field.of, '')[:40]} and more")
    for kind, make in _MAKERS:
        if isinstance(field, kind):
            return make(rng, field, beside)
    if isinstance(field, Image) and field.choose_from:
        return dict(beside[rng.choice(field.choose_from)])
    if field.type in store.by_type:
        return dict(store.by_type[field.type])
    if isinstance(field, Group):
        rows = [valid(rng, field.fields, store, beside) for _ in range(rng.randint(field.at_least, field.repeat or 1))]
        return rows if field.repeat else rows[0]
    return {"consent": lambda: True, "chat": lambda: _chat(rng, field)}[field.type]()


def _text(rng: Random, field: Text, start: str = "") -> str:
    text = start or rng.choice(WORDS)
    while len(text) < field.min_length + 3:
        text += " " + rng.choice(WORDS)
    for _ in range(rng.randint(0, 6)):
        text += rng.choice([" ", ", ", "\n" if field.multiline else " — "]) + rng.choice(WORDS)
    return text[: field.max_length].strip()


def _number(rng: Random, field: Number) -> int | float:
    low, high = max(field.min, -1e6), min(field.max, 1e6)
    if isinstance(field, Rating):
        return rng.choice(field.marks)
    if isinstance(field, Slider):
        steps = int((field.max - field.min) / field.step + 1e-9)
        return field.check(field.min + rng.randint(0, steps) * field.step, {})  # as it is stored
    number = rng.uniform(low, high)
    whole = -(-low // 1) if number // 1 < low else number // 1
    return int(whole) if field.integer else round(number, 3) if low <= round(number, 3) <= high else low


def _spans(rng: Random, field: Spans | LabelledSpans, beside: Values) -> list[dict[str, Any]]:
    text = str(beside.get(field.of, ""))
    words = words_of(text)
    first = rng.randrange(len(words))
    last = rng.randrange(first, min(first + 3, len(words)))
    span: dict[str, Any] = {"start": words[first]["start"], "end": words[last]["end"]}
    return [span | ({"label": rng.choice(field.labels).value} if isinstance(field, LabelledSpans) else {})]


def _region(rng: Random, field: ImageRegion) -> list[dict[str, Any]]:
    place = {"x": rng.randint(0, 10), "y": rng.randint(0, 10), "width": rng.randint(1, 5), "height": rng.randint(1, 5)}
    region: dict[str, Any] = {part: place[part] for part in field.parts}
    return [region | ({"label": rng.choice(field.labels)} if field.labels else {})]


def _yes_no(rng: Random, field: YesNo) -> Any:
    flag = rng.random() < 0.5
    if field.reason == "never":
        return flag
    return {"value": flag} | ({"reason": "So it is."} if field.reason == "required" or rng.random() < 0.5 else {})


def _multi(rng: Random, field: MultiChoice) -> list[str]:
    return rng.sample(field.values, rng.randint(field.min, field.most))


def _chat(rng: Random, field: Any) -> dict[str, Any]:
    reply = {"text": "I think so.", "rating": rng.randint(1, field.rate) if field.rate else None}
    turn = {"said": "Is it so?", "replies": [reply, reply], "choice": rng.choice(["A", "B"]), "continued": 0}
    return {"turns": [turn] * rng.randint(field.min_turns, field.max_turns)}


_MAKERS: list[tuple[type[Field], Any]] = [
    (Text, lambda rng, field, beside: _text(rng, field)),
    (Number, lambda rng, field, beside: _number(rng, field)),
    (Sliders, lambda rng, field, beside: {item: _number(rng, field.scale) for item in field.values}),
    (MultiChoice, lambda rng, field, beside: _multi(rng, field)),
    (RankingField, lambda rng, field, beside: rng.sample(field.values, len(field.values))),
    (Choice, lambda rng, field, beside: rng.choice(field.values)),
    (YesNo, lambda rng, field, beside: _yes_no(rng, field)),
    (Spans, lambda rng, field, beside: _spans(rng, field, beside)),
    (LabelledSpans, lambda rng, field, beside: _spans(rng, field, beside)),
    (ImageRegion, lambda rng, field, beside: _region(rng, field)),
    (ComparisonField, lambda rng, field, beside: {"choice": rng.choice(field.values)}),
]


def invalid(rng: Random, field: Field) -> Any:
    """Something that the field's schema refuses."""
    schema = jsonschema.Draft202012Validator(field.json_schema())
    return rng.choice([item for item in JUNK if not schema.is_valid(item)])
