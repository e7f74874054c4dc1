"""The form beside the editor of a config: one edit of the text at a time, and the form that the text makes."""

import json
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from dynabench.kit.errors import Invalid
from dynabench.kit.language import _
from dynabench.kit.schemas import StrictModel
from dynabench.rounds.config_review import ConfigProblem
from dynabench.tasks import editing, form_model
from dynabench.tasks.editing import ConfigEdit
from dynabench.tasks.form_parts import ConfigForm
from dynabench.tasks.reading import NO_PLACE

PathPart = Annotated[str, Field(max_length=60)] | Annotated[int, Field(ge=0, le=1000)]


class BuilderEdit(StrictModel):
    """An edit as the page sends it: a setting's `text`, a field's `type` for a new one, or the place `to` move to."""

    kind: Literal["set", "add", "move", "remove"]
    path: list[PathPart] = Field(min_length=1, max_length=6)
    text: str = Field("", max_length=100_000)
    type: str = Field("", max_length=60)
    to: int | None = Field(None, ge=0, le=1000)


@dataclass(frozen=True)
class BuilderResult:
    """The text after an edit; where it was refused the text before, with messages by dotted path."""

    text: str
    rewritten: bool = False
    errors: dict[str, str] = field(default_factory=dict)


def edit_config(text: str, posted: str) -> BuilderResult:
    """Apply an edit that the page has sent as JSON to a config's text."""
    try:
        edit = BuilderEdit.model_validate(json.loads(posted))
    except (ValueError, ValidationError, RecursionError):
        return BuilderResult(text, errors={"config": _("This request cannot be understood. Reload the page.")})
    path = tuple(edit.path)
    list_path = path if edit.kind == "add" else path[:-1]
    if edit.kind != "set" and not form_model.is_field_list(text, list_path):
        return BuilderResult(text, errors={"config": NO_PLACE})
    value: Any = None
    try:
        if edit.kind == "set":
            value = form_model.read_setting(text, path, edit.text)
        elif edit.kind == "add":
            value = form_model.new_field(text, edit.type)
        edited = editing.apply_edit(text, ConfigEdit(edit.kind, path, value, edit.to))
    except Invalid as problem:
        return BuilderResult(text, errors=problem.fields)
    return BuilderResult(edited.text, edited.rewritten)


def build_form(text: str, problems: list[ConfigProblem], refused: dict[str, str] | None = None) -> ConfigForm:
    """Return the form of a text with each problem at its place; `refused` are those of an edit that was refused."""
    return form_model.config_form(text, {problem.path: problem.message for problem in problems} | (refused or {}))
