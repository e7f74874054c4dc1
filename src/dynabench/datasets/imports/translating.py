"""A foreign row, by a mapping, as a row of ours; the task's own rule says whether its models were fooled."""

import ast
import hashlib
import json
from typing import Any

from dynabench.datasets.imports.squad import spans_field
from dynabench.intake.mapping import ColumnMapping, ColumnSource, PredictionColumns, VoteColumns, translate_value
from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.tasks import TaskConfig
from dynabench.tasks.fields import Choice, Field, Text
from dynabench.tasks.rules.base import ensemble_fooled

UNASKED = "no-target"  # the arm of examples that come without any model's answer


class Passed(Exception):
    """A row that its mapping says to leave out."""


def translate(values: dict[str, Any], mapping: ColumnMapping, config: TaskConfig, source: str) -> dict[str, Any]:
    """The document of a `rows.Row`. `source` names the file: people are told apart within it.

    Raises `Passed` for a row to skip, and `Invalid`.
    """
    for column, some in mapping.skip.items():
        if str(values.get(column, "")) in some:
            raise Passed(
                _(
                    "Left out by the mapping: %(column)s is %(column2)s.",
                    column=column,
                    column2=repr(values.get(column)),
                )
            )
    made = _fields(values, mapping, config)
    made["predictions"] = [said for each in mapping.predictions if (said := _said(values, each, config))]
    made["validations"] = [vote for each in mapping.votes for vote in _votes(values, each, config, source)]
    return complete(made, config, source)


def complete(made: dict[str, Any], config: TaskConfig, source: str) -> dict[str, Any]:
    """Return the document with the members that follow from the others.

    These are: which models were fooled, whether votes agree with the claim, a uid, a pseudonym.
    The uid of a row without one comes from its contents, so that the same file imports nothing twice.
    """
    context, given, answer = made["context"]["values"], made["input"], made["answer"]
    clean = config.clean_answer(answer, context=context, input=given)
    inputs = config.model_inputs(context, given)
    judged = config.fooled.judged_by is not None
    for said in made["predictions"]:
        fooled = config.fooled_by(said["answer"], clean, inputs, said.get("probabilities"))
        said["fooled"] = None if judged else fooled
    for vote in made["validations"]:
        if vote.get("blind_answer") is not None:
            blind = config.clean_answer(vote["blind_answer"], context=context, input=given)
            vote["vote"] = "correct" if config.agrees(blind, clean, inputs) else "incorrect"
    flags = [said["fooled"] for said in made["predictions"]]
    targets = [{"model": said["model"], "version": said["version"]} for said in made["predictions"]]
    made["fooled"] = ensemble_fooled("any", flags) if flags else None
    made["condition"] = {"arm": "" if flags else UNASKED, "targets": targets, "share": None if flags else 1}
    made["author"] = f"{source} {made['author']}" if made.get("author") else source
    if not made.get("uid"):
        text = json.dumps([config.id, context, given, answer], sort_keys=True, ensure_ascii=False, default=str)
        made["uid"] = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return made


def context_of(values: dict[str, Any], mapping: ColumnMapping, config: TaskConfig) -> tuple[dict[str, Any], str]:
    """The context in a row, and its tag."""
    made = _fields(values, mapping, config)
    return made["context"]["values"], made["context"]["tag"]


def _fields(values: dict[str, Any], mapping: ColumnMapping, config: TaskConfig) -> dict[str, Any]:
    made: dict[str, Any] = {"context": {"values": {}, "tag": ""}, "input": {}, "answer": {}}
    said: dict[str, Any] = {}
    for target, source in mapping.fields.items():
        value = source.read(values)
        if value is None:
            continue
        group, _, name = target.partition(".")
        if not name:
            _single(made, target, value, source)
            continue
        held = field_of(config, group, name)
        if held is None:
            continue
        value = cleaned(translate_value(value, source.values, _options(held)), held)
        if value is not None and value != "":
            place = made["context"]["values"] if group == "context" else said if group == "explanation" else None
            (made.setdefault(group, {}) if place is None else place)[held.name] = value
    if said:
        made["explanation"] = {"values": said}
    return made


