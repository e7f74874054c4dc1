"""Fields of text: one line or several, comments, and edits of a text that the annotator is given."""

import re
import unicodedata
from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import model_validator

from dynabench.kit.language import _
from dynabench.tasks.fields.base import NOTHING, Field, FieldError, JsonSchema, UnfinishedValue, Values
from dynabench.tasks.section import Name, Setting
from dynabench.tasks.words import DiffPiece, word_differences

_LINES = "\t\n"
_CONTROL = r"\u0000-\u0008\u000b-\u001f\u007f-\u009f"
_BROKEN = r"\ud800-\udfff\ufdd0-\ufdef\ufffd-\uffff"  # U+FFFD: what decoders leave of bytes that are no UTF-8
_OVERRIDE = r"\u202d\u202e"  # they would show people another text than the models get
_UNSEEN = (
    r"\s\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164"
)
_UNSEEN += r"\ufe00-\ufe0f\ufeff\uffa0"
_BLANKS = "".join(filter(str.isspace, map(chr, range(0x3001)))) + "\ufeff"  # a byte order mark is one at an end
_VISIBLE = re.compile(f"[^{_UNSEEN}]")
_UNFIT = re.compile(f"[{_CONTROL}{_BROKEN}{_OVERRIDE}]")
_MARKS = 30  # in a row, as in the stream-safe text format of UAX #15; sorting more of them costs quadratic time
_MAYBE_STACKED = re.compile(rf"[\u0300-\u30ff\ua66f-\uabff\ud7b0-\U0010ffff]{{{_MARKS + 1}}}")
"""As many characters of blocks that may have combining ones: not Latin letters, ideographs or Hangul syllables."""


_TAG = (  # RFC 5646: language, script, region, variants, extensions, private use
    r"[A-Za-z]{2,3}(-[A-Za-z]{3}){0,3}(-[A-Za-z]{4})?(-([A-Za-z]{2}|[0-9]{3}))?(-([A-Za-z0-9]{5,8}|[0-9][A-Za-z0-9]{3}))*"
    r"(-[0-9A-WY-Za-wy-z](-[A-Za-z0-9]{2,8})+)*(-[Xx](-[A-Za-z0-9]{1,8})+)?"
)
_LEFTWARD = frozenset("ar arc ckb dv fa he iw nqo ps sd syr ug ur yi".split())
_LEFTWARD_SCRIPTS = frozenset("adlm arab aran hebr mand mend nkoo rohg samr syrc thaa".split())


class Text(Field):
    """Text in Unicode's normal form C; lengths count code points, as Python, JSON Schema and PostgreSQL do."""

    type: Literal["text"] = "text"
    min_length: int = Setting(1, ge=0, le=100_000, description="Fewest characters (code points) of a filled field.")
    max_length: int = Setting(1000, ge=1, le=100_000, description="Most characters (code points).")
    multiline: bool = Setting(False, description="Line breaks and tabs are allowed, and the field is drawn taller.")
    language: str = Setting("", pattern=f"^$|^{_TAG}$", description="BCP 47 tag, such as en, pt-BR or az-Arab.")
    direction: Literal["auto", "ltr", "rtl"] = Setting(
        "auto", description="Writing direction; auto: that of the language, else of the first letter."
    )

    @model_validator(mode="after")
    def _lengths_in_order(self) -> "Text":
        if self.min_length > self.max_length:
            raise ValueError(_("min_length is above max_length."))
        return self

    @property
    def written(self) -> str:
        """The value of HTML's `dir`."""
        if self.direction != "auto" or not self.language:
            return self.direction
        first, *rest = self.language.lower().split("-")
        script = next((part for part in rest if len(part) == 4 and part.isalpha()), "")
        leftward = script in _LEFTWARD_SCRIPTS if script else first in _LEFTWARD
        return "rtl" if leftward else "auto"

    def check(self, raw: object, beside: Mapping[str, object] = NOTHING) -> str | None:
        """Normalised text without blanks at its ends."""
        if not isinstance(raw, str):
            raise FieldError(_("This must be text."))
        if len(raw) > 4 * self.max_length + 1000:  # normalising shortens at most fourfold, and is not free
            raise FieldError(self._too_long(len(raw)))
        text = _plain(raw)
        if not _VISIBLE.search(text):
            return None
        self._refuse_unfit(text)
        if len(text) > self.max_length:
            raise FieldError(self._too_long(len(text)))
        if len(text) < self.min_length:
            raise UnfinishedValue(
                _("This has %(n)s characters; the minimum is %(min_length)s.", n=len(text), min_length=self.min_length)
            )
        return text

    def json_schema(self) -> JsonSchema:
        """Length in code points; no characters that `check` refuses; something to see."""
        forbidden = _CONTROL + _BROKEN + _OVERRIDE + ("" if self.multiline else r"\t\n")
        return {
            "type": "string",
            "minLength": self.min_length,
            "maxLength": self.max_length,
            "allOf": [{"pattern": f"^[^{forbidden}]*$"}, {"pattern": _VISIBLE.pattern}],
        }

    def from_text(self, text: str) -> object:
        """The text itself."""
        return text

    def is_answer(self, value: object) -> bool:
        """Return True: every answer of a model is a text."""
        return True

    def serialise(self, value: str | None) -> str:
        """Models get text in any case."""
        return value or ""

    def same(self, first: object, second: object) -> bool:
        """Case and spacing do not make another answer."""
        return str(first).casefold().split() == str(second).casefold().split()

    def _too_long(self, length: int) -> str:
        return _(
            "This has %(length)s characters; the maximum is %(max_length)s.",
            length=f"{length:,}",
            max_length=f"{self.max_length:,}",
        )

    def _refuse_unfit(self, text: str) -> None:
        if match := _UNFIT.search(text):
            if re.search(f"[{_BROKEN}]", text):
                raise FieldError(_("This contains a broken character. Type it again instead of pasting it."))
            raise FieldError(
                _("This contains a control character (U+%(match)s). Remove it.", match=f"{ord(match[0]):04X}")
            )
        if not self.multiline and any(c in text for c in _LINES):
            raise FieldError(_("This must be one line: remove line breaks and tabs."))


