"""A picture: shown, uploaded, or chosen among pictures of the context."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator

from dynabench.kit.language import _
from dynabench.tasks.fields.base import FieldError, FieldReference, Values
from dynabench.tasks.fields.media import MediaField
from dynabench.tasks.section import Name, Setting


def _as_list(raw: Any) -> Any:
    return [raw] if isinstance(raw, str) else raw


class Image(MediaField):
    """A PNG, JPEG or WebP picture; models get its pixels."""

    type: Literal["image"] = "image"
    kind: ClassVar[Literal["image"]] = "image"
    choose_from: Annotated[list[Name], BeforeValidator(_as_list)] = Setting(
        [], max_length=20, description="Image fields of the context that one is chosen from."
    )
    max_pixels: int = Setting(25_000_000, ge=64, le=100_000_000, description="Most pixels, width times height.")

    missing: ClassVar[str] = _("Choose a picture.")

    def references(self) -> Sequence[FieldReference]:
        """The pictures to choose from."""
        return [FieldReference("choose_from", name, text=False) for name in self.choose_from]

    def check(self, raw: object, beside: Values) -> dict[str, Any] | None:
        """As for all media; where nothing may be uploaded, one of the pictures to choose from."""
        value = super().check(raw, beside)
        if value is None or self.upload or not self.choose_from:
            return value
        if all(offered_value["media"] != value["media"] for _, offered_value in self.choices(beside)) and any(
            name in beside for name in self.choose_from
        ):
            raise FieldError(_("Choose one of the pictures shown."))
        return value

    def choices(self, beside: Values) -> Iterator[tuple[str, dict[str, Any]]]:
        """The pictures to choose from, with the names of their fields."""
        for name in self.choose_from:
            if isinstance(value := beside.get(name), dict) and "media" in value:
                yield name, value
