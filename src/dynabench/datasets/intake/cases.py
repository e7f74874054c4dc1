"""Rows as read from a file, before the task has checked them, and readers of single values."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

from dynabench.intake.mapping import value_key
from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.tasks.fields import Choice, Field, Spans, Text

UID = re.compile(r"[^\x00-\x20\x7f\ud800-\udfff](?:[^\x00-\x1f\x7f\ud800-\udfff]{0,198}[^\x00-\x20\x7f\ud800-\udfff])?")
TAG, TAGS = 100, 20  # characters; of one row
ACCEPTED = 100  # answers of one row
_SPLIT = re.compile(r"[,;|]")
_UNSEEN = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")


class Case(NamedTuple):
    """A row: values by field, acceptable answers by field, the first the reference; `uid` is empty for a number."""

    given: Mapping[str, Any]
    answers: Sequence[Mapping[str, Any]]
    tags: tuple[str, ...]
    uid: str = ""


@dataclass(frozen=True)
class Note:
    """Rows that are left out on purpose, which makes no file a bad one."""

    text: str
    times: int = 1


def value(raw: Any, field: Field) -> Any:
    """A value with the type that a field wants, where it says so plainly; objects and lists stay as they are."""
    if isinstance(field, Text | Choice):
        return value_key(raw) if isinstance(raw, int | float) else raw
    return field.from_text(raw) if isinstance(raw, str) else raw


def uid(raw: Any) -> str:
    """An id from a column. Raises `Invalid` under `uid`."""
    text = raw if isinstance(raw, str) else str(raw) if isinstance(raw, int) else ""
    if not UID.fullmatch(text):
        raise errors.Invalid({"uid": _("An id has 1 to 200 characters, none of them invisible.")})
    return text


def tags(raw: Any, more: Iterable[tuple[str, Any]] = ()) -> tuple[str, ...]:
    """The tags in a list, or in a text where commas, semicolons or bars part them; `more` are `column=value` ones."""
    if isinstance(raw, str) and raw[:1] == "[":
        with suppress(ValueError, RecursionError):
            raw = json.loads(raw)
    if raw is None or raw == "":
        several: Iterable[Any] = ()
    else:
        several = raw if isinstance(raw, list) else _SPLIT.split(raw) if isinstance(raw, str) else [raw]
    found = [str(each).strip() for each in several if each is not None]
    found += [f"{name}={value_key(each).strip()}" for name, each in more if each not in (None, "")]
    found = list(dict.fromkeys(each for each in found if each))
    if len(found) > TAGS:
        raise errors.Invalid({"tags": _("A row has at most %(tags)s tags.", tags=TAGS)})
    for each in found:
        if len(each) > TAG or _UNSEEN.search(each):
            raise errors.Invalid(
                {
                    "tags": _(
                        "A tag has at most %(tag)s characters on one line: %(each)s.", tag=TAG, each=repr(each[:40])
                    )
                }
            )
    return tuple(found)


def several(raw: Any, field: Field) -> list[Any]:
    """The acceptable answers in a cell: members of a list, but one list is one answer where answers are lists.

    The text of a table may hold such a list as JSON.
    """
    if isinstance(raw, str) and raw[:1] == "[" and raw[-1:] == "]":
        try:
            raw = json.loads(raw)
        except (ValueError, RecursionError):
            return [raw]
    if isinstance(raw, dict) and "text" in raw and "answer_start" in raw:  # a question of SQuAD's flat form
        texts, starts = raw["text"], raw["answer_start"]
        if isinstance(texts, list) and isinstance(starts, list) and len(texts) == len(starts):
            return [_span(text, start) for text, start in dict.fromkeys(zip(map(str, texts), starts, strict=True))]
    if not isinstance(raw, list):
        return [raw]
    if len(raw) > ACCEPTED:
        raise errors.Invalid(
            {f"answer.{field.name}": _("A row has at most %(accepted)s acceptable answers.", accepted=ACCEPTED)}
        )
    if isinstance(field, Spans):
        one = bool(raw) and all(isinstance(each, dict) and "start" in each for each in raw)
    else:
        one = field.json_schema().get("type") == "array" and not any(isinstance(each, list | dict) for each in raw)
    return [raw] if one else raw


def _span(text: str, start: Any) -> Any:
    if type(start) is not int:
        raise errors.Invalid({"answer": _("Where an answer starts is a whole number.")})
    return [{"start": start, "end": start + len(text), "text": text}]


def spans_of(text: str, passage: Any) -> list[dict[str, Any]]:
    """The first place where a text stands in a passage, as whole words if it does. Raises `Invalid`."""
    words = text.strip()
    if words and isinstance(passage, str):
        whole = re.search(rf"(?<!\w){re.escape(words)}(?!\w)", passage)
        start = whole.start() if whole else passage.find(words)
        if start >= 0:
            return [{"start": start, "end": start + len(words), "text": words}]
    raise errors.Invalid({"answer": _("%(words)s is not in the passage.", words=repr(words[:60]))})
