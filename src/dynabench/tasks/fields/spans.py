"""Words of another field that a person marked."""

import json
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, ClassVar, Literal

from dynabench.kit.language import _
from dynabench.tasks.fields.base import Field, FieldError, FieldReference, JsonSchema, Values
from dynabench.tasks.section import Name, Setting

_WORD = re.compile(r"[^\W_]+(?:-[^\W_]+|[’'](?![sS]\b)[^\W_]+)*|[’'][sS]\b|\S")
"""A word with its inner hyphens and apostrophes; the `'s` of a possessive apart, so that “Ada's” holds “Ada”."""
_POSTED = re.compile(r"^([0-9]{1,7}):([0-9]{1,7})$")


class Spans(Field):
    """Spans of the text in the field `of`: a list of {start, end, text}, sorted; offsets count code points."""

    type: Literal["spans"] = "spans"
    of: Name = Setting(description="Name of the text field whose words are marked.")
    max_spans: int = Setting(50, ge=1, le=500, description="Most spans that may be marked.")

    missing: ClassVar[str] = _("Mark at least one word.")
    no_answer: ClassVar[str] = "is no list of spans"

    @property
    def one(self) -> bool:
        """True where one stretch of words is marked, such as an extracted answer."""
        return self.max_spans == 1

    def check(self, raw: object, beside: Values) -> list[dict[str, Any]] | None:
        """Spans in order, without repetition, each with the text that it covers."""
        if not isinstance(raw, list):
            raise FieldError(_("This must be a list of spans with start and end."))
        if len(raw) > self.max_spans:
            raise FieldError(_("Mark at most %(max_spans)s spans.", max_spans=self.max_spans))
        text = beside.get(self.of)
        text = text if isinstance(text, str) else ""
        spans = sorted({span_of(item, text) for item in raw})
        if any(first[1] > second[0] for first, second in pairwise(spans)):
            raise FieldError(_("The marked spans overlap."))
        return [{"start": start, "end": end, "text": text[start:end]} for start, end in spans] or None

    def from_form(self, texts: Sequence[str]) -> object:
        """From posted `start:end` texts, or one JSON list. Where one span is wanted, it is all from first to last."""
        filled = [text for text in texts if text]
        if len(filled) == 1 and filled[0].startswith("["):
            try:
                return json.loads(filled[0])
            except (ValueError, RecursionError):
                return filled[0]
        matches = [_POSTED.match(text) for text in filled]
        if self.one and matches and all(matches):
            ends = [int(end) for match in matches if match for end in match.groups()]
            return [{"start": min(ends), "end": max(ends)}]
        return [{"start": int(match[1]), "end": int(match[2])} if match else None for match in matches]

    def references(self) -> Sequence[FieldReference]:
        """The text."""
        return [FieldReference("of", self.of)]

    def is_answer(self, value: object) -> bool:
        """Return whether a model's answer is a list of spans, perhaps empty; their texts are not checked."""
        return isinstance(value, list) and all(
            isinstance(item, dict)
            and isinstance(item.get("text"), str)
            and type(item.get("start")) is type(item.get("end")) is int
            for item in value
        )

    def words(self, beside: Values) -> list[dict[str, Any]]:
        """The words of the text that can be marked, each with the gap that follows it."""
        text = beside.get(self.of)
        return words_of(text) if isinstance(text, str) else []

    def marked(self, value: object, word: Mapping[str, Any]) -> bool:
        """Return whether a span of `value` covers `word`."""
        spans = value if isinstance(value, list) else []
        return any(s["start"] <= word["start"] and word["end"] <= s["end"] for s in spans if isinstance(s, dict))

    def in_words(self, value: Any) -> str:
        """The marked texts."""
        spans = value if isinstance(value, list) else []
        return " … ".join(str(span["text"]) for span in spans if isinstance(span, dict) and "text" in span)

    def segments(self, beside: Values, value: object) -> list[dict[str, Any]]:
        """Return the text as pieces that `value` marks or not; [] without the text."""
        words = self.words(beside)
        pieces = [{"text": str(beside.get(self.of, ""))[: words[0]["start"]], "marked": False}] if words else []
        for word in words:
            pieces.append({"text": word["text"], "marked": self.marked(value, word)})
            pieces.append({"text": word["gap"], "marked": False})
        return [piece for piece in pieces if piece["text"]]

    def serialise(self, value: list[dict[str, Any]] | None) -> list[dict[str, Any]]:
        """Models get a list in any case."""
        return value or []

    def json_schema(self) -> JsonSchema:
        """A list of spans; that they lie within the text is beyond a schema."""
        offset = {"type": "integer", "minimum": 0}
        span = {
            "type": "object",
            "properties": {"start": offset, "end": offset, "text": {"type": "string"}},
            "required": ["start", "end"],
            "additionalProperties": False,
        }
        return {"type": "array", "items": span, "minItems": 1, "maxItems": self.max_spans}


def words_of(text: str) -> list[dict[str, Any]]:
    """The words of a text, each with the gap that follows it."""
    matches = list(_WORD.finditer(text))
    ends = [match.start() for match in matches[1:]] + [len(text)]
    return [
        {"start": match.start(), "end": match.end(), "text": match[0], "gap": text[match.end() : after]}
        for match, after in zip(matches, ends, strict=False)
    ]


def span_of(item: object, text: str) -> tuple[int, int]:
    """Return start and end of a valid span of `text`. Raises FieldError for an invalid one."""
    if not isinstance(item, dict) or not {"start", "end"} <= set(item) <= {"start", "end", "text"}:
        raise FieldError(_("A span is an object with start, end and optionally text."))
    start, end = item["start"], item["end"]
    if type(start) is not int or type(end) is not int or not 0 <= start < end <= len(text):
        raise FieldError(_("A span is outside the text."))
    if item.get("text", text[start:end]) != text[start:end]:
        raise FieldError(_("A span's text does not match its offsets, which count Unicode code points."))
    if not text[start:end].strip():
        raise FieldError(_("A span contains no word."))
    return start, end
