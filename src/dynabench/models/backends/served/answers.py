"""Prompts of served models, and the conversion of endpoints' answers into outputs."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from dynabench.kit.errors import Invalid
from dynabench.models.backends.base import softmax
from dynabench.models.protocol import Inputs, ModelCard, ModelOutput
from dynabench.models.validity import Broken

_PLACE = re.compile(r"\{(\w+)\}")


def check_prompt(card: ModelCard, template: str, name: str = "options.prompt") -> None:
    """Raise `Invalid` for places that the card has nothing for, and for a template that no input enters."""
    placeholders = [*(field for field in card.inputs if field not in card.images), "labels"]
    places = _PLACE.findall(template)
    if strangers := sorted(set(places) - set(placeholders)):
        message = f"There is nothing for {_braced(strangers)}; there are {_braced(placeholders)}."
        raise Invalid({name: message})


def fill_prompt(template: str, card: ModelCard, inputs: Inputs) -> str:
    """The template with its places filled, in one pass: braces within an input stay what they are."""
    values: Mapping[str, str] = {**{name: str(inputs[name]) for name in card.inputs}, "labels": ", ".join(card.labels)}
    return _PLACE.sub(lambda place: values.get(place[1], place[0]), template)


def plain_prompt(card: ModelCard) -> str:
    """A template where none is given: the fields by name, and what is asked for."""
    fields = "\n".join(f"{name}: {{{name}}}" for name in card.inputs if name not in card.images)
    instruction = (
        "Answer with one of: {labels}." if card.returns == "label" else f"Answer with the {card.answer} alone."
    )
    return f"{fields}\n{instruction}"


def _braced(names: Iterable[str]) -> str:
    return ", ".join(f"{{{name}}}" for name in names)


def answer_schema(card: ModelCard) -> dict[str, Any]:
    """JSON Schema of an object with the answer, one of the labels or a text."""
    answer: dict[str, Any] = {"type": "string"}
    if card.returns == "label":
        answer["enum"] = list(card.labels)
    return object_schema({card.answer: answer})


def object_schema(fields: Mapping[str, Any]) -> dict[str, Any]:
    """JSON Schema of an object with exactly these fields, which have a schema each."""
    return {
        "type": "object",
        "properties": dict(fields),
        "required": list(fields),
        "additionalProperties": False,
    }


def read_structured(card: ModelCard, text: str) -> str:
    """The answer in a JSON object that follows the schema; raises `Broken`."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Broken(
            f"{card.name} wrote {_quoted(text)} instead of a JSON object; where its server has no `response_format`, "
            "say `answers: plain`."
        ) from error
    answer = document.get(card.answer) if isinstance(document, dict) and set(document) == {card.answer} else None
    if not isinstance(answer, str) or (card.returns == "label" and answer not in card.labels):
        raise Broken(f"{card.name} wrote {_quoted(text)}, which does not hold {card.answer!r} as it was asked to.")
    return answer


def read_option(card: ModelCard, text: str) -> str:
    """The label that a text is, but for case, quotes, and a full stop; raises `Broken` for anything more or less."""
    folded = text.strip().strip("\"'`*").removesuffix(".").strip().casefold()
    matches = [label for label in card.labels if label.casefold() == folded]
    if len(matches) != 1:
        raise Broken(f"{card.name} wrote {_quoted(text)}, which is none of the options {', '.join(card.labels)}.")
    return matches[0]


def read_written(card: ModelCard, text: str) -> ModelOutput:
    """Return a written text as an answer of this model."""
    extras = {"generated": text}
    return ModelOutput(
        {card.answer: read_option(card, text) if card.returns == "label" else text.strip()}, None, extras
    )


def _quoted(text: str) -> str:
    quoted = repr(text)
    return quoted if len(quoted) <= 120 else f"{quoted[:117]}..."


Scores = Literal["probabilities", "logits"]
"""What numbers for labels are."""
Names = Mapping[str, str]
"""Labels of the card by what the endpoint calls them, an index as its digits."""


