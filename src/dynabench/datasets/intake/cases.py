"""Cases as read from a file: of columns' values, of SQuAD's articles, of behavioural suites."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

from dynabench.datasets.imports import formats
from dynabench.intake.mapping import value_key
from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.tasks import TaskConfig
from dynabench.tasks.fields import Choice, Field, Spans, Text

UID = re.compile(r"[^\x00-\x20\x7f\ud800-\udfff](?:[^\x00-\x1f\x7f\ud800-\udfff]{0,198}[^\x00-\x20\x7f\ud800-\udfff])?")
LONGEST_TAG, MOST_TAGS = 100, 20  # characters; of one row
MOST_ANSWERS = 100  # answers of one row
_SPLIT = re.compile(r"[,;|]")
_UNSEEN = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")


class DatasetCase(NamedTuple):
    """A row: values by field, acceptable answers by field, the first the reference; `uid` is empty for a number."""

    inputs: Mapping[str, Any]
    answers: Sequence[Mapping[str, Any]]
    tags: tuple[str, ...]
    uid: str = ""


@dataclass(frozen=True)
class SkippedCases:
    """Rows that are left out on purpose, which makes no file a bad one."""

    text: str
    times: int = 1


def read_value(raw: Any, field: Field) -> Any:
    """A value with the type that a field wants, where it says so plainly; objects and lists stay as they are."""
    if isinstance(field, Text | Choice):
        return value_key(raw) if isinstance(raw, int | float) else raw
    return field.from_text(raw) if isinstance(raw, str) else raw


def read_uid(raw: Any) -> str:
    """An id from a column. Raises `Invalid` under `uid`."""
    text = raw if isinstance(raw, str) else str(raw) if isinstance(raw, int) else ""
    if not UID.fullmatch(text):
        raise errors.Invalid({"uid": _("An id has 1 to 200 visible characters.")})
    return text


def read_tags(raw: Any, more: Iterable[tuple[str, Any]] = ()) -> tuple[str, ...]:
    """The tags in a list, or in a text where commas, semicolons or bars part them; `more` are `column=value` ones."""
    if isinstance(raw, str) and raw[:1] == "[":
        with suppress(ValueError, RecursionError):
            raw = json.loads(raw)
    if raw is None or raw == "":
        several: Iterable[Any] = ()
    else:
        several = raw if isinstance(raw, list) else _SPLIT.split(raw) if isinstance(raw, str) else [raw]
    tags = [str(entry).strip() for entry in several if entry is not None]
    tags += [f"{name}={value_key(entry).strip()}" for name, entry in more if entry not in (None, "")]
    tags = list(dict.fromkeys(entry for entry in tags if entry))
    if len(tags) > MOST_TAGS:
        raise errors.Invalid({"tags": _("A row has at most %(tags)s tags.", tags=MOST_TAGS)})
    for entry in tags:
        if len(entry) > LONGEST_TAG or _UNSEEN.search(entry):
            raise errors.Invalid(
                {
                    "tags": _(
                        "A tag has at most %(tag)s characters on one line: %(each)s.",
                        tag=LONGEST_TAG,
                        each=repr(entry[:40]),
                    )
                }
            )
    return tuple(tags)


def read_answers(raw: Any, field: Field) -> list[Any]:
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
    if len(raw) > MOST_ANSWERS:
        raise errors.Invalid(
            {f"answer.{field.name}": _("A row has at most %(accepted)s acceptable answers.", accepted=MOST_ANSWERS)}
        )
    if isinstance(field, Spans):
        single = bool(raw) and all(isinstance(entry, dict) and "start" in entry for entry in raw)
    else:
        single = field.json_schema().get("type") == "array" and not any(isinstance(entry, list | dict) for entry in raw)
    return [raw] if single else raw


def _span(text: str, start: Any) -> Any:
    if type(start) is not int:
        raise errors.Invalid({"answer": _("The start of an answer must be a whole number.")})
    return [{"start": start, "end": start + len(text), "text": text}]


def find_span(text: str, passage: Any) -> list[dict[str, Any]]:
    """The first place where a text stands in a passage, as whole words if it does. Raises `Invalid`."""
    words = text.strip()
    if words and isinstance(passage, str):
        whole = re.search(rf"(?<!\w){re.escape(words)}(?!\w)", passage)
        start = whole.start() if whole else passage.find(words)
        if start >= 0:
            return [{"start": start, "end": start + len(words), "text": words}]
    raise errors.Invalid({"answer": _("%(words)s is not in the passage.", words=repr(words[:60]))})


def squad_cases(article: Mapping[str, Any], config: TaskConfig) -> Iterator[DatasetCase | str]:
    """The questions of an article, each a case, or why it is none. Raises `Invalid` for tasks of another kind."""
    passage, question, answer = formats.squad_fields(config)
    title = formats.article_title(article)
    for item in formats.read_questions(article):
        if isinstance(item, str):
            yield item
            continue
        inputs = {passage: item.text, question: item.question.get("question")}
        answers = [{answer: span} for span in item.golds[:MOST_ANSWERS]]
        yield DatasetCase(inputs, answers, (title,) if title else (), str(item.question.get("id") or ""))


VALENCE = ("negative", "neutral", "positive")  # what CheckList's sentiment numbers mean, from 0
Meanings = Mapping[str, str | list[str]]


def guess_meanings(config: TaskConfig, tests: Sequence[Mapping[str, Any]]) -> dict[str, str | list[str]]:
    """Return the meanings of class numbers and of tests without a label.

    A test without a label that is called "... not X" means all options but X.
    """
    first = config.fields("answer")[0]
    options = first.values if isinstance(first, Choice) else []
    meanings: dict[str, str | list[str]] = {}
    if set(VALENCE) == set(options):
        meanings |= {str(number): name for number, name in enumerate(VALENCE)}
    for test in tests:
        name = str(test.get("test", ""))
        for option in options:
            if test.get("labels") is None and test.get("type") == "MFT" and f"not {option}" in name:
                meanings[name] = [other for other in options if other != option]
    return meanings


def checklist_cases(
    values: Mapping[str, Any], config: TaskConfig, meanings: Meanings
) -> Iterator[DatasetCase | SkippedCases | str]:
    """The cases of a test; a text says why one is none."""
    name, kind, data = str(values.get("test") or ""), str(values.get("type") or ""), values.get("data")
    if not isinstance(data, list) or not name:
        yield _("A test needs a name under test and a list of cases under data.")
        return
    if kind != "MFT":
        yield SkippedCases(f"Cases of {kind[:10] or 'unnamed'} tests, which have no right answer", len(data))
        return
    labels = values.get("labels")
    if labels is None and name not in meanings:
        yield _(
            "The test %(name)s does not define its answers. List the right ones under values.",
            name=repr(name[:60]),
        )
        return
    capability = str(values.get("capability") or "")[:80]
    tags = read_tags([name[:LONGEST_TAG]], [("capability", capability)])
    fields = [*config.model_context, *config.fields("input")]
    for number, item in enumerate(data, start=1):
        item_labels = labels[number - 1] if isinstance(labels, list) and number <= len(labels) else labels
        for place, texts in enumerate(_members(item, len(fields)), start=1):
            if texts is None:
                yield SkippedCases("Cases without any text")
                continue
            label = (
                item_labels[place - 1] if isinstance(item_labels, list) and place <= len(item_labels) else item_labels
            )
            inputs = {field.name: text for field, text in zip(fields, texts, strict=False)}
            try:
                answers = _test_answers(config.fields("answer")[0], name if labels is None else label, meanings, inputs)
            except errors.Invalid as problem:
                yield problem.detail
                continue
            yield DatasetCase(inputs, answers, tags, f"{number}.{place}")


def _members(item: Any, fields: int) -> Iterator[list[Any] | None]:
    """The texts of each case in a member of `data`: a text, one text for each field, or a list of either."""
    if item is None:
        yield None
    elif isinstance(item, str):
        yield [item]
    elif isinstance(item, list) and fields > 1 and len(item) == fields and all(isinstance(e, str) for e in item):
        yield item
    elif isinstance(item, list):
        yield from (member if isinstance(member, list) else [member] for member in item)
    else:
        yield [item]


def _test_answers(field: Field, label: Any, meanings: Meanings, inputs: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    answers: list[Mapping[str, Any]] = []
    for raw in label if isinstance(label, list) else [label]:
        meant = meanings.get(value_key(raw), raw)
        for value in meant if isinstance(meant, list) else [meant]:
            spans = isinstance(field, Spans) and isinstance(value, str)
            read = find_span(value, inputs.get(field.of)) if spans else read_value(value, field)  # type: ignore
            answers.append({field.name: read})
    return answers
