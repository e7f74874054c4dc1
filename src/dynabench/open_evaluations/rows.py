"""From the columns of other people's data to prepared rows: inputs by role, and right answers in one form."""

import base64
import io
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from dynabench.datasets.stored import StoredRow
from dynabench.intake.mapping import value_at, value_key
from dynabench.intake.rows import BadRowReport, FileRow
from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.media.store import is_reference
from dynabench.models.pictures import open_picture, text_of
from dynabench.open_evaluations.choices import OpenChoices
from dynabench.open_evaluations.kinds import ANSWER, PAIR, ColumnRole, OpenTask, RoleKind
from dynabench.open_evaluations.multiple_choice import ChoiceList, UnfitValue, read_choices, read_right_choice
from dynabench.open_evaluations.picture_folders import StoredPicture
from dynabench.open_evaluations.row_source import ClassNames

LONGEST_TEXT = 100_000
"""Characters of one input."""
PICTURE_SIDE = 1024
"""Pixels of the longer side of a stored picture; models read smaller ones."""
REPORTED_ROWS = 50
LARGEST_NUMBER = 1e15
_NUMBER = re.compile(r"[-+]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d{1,3})?")


class OpenRowReader:
    """Rows read by a mapping of roles to columns; what does not fit is noted in `report`, labels in `labels`."""

    def __init__(self, task: OpenTask, choices: OpenChoices, classes: ClassNames) -> None:
        self.task, self.columns, self.pair, self.base = task, choices.mapped, choices.pair, choices.base
        self.classes = dict(classes)
        if choices.classes and task.named_by_number and task.reference.name in self.columns:
            self.classes[self.columns[task.reference.name]] = choices.classes
        self.report = BadRowReport(REPORTED_ROWS)
        self.labels: dict[str, int] = {}

    def read(self, rows: Iterable[FileRow]) -> Iterator[StoredRow]:
        """Yield the rows that fit."""
        for number, values, error in rows:
            if values is None:
                self.report.add(number, error)
                continue
            try:
                row = self.read_row(number, values)
            except UnfitValue as problem:
                self.report.add(number, str(problem))
                continue
            self.report.rows += 1
            yield row

    def read_row(self, number: int, values: Mapping[str, Any]) -> StoredRow:
        """Return one row; raises `UnfitValue`."""
        inputs = {}
        words: list[str] = []
        offered = ChoiceList([])
        for role in self.task.inputs:
            if not (column := self.columns.get(role.name)):
                if role.name == PAIR and self.pair:
                    inputs[role.name] = self.pair
                continue
            value = value_at(values, column)
            if role.kind is RoleKind.WORDS:
                words = read_words(value, column)
                inputs[role.name] = " ".join(words)
            elif role.kind is RoleKind.CHOICES:
                offered = read_choices(row_with_lists(values, column), column)
                inputs[role.name] = offered.as_text()
            else:
                inputs[role.name] = read_input(role, value, column)
        role = self.task.reference
        column = self.columns[role.name]
        value = value_at(values, column)
        if role.kind is RoleKind.CHOICE:
            answers: list[Any] = [read_right_choice(value, offered, self.base, column)]
        else:
            answers = read_reference(role, value, column, self.classes.get(column, ()), words)
        for label in offered.letters or _labels_in(role, answers):
            self.labels[label] = self.labels.get(label, 0) + 1
        return StoredRow(str(number), inputs, tuple({ANSWER: answer} for answer in answers))


def row_with_lists(values: Mapping[str, Any], column: str) -> Mapping[str, Any]:
    """Return a row in which a cell of JSON is the list or object that it holds."""
    value = value_at(values, column)
    return values if value is None else {**values, column: _parsed(value)}


def _labels_in(role: ColumnRole, answers: Sequence[Any]) -> Iterator[str]:
    if role.kind is RoleKind.LABEL:
        yield answers[0]
    elif role.kind is RoleKind.TAGS:
        yield from (span["label"] for span in answers[0])


def read_input(role: ColumnRole, value: Any, column: str) -> Any:
    """Return an input as models get it; raises `UnfitValue`."""
    if role.kind is RoleKind.IMAGE:
        return read_picture(value, column)
    if isinstance(value, bool | int | float):
        value = value_key(value)
    if not isinstance(value, str) or not value.strip():
        raise UnfitValue(_("The column %(column)s is empty or holds no text.", column=column))
    if len(value) > LONGEST_TEXT:
        raise UnfitValue(_("The text in %(column)s is longer than %(n)s characters.", column=column, n=LONGEST_TEXT))
    return value


def read_picture(value: Any, column: str) -> Any:
    """Return a picture as `data:` text, small enough to be kept; a picture that the platform stores stays a reference.

    Takes bytes, `{bytes, path}` as the package `datasets` writes them, `data:` texts, and pictures in files.
    """
    if is_reference(value):
        return dict(value)
    content = value.get("bytes") if isinstance(value, Mapping) else value
    content = content.read() if isinstance(content, StoredPicture) else content
    try:
        if isinstance(content, str) and content.startswith("data:image/"):
            picture = open_picture(content, column)
        elif isinstance(content, bytes) and content:
            picture = open_picture(f"data:image/any;base64,{base64.b64encode(content).decode()}", column)
        else:
            raise UnfitValue(_("The column %(column)s holds no picture.", column=column))
    except errors.Invalid as problem:
        raise UnfitValue("; ".join(problem.fields.values())[:300]) from None
    if max(picture.size) <= PICTURE_SIDE:
        return text_of(picture)
    picture.thumbnail((PICTURE_SIDE, PICTURE_SIDE))
    held = io.BytesIO()
    picture.save(held, "JPEG", quality=92)
    return f"data:image/jpeg;base64,{base64.b64encode(held.getvalue()).decode()}"


