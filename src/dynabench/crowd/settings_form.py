"""The form of a provider's settings, made from its settings model, and the values that a browser posts of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import UnionType
from typing import Any, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from dynabench.kit.schemas import StrictModel

LONGEST_VALUE = 2000


class InputKind(StrEnum):
    """The kinds of inputs in the form of a study."""

    TEXT = "text"
    NUMBER = "number"
    SWITCH = "switch"
    BY_KEY = "by_key"


@dataclass(frozen=True)
class ProviderInput:
    """One input: its dotted `name` in the form, label, help text and kind. Values of `by_key` have an input each."""

    name: str
    label: str
    help: str
    kind: InputKind
    keys: tuple[str, ...] = ()


def setting_inputs(model: type[StrictModel]) -> list[ProviderInput]:
    """Return the inputs of a settings model, in the order of its fields.

    Labels and help are the fields' `title` and `description`. Texts, numbers, switches and mappings from an enum are
    known; a provider that needs more brings its own page.
    """
    return [_input(name, field) for name, field in model.model_fields.items()]


def _input(name: str, field: FieldInfo) -> ProviderInput:
    annotation = _without_none(field.annotation)
    label, help_text = field.title or name.replace("_", " ").capitalize(), field.description or ""
    if get_origin(annotation) is dict:
        key_type = get_args(annotation)[0]
        return ProviderInput(
            f"settings.{name}", label, help_text, InputKind.BY_KEY, tuple(key.value for key in key_type)
        )
    kind = (
        InputKind.SWITCH if annotation is bool else InputKind.NUMBER if annotation in (int, float) else InputKind.TEXT
    )
    return ProviderInput(f"settings.{name}", label, help_text, kind)


def _without_none(annotation: Any) -> Any:
    if get_origin(annotation) in (Union, UnionType):
        kinds = [kind for kind in get_args(annotation) if kind is not type(None)]
        return kinds[0] if len(kinds) == 1 else str
    return annotation


def read_settings(model: type[StrictModel], form: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that a form posts, to be checked by the model; empty inputs are left to its defaults."""
    values: dict[str, Any] = {}
    for entry in setting_inputs(model):
        key = entry.name.removeprefix("settings.")
        if entry.kind is InputKind.SWITCH:
            values[key] = form.get(entry.name) == "true"
        elif entry.kind is InputKind.BY_KEY:
            texts = {part: str(form.get(f"{entry.name}.{part}", "")).strip()[:LONGEST_VALUE] for part in entry.keys}
            values[key] = {part: text for part, text in texts.items() if text}
        elif text := str(form.get(entry.name, "")).strip()[:LONGEST_VALUE]:
            values[key] = text
    return values
