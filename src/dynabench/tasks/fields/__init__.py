"""Field types: those that come with the platform, and those that other packages add.

A plug-in adds one by the hook `dynabench_fields` (`dynabench.kit.hooks`): a subclass of `Field` that brings its
templates in the folder `<templates>/<type>/`.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, SerializeAsAny, WithJsonSchema

from dynabench.kit import plugins
from dynabench.kit.language import _
from dynabench.tasks.fields.base import ANY_FIELD_SCHEMA, Field, FieldError, JsonSchema, Values
from dynabench.tasks.fields.chat import Chat
from dynabench.tasks.fields.choice import Choice, MultiChoice, Option, OptionsField, RankingField, TreeChoice
from dynabench.tasks.fields.comparison import ComparisonField
from dynabench.tasks.fields.group import Group, innermost
from dynabench.tasks.fields.image_region import ImageRegion
from dynabench.tasks.fields.media import Audio, Drawing, FileField, Image, MediaField
from dynabench.tasks.fields.number import Number, Rating, Slider, Sliders
from dynabench.tasks.fields.spans import LabelledSpans, Spans
from dynabench.tasks.fields.text import Comment, EditField, Text
from dynabench.tasks.fields.yes_no import Consent, YesNo
from dynabench.tasks.section import did_you_mean, refuse_keys

__all__ = ["AnyField", "Choice", "Field", "FieldError", "JsonSchema", "Number", "Option", "Spans", "Text", "Values"]
__all__ += [
    "ANY_FIELD_SCHEMA",
    "SHIPPED",
    "Comment",
    "ComparisonField",
    "Consent",
    "EditField",
    "Group",
    "LabelledSpans",
    "MultiChoice",
]
__all__ += [
    "OptionsField",
    "RankingField",
    "Rating",
    "Slider",
    "Sliders",
    "TreeChoice",
    "YesNo",
    "build_field",
    "template_folders",
]
__all__ += ["Audio", "Chat", "Drawing", "FileField", "Image", "ImageRegion", "MediaField", "innermost", "types"]

SHIPPED: tuple[type[Field], ...] = (
    *(Text, Choice, Spans, YesNo, Number),
    *(MultiChoice, TreeChoice, Slider, Sliders, Rating, RankingField, Consent, Comment, EditField),
    *(Group, LabelledSpans, ComparisonField, Chat),
    *(Image, ImageRegion, Audio, FileField, Drawing),
)
_named = plugins.classes(Field, "type")  # type: ignore[type-abstract]


def types() -> Mapping[str, type[Field]]:
    """Return all field types by name, those of the platform first."""
    return plugins.gather("dynabench_fields", _named)


def template_folders() -> dict[str, Path]:
    """Return for each field type the folder with its `create.html`, `read.html` and `judge.html`."""
    return {name: field.templates / name for name, field in types().items()}


def build_field(raw: Any) -> Any:
    """Return the field that a mapping of the config describes, of the class of its type.

    Raises ValueError for anything but a mapping with a known type.
    """
    if isinstance(raw, Field):
        return raw
    if not isinstance(raw, dict):
        raise ValueError(_("A field is a mapping with name and type."))
    kind = raw.get("type")
    if not isinstance(kind, str) or kind not in types():
        refuse_keys(
            {
                "type": _("There is no field type “%(kind)s”.", kind=kind) + did_you_mean(kind, types())
                if kind
                else _("Give a type.")
            }
        )
    return types()[kind].model_validate(raw)


AnyField = Annotated[SerializeAsAny[Field], BeforeValidator(build_field), WithJsonSchema(ANY_FIELD_SCHEMA)]
