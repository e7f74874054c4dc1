"""A value from the address by which an annotator arrives, such as a worker's id on a crowd platform."""

from functools import lru_cache
from typing import Annotated, ClassVar, Literal

from pydantic import StringConstraints, TypeAdapter, ValidationError, field_validator
from pydantic_core import SchemaError

from dynabench.kit.language import _
from dynabench.tasks.fields.base import Field, FieldError, JsonSchema, Values
from dynabench.tasks.section import Setting


class Hidden(Field):
    """Text from the address of the create page; shown to the task's owners only, and not given to models."""

    type: Literal["hidden"] = "hidden"
    parameter: str = Setting(
        "", pattern=r"^[A-Za-z0-9_.-]{0,60}$", description="What the address calls it; the name when absent."
    )
    max_length: int = Setting(100, ge=1, le=500, description="Most characters.")
    pattern: str = Setting("", max_length=200, description="Regular expression that the whole value must match.")
    required: bool = Setting(False, description="Nobody writes who arrives without it.")

    missing: ClassVar[str] = _("Open this page with the link you were given: the address is incomplete.")

    @field_validator("pattern")
    @classmethod
    def _is_expression(cls, pattern: str) -> str:
        try:
            _matcher(pattern)
        except SchemaError:
            raise ValueError(
                _("This is not a regular expression, or it uses look-around or back-references.")
            ) from None
        return pattern

    @property
    def key(self) -> str:
        """The name of the parameter in the address."""
        return self.parameter or self.name

    def check(self, raw: object, beside: Values) -> str | None:
        """Printable ASCII, as ids are."""
        if not isinstance(raw, str) or len(raw) > self.max_length or not (raw.isascii() and raw.isprintable()):
            raise FieldError(self._refusal)
        try:
            return _matcher(self.pattern).validate_python(raw) or None
        except ValidationError:
            raise FieldError(self._refusal) from None

    @property
    def _refusal(self) -> str:
        return _(
            "The link's “%(key)s” is not what this task expects. Open the link again as you were given it.",
            key=self.key,
        )

    def json_schema(self) -> JsonSchema:
        """A short text."""
        patterns = ["^[ -~]*$", *([f"^(?:{self.pattern})$"] if self.pattern else [])]
        limits = {"minLength": 1, "maxLength": self.max_length}
        return {"type": "string", **limits, "allOf": [{"pattern": expression} for expression in patterns]}


@lru_cache
def _matcher(pattern: str) -> TypeAdapter[str]:
    """Matches whole texts in linear time, whatever the expression: it is an owner's, the text is anybody's."""
    if not pattern:
        return TypeAdapter(str)
    TypeAdapter(Annotated[str, StringConstraints(pattern=pattern)])  # alone, so that it cannot close the brackets
    return TypeAdapter(Annotated[str, StringConstraints(pattern=rf"\A(?:{pattern})\z")])