def _single(made: dict[str, Any], name: str, value: Any, source: ColumnSource) -> None:
    value = translate_value(value, source.values, [])
    if value in (None, ""):
        return
    if name == "tag":
        made["context"]["tag"] = "".join(one for one in str(value)[:100] if one.isprintable())
    elif name in ("round", "edit_distance", "attempt", "seconds"):
        try:
            made[name] = float(value) if name == "seconds" else int(value)
        except (TypeError, ValueError):
            raise errors.Invalid(
                {name: _("%(value)s is no number; map its values.", value=repr(str(value)[:60]))}
            ) from None
    else:
        made[name] = f"{source.prefix}{value}"


def field_of(config: TaskConfig, group: str, name: str) -> Field | None:
    """A field by its name, or by its place from 1; None for an explanation that the task does not ask for."""
    fields = config.fields("ask" if group == "explanation" else "input" if group == "initial" else group)
    for place, field in enumerate(fields, start=1):
        if name in (field.name, str(place)):
            return field
    if group == "explanation":
        return None
    raise errors.Invalid(
        {f"{group}.{name}": _("The task has no such field under %(group)s. Map to another.", group=group)}
    )


def cleaned(value: Any, field: Field) -> Any:
    """A value with the type that the field wants, where a table's text says it plainly."""
    if isinstance(field, Text | Choice):
        return value if isinstance(value, str) else json.dumps(value) if isinstance(value, dict | list) else str(value)
    return field.from_text(value) if isinstance(value, str) else value


def _options(field: Field) -> list[str]:
    return list(field.values) if isinstance(field, Choice) else []


def _answer(values: dict[str, Any], wanted: dict[str, ColumnSource], config: TaskConfig) -> dict[str, Any]:
    """A model's answer by field; a name that is no field stands for the first one, as in files of other tasks."""
    found: dict[str, Any] = {}
    for name, source in wanted.items():
        field = next((one for one in config.answer if one.name == name), config.answer[0])
        value = source.read(values)
        if value is not None:
            found[field.name] = cleaned(translate_value(value, source.values, _options(field)), field)
    return found


def _said(values: dict[str, Any], said: PredictionColumns, config: TaskConfig) -> dict[str, Any] | None:
    answer = _answer(values, said.answer, config)
    if not answer:
        return None
    probabilities = _object(said.probabilities.read(values)) if said.probabilities else None
    return {"model": said.model, "version": said.version, "answer": answer, "probabilities": probabilities}


def _object(value: Any) -> Any:
    """A list or an object that a table holds as text, in JSON or as Python prints it (read, never run)."""
    if not isinstance(value, str):
        return value
    for read in (json.loads, ast.literal_eval):
        try:
            return read(value)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
    return None


def _votes(values: dict[str, Any], votes: VoteColumns, config: TaskConfig, source: str) -> list[dict[str, Any]]:
    raw = _object(ColumnSource(column=votes.column).read(values))
    field = spans_field(config) or config.answer[0]
    cast: list[tuple[str, Any]] = []
    if votes.kind == "labels" and isinstance(raw, list):
        cast = [(f"{source} validator {place}", label) for place, label in enumerate(raw, start=1)]
    elif isinstance(raw, dict):
        for label, who in raw.items():
            several = [str(one) for one in who] if isinstance(who, list) else []
            if isinstance(who, int) and votes.kind == "counts":
                several = [f"validator {len(cast) + place}" for place in range(1, min(who, 100) + 1)]
            cast += [(f"{source} {one}", label) for one in several]
    return [
        {"validator": who[:200], "blind_answer": {field.name: translate_value(label, votes.values, _options(field))},
         "blind": True, "vote": "correct"}
        for who, label in cast
    ]  # fmt: skip