def read_output(
    card: ModelCard, names: Names, inputs: Inputs, raw: Any, scores: Scores = "probabilities"
) -> ModelOutput:
    """One output from JSON.

    Labels: a text, an index, one number a label in order, `{label: number}`, `[{label, score}, ...]`,
    `{labels, scores}`. Spans: `{start, end}` with or without text, lists of them, or a text that stands in the last
    input. Texts: a text, or `{generated_text}`. Anything: `{<answer>: ..., probabilities: {...}}`.
    """
    if isinstance(raw, Mapping) and card.answer in raw and card.answer not in card.labels and "start" not in raw:
        return _whole(card, names, inputs, raw, scores)
    return _shaped(card, names, inputs, raw, scores)


def _shaped(card: ModelCard, names: Names, inputs: Inputs, raw: Any, scores: Scores) -> ModelOutput:
    if card.returns == "label":
        return _label(card, names, raw, scores)
    if card.returns == "text":
        return ModelOutput({card.answer: text_of(card, raw)})
    return ModelOutput({card.answer: _spans(card, names, inputs, raw)})


def label_of(card: ModelCard, names: Names, raw: Any) -> str:
    """The card's label that a text or an index means; raises `Broken`."""
    if isinstance(raw, str | int) and not isinstance(raw, bool):
        label = names.get(str(raw), raw)
        if label in card.labels:
            return str(label)
        if isinstance(label, int) and 0 <= label < len(card.labels) and not names:
            return card.labels[label]
    labels = ", ".join(card.labels)
    raise Broken(f"{card.name} answered {_short(raw)}, which is none of {labels}; `labels` may say what it means.")


def probability_table(
    card: ModelCard, names: Names, numbers: Mapping[Any, Any] | Sequence[Any], scores: Scores
) -> dict[str, float] | None:
    """Probabilities by label, from numbers by what the endpoint calls them or in its order of labels.

    None where not every label has one, as when only the likeliest are told. Raises `Broken` for what are no numbers.
    """
    pairs = numbers.items() if isinstance(numbers, Mapping) else enumerate(numbers)
    number_by_label: dict[str, float] = {}
    for name, value in pairs:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise Broken(f"{card.name} answered {_short(value)} where a number for {_short(name)} is needed.")
        mine = label_of(card, names, name)
        if mine in number_by_label:
            raise Broken(f"{card.name} answered two numbers for {mine!r}.")
        try:
            number_by_label[mine] = float(value)
        except OverflowError as error:
            raise Broken(f"{card.name} answered a number for {mine!r} that is too large.") from error
    if set(number_by_label) != set(card.labels):
        return None
    if scores == "logits":
        values = np.array([number_by_label[name] for name in card.labels])
        if not np.isfinite(values).all():
            raise Broken(f"{card.name} answered logits that are no finite numbers.")
        return dict(zip(card.labels, map(float, softmax(values)), strict=True))
    return {name: number_by_label[name] for name in card.labels}


def likeliest_label(
    card: ModelCard, names: Names, numbers: Mapping[Any, Any] | Sequence[Any], scores: Scores
) -> ModelOutput:
    """The likeliest label, the first of equals, with the probabilities if there is one for each."""
    probabilities = probability_table(card, names, numbers, scores)
    if probabilities is not None:
        return ModelOutput({card.answer: max(card.labels, key=probabilities.__getitem__)}, probabilities)
    pairs = list(numbers.items() if isinstance(numbers, Mapping) else enumerate(numbers))
    if not pairs:
        raise Broken(f"{card.name} answered with nothing.")
    return ModelOutput({card.answer: label_of(card, names, max(pairs, key=lambda pair: pair[1])[0])})