def _plain(raw: str) -> str:
    """`raw` with line ends as `\\n`, in normal form C, without blanks at its ends."""
    text = raw.replace("\r\n", "\n").replace("\r", "\n")
    if text.isascii():
        return text.strip()
    if _MAYBE_STACKED.search(text) and _stacked(text):
        raise FieldError(_("This stacks too many accents on one letter. Remove some."))
    return unicodedata.normalize("NFC", text).strip(_BLANKS)


def _stacked(text: str) -> bool:
    run = 0
    for character in text:
        run = run + 1 if unicodedata.combining(character) else 0
        if run > _MARKS:
            return True
    return False


class Comment(Text):
    """Text over several lines that is optional unless `required`."""

    type: Literal["comment"] = "comment"  # type: ignore[assignment]
    required: bool = Setting(False, description="Comments are optional unless this is true.")
    max_length: int = Setting(5000, ge=1, le=100_000, description="Most characters (code points).")
    multiline: bool = Setting(True, description="Line breaks and tabs are allowed, and the field is drawn taller.")

    brief: ClassVar[bool] = False

    def samples(self) -> list[Any]:
        """None: a comment may stay empty."""
        return []


class EditField(Text):
    """The text of the field `of` after an edit: stored whole, shown as a difference."""

    type: Literal["edit"] = "edit"  # type: ignore[assignment]
    of: Name = Setting(description="Name of the text field that is edited.")
    unchanged: Literal["refused", "allowed"] = Setting(
        "refused", description="Whether the text may stay as it is; where the field is optional, that leaves it empty."
    )
    max_length: int = Setting(10_000, ge=1, le=100_000, description="Most characters (code points).")
    multiline: bool = Setting(True, description="Line breaks and tabs are allowed, and the field is drawn taller.")

    missing: ClassVar[str] = _("Change the text: it is still the original.")
    brief: ClassVar[bool] = False

    def check(self, raw: object, beside: Mapping[str, object] = NOTHING) -> str | None:
        """Return the normalised text; None for an unchanged text where that is refused."""
        text = super().check(raw, beside)
        return None if self.unchanged == "refused" and text == self.original(beside) else text

    def original(self, beside: Values) -> str | None:
        """Return the text to be edited, None where it is not known."""
        text = beside.get(self.of)
        return text if isinstance(text, str) else None

    def pieces(self, beside: Values, value: object) -> tuple[DiffPiece, ...]:
        """Return the kept, removed and added pieces; the text alone where the original is not known."""
        text, original = value if isinstance(value, str) else "", self.original(beside)
        return word_differences(original, text) if original is not None else (DiffPiece("same", text),)
