"""Open Inference Protocol v2: what goes over the wire, both ways. Pure functions over JSON values.

Answers that are labels travel as text, with their probabilities as numbers. Where answers are anything else, as spans
are, each travels as JSON in a BYTES tensor whose parameters say `"content_type": "application/json"`; where the labels
differ from row to row, so do the probabilities: one JSON object from text to probability a row.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from dynabench.kit.errors import Invalid
from dynabench.models.protocol import Attribution, ModelCard, ModelOutput, WordWeight

ROWS = 256
"""Inputs of one request at most."""
UNLOADED = "unloaded"
"""The reason for which a model is out of service after an operator has unloaded it."""
PROBABILITIES, EXTRAS = "probabilities", "extras"
JSON = {"content_type": "application/json"}
"""Parameters of a BYTES tensor that holds a JSON value a row."""

Json = dict[str, Any]


def metadata(card: ModelCard, versions: Sequence[str]) -> Json:
    """Model metadata; what the protocol has no place for stands under `parameters`."""
    return {
        "name": card.name,
        "versions": list(versions),
        "platform": f"dynabench_{card.kind}",
        "inputs": [{"name": name, "datatype": "BYTES", "shape": [-1]} for name in card.inputs],
        "outputs": _promised(card),
        "parameters": card_json(card),
    }


def _promised(card: ModelCard) -> list[Json]:
    if card.returns != "label":
        return [
            {"name": name, "datatype": "BYTES", "shape": [-1], "parameters": JSON}
            for name in (card.answer, PROBABILITIES)
        ]
    return [
        {"name": card.answer, "datatype": "BYTES", "shape": [-1]},
        {"name": PROBABILITIES, "datatype": "FP32", "shape": [-1, len(card.labels)]},
    ]


def card_json(card: ModelCard) -> Json:
    """A card as JSON."""
    values = {member.name: getattr(card, member.name) for member in fields(ModelCard)}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}


def card_of(raw: Mapping[str, Any]) -> ModelCard:
    """The card that `card_json` wrote; missing members take their defaults."""
    members: dict[str, Any] = {"version": "", "task": "", "kind": "", "inputs": [], "answer": ""}
    members |= {member.name: raw[member.name] for member in fields(ModelCard) if member.name in raw}
    if not members.get("labels"):
        members.setdefault("returns", "spans")
    for name, value in members.items():
        members[name] = tuple(value) if isinstance(value, list) else value
    return ModelCard(**members)


def request(inputs: Sequence[Mapping[str, Any]], names: Sequence[str]) -> Json:
    """An inference request: one BYTES tensor per field."""
    return {
        "inputs": [
            {"name": name, "datatype": "BYTES", "shape": [len(inputs)], "data": [str(row[name]) for row in inputs]}
            for name in names
        ]
    }


def rows(body: Any) -> list[dict[str, str]]:
    """The inputs of an inference request, one dictionary a row; raises `Invalid`."""
    tensors = body.get("inputs") if isinstance(body, dict) else None
    if not isinstance(tensors, list) or not tensors:
        raise Invalid({"inputs": "A list of tensors is needed."})
    columns: dict[str, list[str]] = {}
    for tensor in tensors:
        name = tensor.get("name") if isinstance(tensor, dict) else None
        if not isinstance(name, str):
            raise Invalid({"inputs": "Every tensor needs a name."})
        columns[name] = _texts(name, tensor)
    counts = {len(column) for column in columns.values()}
    if len(counts) != 1 or not 1 <= max(counts) <= ROWS:
        raise Invalid({"inputs": f"All tensors must have the same length, from 1 to {ROWS}."})
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _texts(name: str, tensor: Mapping[str, Any]) -> list[str]:
    data, shape = tensor.get("data"), tensor.get("shape")
    if tensor.get("datatype") != "BYTES":
        raise Invalid({name: "Only BYTES tensors (UTF-8 text) are read here."})
    if not isinstance(data, list) or not all(isinstance(value, str) for value in data):
        raise Invalid({name: "The data must be a list of texts."})
    if not isinstance(shape, list) or not shape or shape[0] != len(data) or any(size != 1 for size in shape[1:]):
        raise Invalid({name: f"The shape must be [{len(data)}] or [{len(data)}, 1]."})
    return data


def response(card: ModelCard, outputs: Sequence[ModelOutput], identity: Any = None) -> Json:
    """An inference response: the answers, the probabilities where all outputs have them, extras where any has some."""
    tensors = [_answers(card, [output.answer[card.answer] for output in outputs])]
    tables = [output.probabilities for output in outputs if output.probabilities is not None]
    if len(tables) == len(outputs):
        tensors.append(_probabilities(card, tables))
    if any(output.extras for output in outputs):
        tensors.append(_documents(EXTRAS, [output.extras for output in outputs]))
    document = {"model_name": card.name, "model_version": card.version, "outputs": tensors}
    return document if identity is None else {**document, "id": str(identity)}


def _answers(card: ModelCard, values: Sequence[Any]) -> Json:
    if all(isinstance(value, str) for value in values):
        return {"name": card.answer, "datatype": "BYTES", "shape": [len(values)], "data": list(values)}
    return _documents(card.answer, values)


def _probabilities(card: ModelCard, tables: Sequence[Mapping[str, float]]) -> Json:
    if card.returns != "label":
        return _documents(PROBABILITIES, tables)
    return {
        "name": PROBABILITIES,
        "datatype": "FP32",
        "shape": [len(tables), len(card.labels)],
        "parameters": {"labels": list(card.labels)},
        "data": [probabilities[label] for probabilities in tables for label in card.labels],
    }


def _documents(name: str, values: Sequence[Any]) -> Json:
    """A tensor with a JSON value a row."""
    data = [json.dumps(value, ensure_ascii=False, separators=(",", ":")) for value in values]
    return {"name": name, "datatype": "BYTES", "shape": [len(data)], "parameters": JSON, "data": data}


def outputs(document: Mapping[str, Any]) -> list[ModelOutput]:
    """The outputs of an inference response; raises KeyError, TypeError or ValueError when it is malformed."""
    answers: dict[str, list[Any]] = {}
    tables: list[dict[str, float]] = []
    extras: list[dict[str, Any]] = []
    for tensor in document["outputs"]:
        if tensor["name"] == PROBABILITIES:
            tables = _tables(tensor)
        elif tensor["name"] == EXTRAS:
            extras = [_object(value) for value in _read(tensor)]
        else:
            answers[tensor["name"]] = _read(tensor)
    count = len(next(iter(answers.values())))
    if tables and len(tables) != count:
        raise ValueError(f"{count} answers with {len(tables)} rows of probabilities")
    if extras and len(extras) != count:
        raise ValueError(f"{count} answers with {len(extras)} rows of extras")
    return [
        ModelOutput(
            {name: column[row] for name, column in answers.items()},
            tables[row] if tables else None,
            extras[row] if extras else {},
        )
        for row in range(count)
    ]


def _tables(tensor: Mapping[str, Any]) -> list[dict[str, float]]:
    if is_json(tensor):
        return [{str(text): float(p) for text, p in row.items()} for row in map(_object, _read(tensor))]
    labels, data = tensor["parameters"]["labels"], tensor["data"]
    return [
        dict(zip(labels, map(float, data[start : start + len(labels)]), strict=True))
        for start in range(0, len(data), len(labels))
    ]


def _read(tensor: Mapping[str, Any]) -> list[Any]:
    data: list[Any] = tensor["data"]
    return [json.loads(text) for text in data] if is_json(tensor) else data


def is_json(tensor: Mapping[str, Any]) -> bool:
    """Return whether each value of a tensor is a JSON document."""
    parameters = tensor.get("parameters")
    return isinstance(parameters, dict) and parameters.get("content_type") == JSON["content_type"]


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise TypeError("an object is needed for each row")
    return value


def attribution_json(attribution: Attribution, version: str) -> Json:
    """An attribution as JSON, with the version that was explained."""
    return {
        "model_version": version,
        "method": attribution.method,
        "label": attribution.label,
        "fields": {
            name: [{"text": w.text, "start": w.start, "end": w.end, "weight": round(w.weight, 4)} for w in words]
            for name, words in attribution.fields.items()
        },
        "maps": {name: [[round(cell, 4) for cell in row] for row in rows] for name, rows in attribution.maps.items()},
        "completeness_error": attribution.completeness_error,
        "cut_short": attribution.cut_short,
    }


def attribution_of(raw: Mapping[str, Any]) -> Attribution:
    """The attribution that `attribution_json` wrote; raises KeyError, TypeError or ValueError when malformed."""
    error = raw["completeness_error"]
    return Attribution(
        str(raw["method"]),
        str(raw["label"]),
        {
            name: [WordWeight(w["text"], int(w["start"]), int(w["end"]), float(w["weight"])) for w in words]
            for name, words in raw["fields"].items()
        },
        None if error is None else float(error),
        bool(raw.get("cut_short", False)),
        maps={str(name): [[float(cell) for cell in row] for row in rows] for name, rows in raw.get("maps", {}).items()},
    )
