"""The mapping of a task's fields and labels to those of an endpoint, between a form and a model's options.

A form has `inputs.<field>` and `labels.<label>` with the endpoint's names, `output`, `holds` and `columns`.
"""

from collections.abc import Mapping
from typing import Any, get_args

from dynabench.kit.language import _
from dynabench.models import kinds
from dynabench.models.backends.served.inference_servers import Holds
from dynabench.models.starting import described
from dynabench.tasks import TaskConfig

RENAMING = ("tensors", "fields")
"""Options that say what an endpoint calls our fields; a protocol has one of them or none."""
MAPPED = ("output", "holds", "columns", "labels", *RENAMING)
CONTENTS = get_args(Holds)
LABELS = 24
"""Labels that a form can map."""
LONGEST = 200


def input_names(config: TaskConfig) -> list[str]:
    """The fields of a task that a served model reads."""
    return list(described.facts("model", config, "oip", {})["inputs"])


def label_names(config: TaskConfig) -> list[str]:
    """The labels of a task that a form maps; none where there are too many, or where answers are no labels."""
    labels = list(described.facts("model", config, "oip", {}).get("labels", ()))
    return labels if len(labels) <= LABELS else []


def options_of(protocol: str) -> frozenset[str]:
    """The options that models of a protocol have; none of an unknown one."""
    return frozenset(kinds.kind(protocol).schema().model_fields) if protocol in kinds.kinds() else frozenset()


def mapping_options(
    protocol: str, config: TaskConfig, fields: Mapping[str, Any], wrong: dict[str, str]
) -> dict[str, Any]:
    """Return the options that the `fields` of a form or request say; invalid ones go to `wrong`."""
    option_names = options_of(protocol)
    options: dict[str, Any] = {}
    for option in RENAMING:
        if option in option_names:
            their_names = _their_names(fields, "inputs", input_names(config), wrong)
            options[option] = {name: theirs for name, theirs in their_names.items() if theirs != name}
    their_labels = _their_names(fields, "labels", label_names(config), wrong)
    options["labels"] = {theirs: label for label, theirs in their_labels.items() if theirs != label}
    options["output"] = str(fields.get("output") or "").strip()[:LONGEST]
    if holds := str(fields.get("holds") or ""):
        options["holds"] = holds
        if holds not in CONTENTS:
            wrong["holds"] = _("Choose one of %(contents)s.", contents=", ".join(CONTENTS))
    options["columns"] = fields.get("columns") in (True, "true")
    return {name: value for name, value in options.items() if value}


def _their_names(fields: Mapping[str, Any], group: str, ours: list[str], wrong: dict[str, str]) -> dict[str, str]:
    names = fields.get(group) or {}
    values = {name: str(text).strip()[:LONGEST] for name, text in names.items() if str(text).strip()}
    for name in values:
        if name not in ours:
            wrong[f"{group}.{name}"] = _("The task has no such field.")
    effective = {name: values.get(name, name) for name in ours}
    seen: set[str] = set()
    for name, theirs in effective.items():
        if theirs in seen:
            wrong[f"{group}.{name}"] = _("Give each name once.")
        seen.add(theirs)
    return {name: theirs for name, theirs in values.items() if name in ours}


def form_values(config: TaskConfig, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a form shows of a model's options: the reverse of `mapping_options`."""
    renamed: Mapping[str, str] = next((options[option] for option in RENAMING if option in options), {})
    their_labels = {ours: theirs for theirs, ours in options.get("labels", {}).items()}
    return {
        "inputs": {name: renamed.get(name, name) for name in input_names(config)},
        "labels": {name: their_labels.get(name, name) for name in label_names(config)},
        "output": options.get("output", ""),
        "holds": options.get("holds", ""),
        "columns": bool(options.get("columns")),
    }
