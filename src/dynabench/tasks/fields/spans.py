"""Spans of another field's text: words that a person marked, plain or each with a label."""

import json
import re
from abc import ABC
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, ClassVar, Literal

from pydantic import field_validator

from dynabench.kit.language import _
from dynabench.tasks.fields.base import Field, FieldError, FieldReference, JsonSchema, Values
from dynabench.tasks.fields.choice import AnyOption, Option, refuse_duplicates
from dynabench.tasks.section import Name, Setting

_WORD = re.compile(r"[^\W_]+(?:-[^\W_]+|[’'](?![sS]\b)[^\W_]+)*|[’'][sS]\b|\S")
"""A word with its inner hyphens and apostrophes; the `'s` of a possessive apart, so that “Ada's” holds “Ada”."""
_POSTED = re.compile(r"^([0-9]{1,7}):([0-9]{1,7})$")


class SpansField(Field, ABC):
    """A field whose value marks words of a text beside it: a list of spans, sorted by place."""

    of: Name = Setting(description="Name of the text field whose words are marked.")

    def references(self) -> Sequence[FieldReference]:
        """The text."""
        return [FieldReference("of", self.of)]

    def words(self, beside: Values) -> list[dict[str, Any]]:
        """The words of the text that can be marked, each with the gap that follows it."""
        return words_of(_text(beside, self.of))

    def serialise(self, value: list[dict[str, Any]] | None) -> list[dict[str, Any]]:
        """Models get a list in any case."""
        return value or []


class Spans(SpansField):
    """Spans of the text in the field `of`: a list of {start, end, text}, sorted; offsets count code points."""

    type: Literal["spans"] = "spans"
    max_spans: int = Setting(50, ge=1, le=500, description="Most spans that may be marked.")

    missing: ClassVar[str] = _("Mark at least one word.")
    no_answer: ClassVar[str] = "is no list of spans"

    @property
    def single(self) -> bool:
        """True where one stretch of words is marked, such as an extracted answer."""
        return self.max_spans == 1

    def check(self, raw: object, beside: Values) -> list[dict[str, Any]] | None:
        """Spans in order, without repetition, each with the text that it covers."""
        if not isinstance(raw, list):
            raise FieldError(_("This must be a list of spans with start and end."))
        if len(raw) > self.max_spans:
            raise FieldError(_("Mark at most %(max_spans)s spans.", max_spans=self.max_spans))
        text = _text(beside, self.of)
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
        if self.single and matches and all(matches):
            ends = [int(end) for match in matches if match for end in match.groups()]
            return [{"start": min(ends), "end": max(ends)}]
        return [{"start": int(match[1]), "end": int(match[2])} if match else None for match in matches]

    def is_answer(self, value: object) -> bool:
        """Return whether a model's answer is a list of spans, perhaps empty; their texts are not checked."""
        return isinstance(value, list) and all(
            isinstance(item, dict)
            and isinstance(item.get("text"), str)
            and type(item.get("start")) is type(item.get("end")) is int
            for item in value
        )

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


TONES = 8
"""So many colours tell labels apart; a ninth looks like the first, but for its name, which always stands there."""
INITIAL_ROWS = 4  # rows that a form without scripts offers from the start
_ROW = re.compile(r"\.([0-9]{1,3})\.label$")


