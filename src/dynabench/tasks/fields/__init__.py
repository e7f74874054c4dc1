"""Field types: those that come with the platform, and those that other packages add.

A plug-in adds one by the hook `dynabench_fields` (`dynabench.hooks`): a subclass of `Field` that brings its templates
in the folder `<templates>/<type>/`.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, SerializeAsAny, WithJsonSchema

from dynabench import plugins
from dynabench.language import _
from dynabench.tasks.fields.audio import Audio
from dynabench.tasks.fields.base import PLACE, Field, FieldError, JsonSchema, Values
from dynabench.tasks.fields.chat import Chat
from dynabench.tasks.fields.choice import Choice, Option
from dynabench.tasks.fields.comment import Comment
from dynabench.tasks.fields.comparison import Comparison
from dynabench.tasks.fields.consent import Consent
from dynabench.tasks.fields.drawing import Drawing
from dynabench.tasks.fields.edit import Edit
from dynabench.tasks.fields.file import File
from dynabench.tasks.fields.group import Group, innermost
from dynabench.tasks.fields.image import Image
from dynabench.tasks.fields.image_region import ImageRegion
from dynabench.tasks.fields.labelled_spans import LabelledSpans
from dynabench.tasks.fields.media import MediaField
from dynabench.tasks.fields.multi_choice import MultiChoice
from dynabench.tasks.fields.number import Number
from dynabench.tasks.fields.options import Offering
from dynabench.tasks.fields.ranking import Ranking
from dynabench.tasks.fields.rating import Rating
from dynabench.tasks.fields.slider import Slider
from dynabench.tasks.fields.sliders import Sliders
from dynabench.tasks.fields.spans import Spans
from dynabench.tasks.fields.text import Text
from dynabench.tasks.fields.tree_choice import TreeChoice
from dynabench.tasks.fields.yes_no import YesNo
from dynabench.tasks.section import did_you_mean, refuse

__all__ = ["AnyField", "Choice", "Field", "FieldError", "JsonSchema", "Number", "Option", "Spans", "Text", "Values"]
__all__ += ["PLACE", "SHIPPED", "Comment", "Comparison", "Consent", "Edit", "Group", "LabelledSpans", "MultiChoice"]
__all__ += ["Offering", "Ranking", "Rating", "Slider", "Sliders", "TreeChoice", "YesNo", "build", "template_folders"]
__all__ += ["Audio", "Chat", "Drawing", "File", "Image", "ImageRegion", "MediaField", "innermost", "types"]

SHIPPED: tuple[type[Field], ...] = (
    *(Text, Choice, Spans, YesNo, Number),
    *(MultiChoice, TreeChoice, Slider, Sliders, Rating, Ranking, Consent, Comment, Edit),
    *(Group, LabelledSpans, Comparison, Chat),
    *(Image, ImageRegion, Audio, File, Drawing),
)
_named = plugins.classes(Field, "type")  # type: ignore[type-abstract]


def types() -> Mapping[str, type[Field]]:
    """All field types by name, ours first."""
    return plugins.gather("dynabench_fields", _named)


def template_folders() -> dict[str, Path]:
    """For each field type the folder that holds its `create.html`, `read.html` and `judge.html`."""
    return {name: field.templates / name for name, field in types().items()}


def build(raw: Any) -> Any:
    """The field that a mapping of the config describes, of the class that its type names."""
    if isinstance(raw, Field):
        return raw
    if not isinstance(raw, dict):
        raise ValueError(_("A field is a mapping with name and type."))
    kind = raw.get("type")
    if not isinstance(kind, str) or kind not in types():
        refuse(
            {
                "type": _("There is no field type “%(kind)s”.", kind=kind) + did_you_mean(kind, types())
                if kind
                else _("Name a type.")
            }
        )
    return types()[kind].model_validate(raw)


AnyField = Annotated[SerializeAsAny[Field], BeforeValidator(build), WithJsonSchema(PLACE)]
