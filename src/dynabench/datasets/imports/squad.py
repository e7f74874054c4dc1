"""SQuAD 1.1 and 2.0: articles with paragraphs with questions, as contexts and as finished examples.

The claim is the first gold answer; further ones are other people's spans for the same question, and are only counted.
Questions without an answer in the passage have no span to claim: such rows are named and left out.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.tasks import TaskConfig
from dynabench.tasks.fields import Field, Spans, Text

MORE = "Questions with further gold answers; the first is the claim"


def is_squad(values: dict[str, Any]) -> bool:
    """Return whether a row is an article of SQuAD, or one question of its flat form."""
    flat = {"context", "question", "answers"} <= values.keys() and isinstance(values["answers"], dict | list | str)
    return isinstance(values.get("paragraphs"), list) or flat


def spans_field(config: TaskConfig) -> Field | None:
    """The answer that is marked in a text, if the task has one."""
    return next((field for field in config.answer if isinstance(field, Spans)), None)


def names(config: TaskConfig) -> tuple[str, str, str]:
    """The fields of passage, question and answer. Raises `Invalid` for tasks of another kind."""
    answer = spans_field(config)
    passage = getattr(answer, "of", None)
    question = next((field.name for field in config.input if isinstance(field, Text)), None)
    if answer is None or question is None or passage not in {field.name for field in config.context}:
        raise errors.Invalid({"format": _("SQuAD's examples need a task whose answer is marked in its context.")})
    return str(passage), question, answer.name


def passages(article: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The texts of an article, each with the article's title."""
    title = str(article.get("title") or "").replace("_", " ")[:100]
    for paragraph in article.get("paragraphs") or [article]:
        if isinstance(paragraph, dict) and isinstance(paragraph.get("context"), str):
            yield paragraph["context"], title


class Asked(NamedTuple):
    """A question: its passage, what SQuAD says of it, and its gold answers, each a list with one span."""

    text: str
    said: dict[str, Any]
    golds: list[list[dict[str, Any]]]


def asked(article: Mapping[str, Any]) -> Iterator[Asked | str]:
    """The questions of an article, or why one cannot be used."""
    for paragraph in article.get("paragraphs") or [article]:
        text = paragraph.get("context") if isinstance(paragraph, dict) else None
        for said in paragraph.get("qas", [paragraph]) if isinstance(paragraph, dict) else []:
            if not isinstance(text, str) or not isinstance(said, dict):
                yield _("A paragraph has no context, or a question is no object.")
                continue
            found = dict.fromkeys(golds(said))
            if said.get("is_impossible") or not found:
                number = str(said.get("id", "?"))[:60]
                yield _("Question %(number)s: the passage has no answer, so there is no span to claim.", number=number)
                continue
            yield Asked(text, said, [[{"start": at, "end": at + len(span), "text": span}] for at, span in found])


def title(article: Mapping[str, Any]) -> str:
    """An article's title as a tag."""
    return "".join(one for one in str(article.get("title") or "").replace("_", " ")[:100] if one.isprintable())


def questions(article: dict[str, Any], config: TaskConfig) -> Iterator[dict[str, Any] | str]:
    """The article's questions as documents of rows, or why one has none; `more` says that there are further golds."""
    passage, question, answer = names(config)
    for one in asked(article):
        if isinstance(one, str):
            yield one
            continue
        made: dict[str, Any] = {
            "context": {"values": {passage: one.text}, "tag": title(article)},
            "input": {question: one.said.get("question")},
            "answer": {answer: one.golds[0]},
            "predictions": [], "validations": [], "more": len(one.golds) > 1,
        }  # fmt: skip
        if one.said.get("id"):
            made["uid"] = f"squad-{one.said['id']}"
        yield made


def golds(said: dict[str, Any]) -> list[tuple[int, str]]:
    """The gold answers as (start, text), in the nested form and in the flat one of columns."""
    answers = said.get("answers")
    if isinstance(answers, dict):
        texts, starts = answers.get("text") or [], answers.get("answer_start") or []
        answers = [{"text": text, "answer_start": start} for text, start in zip(texts, starts, strict=False)]
    given = [one for one in answers if isinstance(one, dict)] if isinstance(answers, list) else []
    return [
        (one["answer_start"], one["text"])
        for one in given
        if isinstance(one.get("text"), str) and isinstance(one.get("answer_start"), int)
    ]
