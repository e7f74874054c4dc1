"""Fields of stored files: pictures, sounds and files that people send. A value is the file's SHA-256."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, model_validator

from dynabench.kit.language import _
from dynabench.tasks.fields.base import Field, FieldError, FieldReference, JsonSchema, Values
from dynabench.tasks.section import Name, Setting

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


class Audio(MediaField):
    """A WAV, MP3, Ogg, FLAC or WebM sound."""

    type: Literal["audio"] = "audio"
    kind: ClassVar[Literal["audio"]] = "audio"
    record: bool = Setting(True, description="Offer to record with the microphone.")
    max_seconds: float = Setting(60.0, gt=0, le=3600, description="Longest sound in seconds.")

    missing: ClassVar[str] = _("Record or upload a sound.")


Type = Literal["pdf", "text", "png", "jpeg", "webp", "wav", "mp3", "ogg", "flac", "webm"]
TYPES: dict[str, str] = {
    "pdf": "application/pdf",
    "text": "text/plain",
    "png": "image/png",
    "jpeg": "image/jpeg",
    "webp": "image/webp",
    "wav": "audio/wav",
    "mp3": "audio/mpeg",
    "ogg": "audio/ogg",
    "flac": "audio/flac",
    "webm": "audio/webm",
}


class FileField(MediaField):
    """A PDF, a plain text (also CSV, JSON, YAML), a picture or a sound, recognised by its content."""

    type: Literal["file"] = "file"
    kind: ClassVar[Literal["file"]] = "file"
    types: list[Type] = Setting(
        ["pdf", "text"], min_length=1, max_length=10, description="Kinds of file that are taken."
    )

    @property
    def accept(self) -> str:
        """The value of `accept` in the browser's file input."""
        more = {"text": ",.txt,.csv,.tsv,.json,.jsonl,.yaml,.md", "pdf": ",.pdf"}
        return ",".join(f"{TYPES[type_name]}{more.get(type_name, '')}" for type_name in self.types)

    missing: ClassVar[str] = _("Choose a file.")


class Drawing(Image):
    """One of the pictures that models draw of the input's texts; the model stays hidden until the example is sent.

    The value is that of an `image`. The input may have one drawing.
    """

    type: Literal["drawing"] = "drawing"  # type: ignore[assignment]
    upload: bool = Setting(False, description="Nothing is sent here: models draw.")
    attempts: int = Setting(20, ge=1, le=200, description="How often pictures may be drawn on what a person was given.")
    claims: dict[Name, str] = Setting(
        {},
        max_length=10,
        description="Answers that models stand for by drawing, such as harm: none. A model is fooled where it drew the "
        "picture that was chosen and the annotator's answer differs from it.",
    )

    missing: ClassVar[str] = _("Have pictures drawn and choose one.")

    @model_validator(mode="after")
    def _is_only_drawn(self) -> "Drawing":
        if self.upload or self.choose_from:
            raise ValueError(_("Models draw it: leave upload and choose_from out."))
        return self