class LabelledSpans(SpansField):
    """Spans of the text in `of`, each with one of `labels`: a list of {start, end, label, text}, sorted by place."""

    type: Literal["labelled_spans"] = "labelled_spans"
    labels: list[AnyOption] = Setting(
        min_length=1, max_length=40, description="Texts, or mappings of value, label and description."
    )
    max_spans: int = Setting(100, ge=1, le=500, description="Most spans that may be marked.")
    overlap: bool = Setting(False, description="Spans may share words; else a new one takes the place of the old.")

    missing: ClassVar[str] = _("Mark and label at least one span.")
    no_answer: ClassVar[str] = "is no list of spans with the task's labels"
    brief: ClassVar[bool] = False

    @field_validator("labels")
    @classmethod
    def _no_label_twice(cls, labels: list[Option]) -> list[Option]:
        refuse_duplicates([option.value for option in labels])
        return labels

    @property
    def values(self) -> list[str]:
        """The values of all labels, in order."""
        return [option.value for option in self.labels]

    def label_of(self, value: object) -> str:
        """Return the label that people read for a value; the value itself where there is no such label."""
        return next((option.label for option in self.labels if option.value == value), str(value))

    def tone(self, value: object) -> int:
        """The number of the colour of a label, from 1."""
        return self.values.index(str(value)) % TONES + 1 if value in self.values else TONES

    @property
    def drawn_over(self) -> Sequence[str]:
        """The text, which is marked where it stands."""
        return [self.of]

    @property
    def stands_in(self) -> str:
        """The text."""
        return self.of

    def check(self, raw: object, beside: Values) -> list[dict[str, Any]] | None:
        """Spans in order, without repetition, each with its label and the text that it covers."""
        if not isinstance(raw, list):
            raise FieldError(_("This must be a list of spans with start, end and label."))
        if len(raw) > self.max_spans:
            raise FieldError(_("Mark at most %(max_spans)s spans.", max_spans=self.max_spans))
        text = _text(beside, self.of)
        spans = sorted({self._span(item, text) for item in raw})
        if not self.overlap and any(first[1] > second[0] for first, second in pairwise(spans)):
            raise FieldError(_("The marked spans overlap."))
        return [{"start": s, "end": e, "label": self.values[at], "text": text[s:e]} for s, e, at in spans] or None

    def _span(self, item: object, text: str) -> tuple[int, int, int]:
        if not isinstance(item, Mapping) or "label" not in item:
            raise FieldError(_("A span is an object with start, end, label and optionally text."))
        if item["label"] not in self.values:
            raise FieldError(_("Choose one of the labels for each span."))
        place = {key: part for key, part in item.items() if key != "label"}
        start, end = span_of(_by_words(place["words"], text) if set(place) == {"words"} else place, text)
        return start, end, self.values.index(item["label"])

    def read_form(self, posted: Mapping[str, Sequence[str]], name: str) -> object:
        """From rows `name.0.label`, `name.0.first`, `name.0.last`, words counted from 1; without rows, from JSON."""
        places = sorted(
            {int(match[1]) for key in posted if key.startswith(name) if (match := _ROW.fullmatch(key, len(name)))}
        )
        if not places:
            return super().read_form(posted, name)
        rows = [[posted.get(f"{name}.{at}.{part}", [""])[0].strip() for part in _PARTS] for at in places]
        return [
            {"label": label, "words": [_number(first), _number(last or first)]}
            for label, first, last in rows
            if label or first or last
        ]

    def from_form(self, texts: Sequence[str]) -> object:
        """From JSON."""
        return self.from_text(texts[0]) if texts and texts[0].strip()[:1] == "[" else super().from_form(texts) or None

    def marked(self, beside: Values, value: object) -> list[dict[str, Any]]:
        """Return the valid spans of `value`, which may be anything."""
        text, spans = _text(beside, self.of), []
        for item in value if isinstance(value, list) else []:
            try:
                start, end, label = self._span(item, text)
            except FieldError:
                continue
            spans.append({"start": start, "end": end, "label": self.values[label]})
        return spans

    def offered(self, beside: Values, value: object) -> list[dict[str, Any]]:
        """Rows of a form without scripts: label, first and last word (from 1) of each span, and blank ones."""
        words = self.words(beside)
        rows: list[dict[str, Any]] = []
        for span in self.marked(beside, value):
            inside = [n for n, w in enumerate(words, 1) if w["start"] < span["end"] and span["start"] < w["end"]]
            rows.append({"label": span["label"], "first": inside[0], "last": inside[-1]})
        if not rows and isinstance(value, list):  # as they were posted, to be corrected
            rows = [row for item in value[: self.max_spans] if (row := _posted(item))]
        blank = min(self.max_spans, max(INITIAL_ROWS, len(rows) + 2)) - len(rows)
        return rows + [{"label": "", "first": "", "last": ""} for _ in range(blank)]

    def pieces(self, beside: Values, value: object) -> list[dict[str, Any]]:
        """Return the text cut wherever a span begins or ends; [] without the text.

        `over` are the labels of the spans that cover a piece, `ends` those of the spans that end with it.
        """
        text, spans = _text(beside, self.of), self.marked(beside, value)
        cuts = sorted({0, len(text), *(at for span in spans for at in (span["start"], span["end"]))})
        return [
            {
                "text": text[start:end],
                "over": [span["label"] for span in spans if span["start"] <= start and end <= span["end"]],
                "ends": [span["label"] for span in spans if span["end"] == end],
            }
            for start, end in pairwise(cuts)
        ]

    def same(self, first: Any, second: Any) -> bool:
        """The same places with the same labels."""
        return _places(first) == _places(second)

    def is_answer(self, value: object) -> bool:
        """Return whether it is a list of spans with labels, perhaps empty; texts are not checked."""
        return isinstance(value, list) and all(
            isinstance(item, Mapping)
            and type(item.get("start")) is type(item.get("end")) is int
            and item.get("label") in self.values
            for item in value
        )

    def in_words(self, value: Any) -> str:
        """The marked texts, each with its label."""
        spans = [span for span in value if isinstance(span, Mapping)] if isinstance(value, list) else []
        return " … ".join(f"{span.get('text', '')} ({self.label_of(span.get('label'))})" for span in spans)

    def json_schema(self) -> JsonSchema:
        """A list of spans with labels; that they lie within the text is beyond a schema."""
        offset = {"type": "integer", "minimum": 0}
        span = {
            "type": "object",
            "properties": {"start": offset, "end": offset, "label": {"enum": self.values}, "text": {"type": "string"}},
            "required": ["start", "end", "label"],
            "additionalProperties": False,
        }
        return {"type": "array", "items": span, "minItems": 1, "maxItems": self.max_spans}


_PARTS = ("label", "first", "last")


def _text(beside: Values, name: str) -> str:
    text = beside.get(name)
    return text if isinstance(text, str) else ""


def _number(text: str) -> int | str:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 8 else text[:20]


def _by_words(ends: object, text: str) -> dict[str, int]:
    """Start and end of the words from the first to the last number, counted from 1."""
    words = words_of(text)
    numbers = ends if isinstance(ends, list) and len(ends) == 2 and all(type(end) is int for end in ends) else [0, 0]
    first, last = numbers
    if not 1 <= first <= last <= len(words):
        raise FieldError(_("Give the numbers of the first and last word, from 1 to %(n)s.", n=len(words)))
    return {"start": words[first - 1]["start"], "end": words[last - 1]["end"]}


def _posted(item: object) -> dict[str, Any] | None:
    if not isinstance(item, Mapping) or not isinstance(item.get("words"), list) or len(item["words"]) != 2:
        return None
    return {"label": item.get("label"), "first": item["words"][0], "last": item["words"][1]}


def _places(value: Any) -> set[tuple[Any, ...]]:
    spans = [span for span in value if isinstance(span, Mapping)] if isinstance(value, list) else []
    return {(span.get("start"), span.get("end"), span.get("label")) for span in spans}