def _whole(card: ModelCard, names: Names, inputs: Inputs, raw: Mapping[str, Any], scores: Scores) -> ModelOutput:
    answer = _shaped(card, names, inputs, raw[card.answer], scores).answer
    numbers = raw.get("probabilities")
    if numbers is None or card.returns != "label":
        return ModelOutput(answer, numbers)
    if not isinstance(numbers, Mapping | list):
        raise Broken(f"{card.name} answered {_short(numbers)} as probabilities.")
    return ModelOutput(answer, probability_table(card, names, numbers, scores))


def _label(card: ModelCard, names: Names, raw: Any, scores: Scores) -> ModelOutput:
    if isinstance(raw, list) and len(raw) == 1 and isinstance(raw[0], list | str):
        raw = raw[0]  # one input of a batch
    if isinstance(raw, Mapping) and isinstance(raw.get("labels"), list) and isinstance(raw.get("scores"), list):
        return likeliest_label(card, names, _paired(card, raw["labels"], raw["scores"]), scores)
    if isinstance(raw, Mapping) and "label" in raw:
        raw = [raw]
    if isinstance(raw, list) and raw and all(isinstance(row, Mapping) for row in raw):
        numbers = [row.get("score", 1) for row in raw]
        return likeliest_label(card, names, _paired(card, [row.get("label") for row in raw], numbers), scores)
    if isinstance(raw, Mapping | list):
        return likeliest_label(card, names, raw, scores)
    return ModelOutput({card.answer: label_of(card, names, raw)})


def _paired(card: ModelCard, labels: list[Any], numbers: list[Any]) -> dict[Any, Any]:
    if len(labels) != len(numbers) or not all(isinstance(name, str | int) for name in labels):
        raise Broken(f"{card.name} answered {len(numbers)} scores for the labels {_short(labels)}.")
    if len(set(labels)) != len(labels):
        raise Broken(f"{card.name} answered two scores for one label.")
    return dict(zip(labels, numbers, strict=True))


def text_of(card: ModelCard, raw: Any) -> str:
    """A written text, alone or as generation pipelines return it; raises `Broken`."""
    if isinstance(raw, list) and len(raw) == 1:
        raw = raw[0]
    if isinstance(raw, Mapping):
        raw = raw.get("generated_text")
    if not isinstance(raw, str):
        raise Broken(f"{card.name} answered {_short(raw)} where a text is needed.")
    return raw


def _spans(card: ModelCard, names: Names, inputs: Inputs, raw: Any) -> list[dict[str, Any]]:
    passage = str(inputs[card.inputs[-1]])
    rows = raw if isinstance(raw, list) else [raw]
    return [_span(card, names, passage, row) for row in rows]


def _span(card: ModelCard, names: Names, passage: str, raw: Any) -> dict[str, Any]:
    if isinstance(raw, str):
        start = passage.find(raw)
        if start < 0:
            raise Broken(f"{card.name} answered {_short(raw)}, which does not stand in {card.inputs[-1]!r}.")
        raw = {"start": start, "end": start + len(raw)}
    if not isinstance(raw, Mapping) or not all(type(raw.get(end)) is int for end in ("start", "end")):
        raise Broken(f"{card.name} answered {_short(raw)} where a span {{start, end, text}} is needed.")
    start, end = raw["start"], raw["end"]
    if not 0 <= start <= end <= len(passage):
        raise Broken(f"{card.name} answered a span from {start} to {end} of {len(passage)} characters.")
    span = {"start": start, "end": end, "text": passage[start:end]}
    claimed_text = raw.get("text", raw.get("answer", span["text"]))
    if claimed_text != span["text"]:
        raise Broken(
            f"{card.name} answered {_short(claimed_text)} where {card.inputs[-1]!r} says {_short(span['text'])}."
        )
    if card.returns == "tags":
        span["label"] = label_of(card, names, raw.get("label", raw.get("entity_group", raw.get("entity"))))
    return span


def _short(value: Any) -> str:
    quoted = repr(value)
    return quoted if len(quoted) <= 80 else f"{quoted[:77]}..."
