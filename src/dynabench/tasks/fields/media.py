"""Base of the fields of pictures, sounds and files: a value refers to a stored file by its SHA-256."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

from dynabench.kit.language import _
from dynabench.tasks.fields.base import Field, FieldError, JsonSchema, Values
from dynabench.tasks.section import Setting

DIGEST = re.compile(r"[0-9a-f]{64}")
_TEXTS = {"type": 40, "alt": 300, "name": 120}
_NUMBERS = ("width", "height", "seconds")


class MediaField(Field):
    """A stored file: `{"media": SHA-256}` with the server's facts about it (`type`, `width`, `height`, `seconds`).

    `name` and `alt` may stand beside these: the name of the uploaded file, and a description of a picture.
    """

    kind: ClassVar[Literal["image", "audio", "file"]]
    brief: ClassVar[bool] = False
    upload: bool = Setting(True, description="People may send a file of their own.")
    max_mb: float = Setting(5.0, gt=0, le=100, description="Largest file in MiB; the deployment may allow less.")

    def check(self, raw: object, beside: Values) -> dict[str, Any] | None:
        """Return the reference with known keys alone.

        The server checks that the file exists and belongs to the person.
        """
        if isinstance(raw, str):
            raw = {"media": raw} if raw else None
        if raw is None:
            return None
        if not isinstance(raw, Mapping) or not isinstance(raw.get("media"), str) or not DIGEST.fullmatch(raw["media"]):
            raise FieldError(self.missing)
        if extra := set(raw) - {"media", *_TEXTS, *_NUMBERS}:
            raise FieldError(
                _("There is no such member: %(value)s.", value=", ".join(sorted(map(str, extra))[:3])[:60])
            )
        return {"media": raw["media"], **_texts(raw), **_numbers(raw)}

    def from_form(self, texts: Sequence[str]) -> object:
        """Return the last filled of the posted digests or JSON texts: an uploaded file comes last."""
        filled = [text for text in texts if text]
        if not filled:
            return None
        if not filled[-1].startswith("{"):
            return {"media": filled[-1][:100]}
        try:
            return json.loads(filled[-1])
        except (ValueError, RecursionError):
            return filled[-1][:100]

    def reference(self, value: object) -> dict[str, Any] | None:
        """Return the reference in a value, also in a posted and refused one; None for none."""
        if isinstance(value, str):
            value = self.from_form([value])
        whole = isinstance(value, Mapping) and isinstance(value.get("media"), str)
        return dict(value) if whole and DIGEST.fullmatch(value["media"]) else None  # type: ignore[index, call-overload]

    def same(self, first: Any, second: Any) -> bool:
        """The same content."""
        return _digest(first) == _digest(second)

    def in_words(self, value: Any) -> str:
        """Return the description or the file name, else the field type."""
        if not isinstance(value, Mapping):
            return ""
        return str(value.get("alt") or value.get("name") or self.type.replace("_", " "))

    def serialise(self, value: Any) -> Any:
        """Return a reference, which becomes a `data:` address where inputs leave for models.

        A `data:` address, which a program may pass itself, is returned unchanged.
        """
        if isinstance(value, str):
            return value
        return {"media": value["media"]} if isinstance(value, Mapping) else None

    def json_schema(self) -> JsonSchema:
        """A reference; that it is of a file which is there is beyond a schema."""
        text = {name: {"type": "string", "maxLength": longest} for name, longest in _TEXTS.items()}
        number = {name: {"type": "number", "minimum": 0, "maximum": 10_000_000} for name in _NUMBERS}
        return {
            "type": "object",
            "properties": {"media": {"type": "string", "pattern": f"^{DIGEST.pattern}$"}, **text, **number},
            "required": ["media"],
            "additionalProperties": False,
        }


def _texts(raw: Mapping[str, Any]) -> dict[str, str]:
    texts = {name: raw[name] for name in _TEXTS if raw.get(name) is not None}
    for name, text in texts.items():
        if not isinstance(text, str) or len(text) > _TEXTS[name] or not text.isprintable():
            raise FieldError(
                _("%(name)s must be a line of at most %(texts)s characters.", name=name, texts=_TEXTS[name])
            )
    return {name: text for name, text in texts.items() if text}


def _numbers(raw: Mapping[str, Any]) -> dict[str, int | float]:
    numbers = {name: raw[name] for name in _NUMBERS if raw.get(name) is not None}
    for name, number in numbers.items():
        if isinstance(number, bool) or not isinstance(number, int | float) or not 0 <= number <= 10_000_000:
            raise FieldError(_("%(name)s must be a number.", name=name))
    return numbers


def _digest(value: Any) -> object:
    return value.get("media") if isinstance(value, Mapping) else value
