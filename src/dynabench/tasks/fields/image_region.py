"""Regions of a picture that a person marked: boxes or points."""

from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from typing import Annotated, Any, ClassVar, Literal

from pydantic import StringConstraints

from dynabench.kit.language import _
from dynabench.tasks.fields.base import Field, FieldError, FieldReference, JsonSchema, Values
from dynabench.tasks.section import Name, Setting

LARGEST = 16_384
Label = Annotated[str, StringConstraints(min_length=1, max_length=60, pattern=r"^[^\x00-\x1f\x7f]+$")]


class ImageRegion(Field):
    """Regions of the picture in the field `of`: a list of {x, y, width, height}, or {x, y} for points, each with a
    `label` where the field has some; in pixels from the top left, half pixels rounded."""

    type: Literal["image_region"] = "image_region"
    of: Name = Setting(description="Name of the image field whose regions are marked.")
    shape: Literal["box", "point"] = Setting("box", description="What is marked: boxes or points.")
    labels: list[Label] = Setting(
        [], max_length=50, description="One of these is given to each region; none by default."
    )
    max_regions: int = Setting(10, ge=1, le=100, description="Most regions that may be marked.")

    missing: ClassVar[str] = _("Mark at least one place in the picture.")
    no_answer: ClassVar[str] = "is no list of regions"
    brief: ClassVar[bool] = False

    def references(self) -> Sequence[FieldReference]:
        """The picture."""
        return [FieldReference("of", self.of, text=False)]

    @property
    def parts(self) -> tuple[str, ...]:
        """The numbers of a region."""
        return ("x", "y") if self.shape == "point" else ("x", "y", "width", "height")

    def check(self, raw: object, beside: Values) -> list[dict[str, Any]] | None:
        """The regions, whole pixels within the picture where its size is known."""
        if not isinstance(raw, list):
            raise FieldError(_("This must be a list of regions with x and y."))
        if len(raw) > self.max_regions:
            raise FieldError(_("Mark at most %(max_regions)s places.", max_regions=self.max_regions))
        picture = beside.get(self.of)
        size = picture if isinstance(picture, Mapping) else {}
        right, bottom = size.get("width", LARGEST), size.get("height", LARGEST)
        unique_regions: list[dict[str, Any]] = []
        for region in (self._check_region(item, right, bottom) for item in raw):
            if region not in unique_regions:
                unique_regions.append(region)
        return unique_regions or None

    def _check_region(self, item: object, right: float, bottom: float) -> dict[str, Any]:
        allowed = {*self.parts, "label"} if self.labels else set(self.parts)
        if not isinstance(item, Mapping) or not set(self.parts) <= set(item) <= allowed:
            raise FieldError(
                _(
                    "A region is an object with %(parts)s%(value)s.",
                    parts=", ".join(self.parts),
                    value=" and label" if self.labels else "",
                )
            )
        region: dict[str, Any] = {name: _pixel(item[name]) for name in self.parts}
        wide, tall = region.get("width", 1), region.get("height", 1)
        if wide < 1 or tall < 1:
            raise FieldError(_("A box must be at least one pixel wide and high."))
        if min(region["x"], region["y"]) < 0 or region["x"] + wide > right or region["y"] + tall > bottom:
            raise FieldError(_("A region is outside the picture."))
        if self.labels:
            if item.get("label") not in self.labels:
                raise FieldError(
                    _("Choose one of the labels %(labels)s for each region.", labels=", ".join(self.labels))
                )
            region["label"] = item["label"]
        return region

    def read_form(self, posted: Mapping[str, Sequence[str]], name: str) -> object:
        """From the rows of number inputs `name.0.x`, `name.0.y`, ...; rows without a number are left out."""
        rows = []
        for number in range(self.max_regions):
            texts = {
                part: (posted.get(f"{name}.{number}.{part}") or [""])[0].strip() for part in (*self.parts, "label")
            }
            if any(texts[part] for part in self.parts):
                row: dict[str, Any] = {part: _number(texts[part]) for part in self.parts}
                rows.append(row | ({"label": texts["label"]} if self.labels else {}))
        return rows or None

    def rows(self, value: object) -> Iterator[dict[str, Any]]:
        """The rows of a form: what is marked, and empty ones for more."""
        marked_rows = [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
        yield from marked_rows[: self.max_regions]
        yield from ({} for _ in range(self.max_regions - len(marked_rows)))

    def picture(self, beside: Values) -> dict[str, Any] | None:
        """The picture that is marked, where it is known."""
        value = beside.get(self.of)
        return dict(value) if isinstance(value, Mapping) and isinstance(value.get("media"), str) else None

    def regions(self, value: object) -> list[dict[str, Any]]:
        """Those regions of a value that can be drawn."""
        items = value if isinstance(value, list) else []
        return [item for item in items if isinstance(item, dict) and set(self.parts) <= item.keys()]

    def samples(self) -> list[Any]:
        """One place in the corner, of each label."""
        corner = dict.fromkeys(self.parts, 1)
        return [[corner | {"label": label}] for label in self.labels] or [[corner]]

    def in_words(self, value: Any) -> str:
        """Return the labels of the regions, or their number."""
        regions = [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
        region_labels = [str(region["label"]) for region in regions if "label" in region]
        return ", ".join(region_labels) or (f"{len(regions)} × {self.shape}" if regions else "")

    def serialise(self, value: list[dict[str, Any]] | None) -> list[dict[str, Any]]:
        """Models get a list in any case."""
        return value or []

    def json_schema(self) -> JsonSchema:
        """A list of regions; that they lie within the picture is beyond a schema."""
        least = {"x": 0, "y": 0, "width": 1, "height": 1}
        parts: JsonSchema = {
            name: {"type": "integer", "minimum": least[name], "maximum": LARGEST // 2} for name in self.parts
        }
        if self.labels:
            parts["label"] = {"enum": self.labels}
        region = {"type": "object", "properties": parts, "required": list(parts), "additionalProperties": False}
        return {"type": "array", "items": region, "minItems": 1, "maxItems": self.max_regions}


def _pixel(raw: object) -> int:
    if isinstance(raw, bool) or not isinstance(raw, int | float) or not isfinite(raw) or abs(raw) > LARGEST:
        raise FieldError(_("Give positions in pixels, as numbers."))
    return round(raw)


def _number(text: str) -> object:
    try:
        return float(text) if "." in text else int(text)
    except ValueError:
        return text[:20]