def read_words(value: Any, column: str) -> list[str]:
    """Return the words of a sentence: a list as it is, a text at its blanks."""
    parsed = _parsed(value)
    words = parsed.split(" ") if isinstance(parsed, str) else parsed
    if not isinstance(words, list) or not words or not all(isinstance(word, str) for word in words):
        raise UnfitValue(_("The column %(column)s holds no words.", column=column))
    return list(words)


def read_reference(
    role: ColumnRole, value: Any, column: str, classes: Sequence[str], words: Sequence[str] = ()
) -> list[Any]:
    """Return the right answers of a row; raises `UnfitValue`."""
    if role.kind is RoleKind.LABEL:
        return [read_label(value, column, classes)]
    if role.kind is RoleKind.TAGS:
        return [read_spans(value, column, classes, words)]
    if role.kind is RoleKind.NUMBER:
        return [read_number(value, column)]
    texts = list(dict.fromkeys(_answer_texts(_parsed(value))))
    if not texts and role.name == "answers" and value not in (None, ""):
        return [""]  # a question without an answer, as in SQuAD 2.0
    if not texts:
        raise UnfitValue(_("The column %(column)s holds no answer.", column=column))
    return texts


def read_label(value: Any, column: str, classes: Sequence[str]) -> str:
    """Return a label as text: a number stands for the name of its class, where the data names them."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, str) and value.strip().isdecimal() and value.strip() not in classes:
        value = int(value) if len(value.strip()) < 10 and int(value) < len(classes) else value  # a cell of CSV
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < len(classes):
        return str(classes[value])
    if not isinstance(value, str | bool | int | float) or not (text := value_key(value).strip()):
        raise UnfitValue(_("The column %(column)s holds no label.", column=column))
    if classes and text not in classes:
        raise UnfitValue(_("The label %(label)s is none of the classes.", label=text[:50]))
    return text[:300]


def read_number(value: Any, column: str) -> float:
    """Return a number as it is, or as it is written; raises `UnfitValue`."""
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number) or abs(number) > LARGEST_NUMBER:
        raise UnfitValue(_("The column %(column)s holds no number.", column=column))
    return number


def find_number(text: str) -> float | None:
    """Return the first number that a model's text holds; None where it holds none."""
    match = _NUMBER.search(text)
    number = float(match[0]) if match else math.inf
    return number if abs(number) <= LARGEST_NUMBER else None


def _answer_texts(value: Any) -> Iterator[str]:
    """The texts of answers in any of the usual forms: a text, a list of texts or of `{text}`, `{text: [...]}`."""
    if isinstance(value, str):
        if value.strip():
            yield value
    elif isinstance(value, Mapping) and "text" in value:
        yield from _answer_texts(value["text"])
    elif isinstance(value, list):
        for item in value:
            yield from _answer_texts(item)
    elif isinstance(value, bool | int | float):
        yield value_key(value)


def read_spans(value: Any, column: str, classes: Sequence[str], words: Sequence[str]) -> list[dict[str, Any]]:
    """Return labelled spans of the words joined by blanks, from tags in the manner of IOB or from spans."""
    parsed = _parsed(value)
    if isinstance(parsed, str):
        parsed = parsed.split()
    if not isinstance(parsed, list):
        raise UnfitValue(_("The column %(column)s holds no list of tags.", column=column))
    if all(isinstance(item, Mapping) and {"start", "end", "label"} <= item.keys() for item in parsed) and parsed:
        return [_span(" ".join(words), int(item["start"]), int(item["end"]), str(item["label"])) for item in parsed]
    if parsed == [] and words:
        return []
    if len(parsed) != len(words):
        message = _("%(n)s words, but %(m)s tags.", n=len(words), m=len(parsed))
        raise UnfitValue(message)
    return _joined_tags(words, [_tag(item, column, classes) for item in parsed])


def _tag(item: Any, column: str, classes: Sequence[str]) -> str:
    if isinstance(item, int) and not isinstance(item, bool) and 0 <= item < len(classes):
        return str(classes[item])
    if isinstance(item, str) and item and not item.lstrip("-").isdecimal():
        return item
    message = _("The tags in %(column)s are numbers without names. Give the names of the classes.", column=column)
    raise UnfitValue(message)


def _joined_tags(words: Sequence[str], tags: Sequence[str]) -> list[dict[str, Any]]:
    """Spans of the tags B-X, I-X and O; a tag without a letter before it is a span of its own words."""
    text, spans, at = " ".join(words), [], 0
    begun: tuple[int, str] | None = None
    end = 0
    for word, tag in zip(words, tags, strict=True):
        letter, _dash, label = tag.partition("-") if "-" in tag[:2] else ("I", "", "" if tag == "O" else tag)
        if begun and (letter in ("B", "S", "U", "O") or label != begun[1]):
            spans.append(_span(text, begun[0], end, begun[1]))
            begun = None
        if label and begun is None:
            begun = (at, label)
        end = at + len(word)
        at = end + 1
    if begun:
        spans.append(_span(text, begun[0], end, begun[1]))
    return spans


def _span(text: str, start: int, end: int, label: str) -> dict[str, Any]:
    return {"start": start, "end": end, "text": text[start:end], "label": label}


def _parsed(value: Any) -> Any:
    """A cell of CSV that holds JSON, as JSON; anything else as it is."""
    if isinstance(value, str) and value[:1] in "[{":
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value
