"""Spans of another field's text, each with a label."""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, ClassVar, Literal

from pydantic import field_validator

from dynabench.kit.language import _
from dynabench.tasks.fields.base import Field, FieldError, FieldReference, JsonSchema, Values
from dynabench.tasks.fields.choice import AnyOption, Option, refuse_duplicates
from dynabench.tasks.fields.spans import span_of, words_of
from dynabench.tasks.section import Name, Setting

TONES = 8
"""So many colours tell labels apart; a ninth looks like the first, but for its name, which always stands there."""
INITIAL_ROWS = 4  # rows that a form without scripts offers from the start
_ROW = re.compile(r"\.([0-9]{1,3})\.label$")


class LabelledSpans(Field):
    """Spans of the text in `of`, each with one of `labels`: a list of {start, end, label, text}, sorted by place."""

    type: Literal["labelled_spans"] = "labelled_spans"
    of: Name = Setting(description="Name of the text field whose words are marked.")
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

    def references(self) -> Sequence[FieldReference]:
        """The text."""
        return [FieldReference("of", self.of)]

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
        places = sorted({int(match[1]) for key in posted if key.startswith(name) if (match := _row(key, name))})
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

    def words(self, beside: Values) -> list[dict[str, Any]]:
        """The words of the text that can be marked, each with the gap that follows it."""
        return words_of(_text(beside, self.of))

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

    def serialise(self, value: list[dict[str, Any]] | None) -> list[dict[str, Any]]:
        """Models get a list in any case."""
        return value or []

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


def _row(key: str, name: str) -> re.Match[str] | None:
    return _ROW.fullmatch(key[len(name) :])


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
