"""Yes-or-no questions, with the reason where one is asked for, and statements that people agree to."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

from pydantic import StringConstraints

from dynabench.kit.language import _
from dynabench.tasks.fields.base import Field, FieldError, JsonSchema, UnfinishedValue, Values
from dynabench.tasks.fields.text import Text
from dynabench.tasks.section import Line, Setting

_FLAGS = {"yes": True, "no": False, "true": True, "false": False, "": None}
REASON = "reason"


class YesNo(Field):
    """True for yes, false for no; where reasons are asked for, `{value, reason}`."""

    type: Literal["yes_no"] = "yes_no"
    reason: Literal["never", "optional", "required"] = Setting("never", description="Whether people say why.")
    reason_label: Line = Setting("Why?", description="What people read above the reason.")

    missing: ClassVar[str] = _("Choose yes or no.")

    @property
    def reasons(self) -> Text:
        """The field of the reason."""
        required = self.reason == "required"
        return Text(name=REASON, label=self.reason_label, required=required, max_length=1000, multiline=True)

    def check(self, raw: object, beside: Values) -> bool | dict[str, Any] | None:
        """A boolean, or an object with it and the reason."""
        if self.reason == "never":
            return self._flag(raw)
        if not isinstance(raw, dict) or not set(raw) <= {"value", REASON}:
            raise FieldError(_("This must be an object with value and reason."))
        text = self.reasons.check(raw[REASON]) if raw.get(REASON) is not None else None
        if raw.get("value") is None:
            if text is None:
                return None
            raise UnfinishedValue(self.missing)
        flag = self._flag(raw["value"])
        if text is None and self.reason == "required":
            raise UnfinishedValue(_("Give a reason."))
        return {"value": flag} | ({} if text is None else {REASON: text})

    def _flag(self, raw: object) -> bool:
        if not isinstance(raw, bool):
            raise FieldError(self.missing)
        return raw

    def flag(self, value: object) -> bool | None:
        """Return the yes or no in a value with or without reason, or in a model's text; None where it is neither."""
        parsed = self.from_text(value) if isinstance(value, str) else value
        inner = parsed.get("value") if isinstance(parsed, dict) else parsed
        answer = _FLAGS.get(inner.strip().casefold()) if isinstance(inner, str) else inner
        return answer if isinstance(answer, bool) else None

    def reason_of(self, value: object) -> str:
        """The reason, empty where none is given."""
        reason = value.get(REASON) if isinstance(value, dict) else None
        return reason if isinstance(reason, str) else ""

    def is_answer(self, value: object) -> bool:
        """Return whether it says yes or no, with or without reason."""
        return self.flag(value) is not None

    def same(self, first: Any, second: Any) -> bool:
        """Both yes or both no, whatever the reasons are."""
        return self.flag(first) is self.flag(second)

    def in_words(self, value: object) -> str:
        """Yes or no, and why."""
        flag, reason = self.flag(value), self.reason_of(value)
        word = {True: "yes", False: "no"}[flag] if flag is not None else ""
        return f"{word}: {reason}" if reason else word

    def comparable(self) -> Sequence[str] | None:
        """`yes` and `no`."""
        return ["yes", "no"]

    def from_form(self, texts: Sequence[str]) -> object:
        """From the posted `yes` or `no`."""
        flag = _FLAGS.get(texts[0], texts[0][:60]) if texts else None
        return flag if self.reason == "never" or flag is None else {"value": flag}

    def read_form(self, posted: Mapping[str, Sequence[str]], name: str) -> object:
        """The answer under `name`, the reason under `name.reason`."""
        answer = self.from_form(posted.get(name, ()))
        reason = next(iter(posted.get(f"{name}.{REASON}", ())), "") if self.reason != "never" else ""
        return {"value": self.flag(answer), REASON: reason} if reason else answer

    def samples(self) -> list[Any]:
        """Yes and no."""
        if self.reason == "never":
            return [True, False]
        return [{"value": flag, REASON: _("The answer and the reason.")} for flag in (True, False)]

    def json_schema(self) -> JsonSchema:
        """A boolean, or an object with one and a reason."""
        if self.reason == "never":
            return {"type": "boolean"}
        required = ["value", REASON] if self.reason == "required" else ["value"]
        properties = {"value": {"type": "boolean"}, REASON: self.reasons.json_schema()}
        return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


class Consent(Field):
    """True where the person ticked the box. Where it is required, the form cannot be sent without the tick."""

    type: Literal["consent"] = "consent"
    statement: Annotated[str, StringConstraints(max_length=5000)] = Setting(
        "", description="What people agree to, above the box; the label stands beside it."
    )

    missing: ClassVar[str] = _("Tick this box to continue.")

    def check(self, raw: object, beside: Values) -> bool | None:
        """True; false is the same as nothing."""
        if not isinstance(raw, bool):
            raise FieldError(self.missing)
        return raw or None

    def from_form(self, texts: Sequence[str]) -> object:
        """From the posted `yes`; an open box posts nothing."""
        return (
            {"yes": True, "true": True, "no": False, "false": False, "": None}.get(texts[0], texts[0][:60])
            if texts
            else None
        )

    def same(self, first: Any, second: Any) -> bool:
        """Both agree, or neither does."""
        return self.clean_answer(first) is self.clean_answer(second)

    def in_words(self, value: Any) -> str:
        """Agreed, or nothing."""
        return "agreed" if value is True else ""

    def comparable(self) -> Sequence[str] | None:
        """A tick is `yes`."""
        return ["yes"]

    def samples(self) -> list[Any]:
        """The tick."""
        return [True]

    def json_schema(self) -> JsonSchema:
        """True."""
        return {"const": True, "type": "boolean"}
