"""Field types: those that come with the platform, and those that other packages add.

A package adds one with an entry point in the group `dynabench.fields` that names a subclass of `Field`; the class
brings its templates in the folder `templates/<type>/`.
"""

from functools import lru_cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, SerializeAsAny, WithJsonSchema

from dynabench.tasks.fields.base import Field, FieldError, JsonSchema, Values
from dynabench.tasks.fields.chat import Chat
from dynabench.tasks.fields.choice import Choice, Option
from dynabench.tasks.fields.number import Number
from dynabench.tasks.fields.spans import Spans
from dynabench.tasks.fields.text import Text
from dynabench.tasks.fields.yes_no import YesNo
from dynabench.tasks.section import did_you_mean, refuse

__all__ = [
    "AnyField",
    "Chat",
    "Choice",
    "Field",
    "FieldError",
    "JsonSchema",
    "Number",
    "Option",
    "Spans",
    "Text",
    "Values",
]
__all__ += ["YesNo", "template_folders", "types"]


@lru_cache
def types() -> dict[str, type[Field]]:
    """All field types by name; a plug-in may not replace one of ours."""
    found: dict[str, type[Field]] = {}
    for entry in entry_points(group="dynabench.fields"):
        found[entry.name] = entry.load()
    ours: tuple[type[Field], ...] = (Text, Choice, Spans, YesNo, Number, Chat)
    return found | {field.model_fields["type"].default: field for field in ours}


def template_folders() -> dict[str, Path]:
    """For each field type the folder that holds its `create.html`, `read.html` and `judge.html`."""
    return {name: field.templates / name for name, field in types().items()}


def _build(raw: Any) -> Any:
    if isinstance(raw, Field):
        return raw
    if not isinstance(raw, dict):
        raise ValueError("A field is a mapping with name and type.")
    kind = raw.get("type")
    if not isinstance(kind, str) or kind not in types():
        refuse({"type": f"There is no field type “{kind}”." + did_you_mean(kind, types()) if kind else "Name a type."})
    return types()[kind].model_validate(raw)


PLACE: JsonSchema = {"$comment": "any field type"}  # `schema.py` puts a reference here
AnyField = Annotated[SerializeAsAny[Field], BeforeValidator(_build), WithJsonSchema(PLACE)]
