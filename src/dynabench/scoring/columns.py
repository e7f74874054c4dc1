"""From answers to columns of the evaluation library: what a metric is, depends on what the answer is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dynabench import evaluate
from dynabench.evaluate.module import Module
from dynabench.tasks.answer_words import answer_words
from dynabench.tasks.fields import Choice, Field, LabelledSpans, Number, Spans, Text, YesNo

SQUAD = {"f1": "f1", "exact_match": "exact_match", "exact": "exact_match"}
LABELLED = {"f1": "f1", "precision": "precision", "recall": "recall", "labelled_spans_f1": "f1"}
"""Metrics of labelled spans, and the result of `labelled_spans_f1` that each is."""
AVERAGED = ("f1", "precision", "recall")
"""Metrics of one class; of several classes their mean is taken."""


@dataclass(frozen=True)
class Metric:
    """A module with its columns, the key of its result that counts, and what that is multiplied with."""

    module: Module
    columns: Mapping[str, list[Any]]
    key: str
    scale: float = 1.0


def metric(name: str, field: Field, said: Sequence[Any], right: Sequence[Sequence[Any]]) -> Metric:
    """The metric `name` of answers `said` where any of `right` is right, row by row.

    Raises ValueError where there is no such metric or it cannot be computed from such answers.
    """
    if isinstance(field, Spans) and name in SQUAD:
        return _squad(name, said, right)
    if isinstance(field, LabelledSpans) and name in LABELLED:
        return _labelled(LABELLED[name], field, said, right)
    if isinstance(field, Number):
        return _numbers(name, field, said, right)
    texts = [_told(field, each) for each in said]
    nearest = [_told(field, _nearest(field, one, accepted)) for one, accepted in zip(said, right, strict=True)]
    columns: dict[str, list[Any]] = {"predictions": texts, "references": nearest}
    if isinstance(field, Choice | YesNo) or name in ("accuracy", "exact_match"):
        return _of(name, columns, **({"average": "macro"} if name in AVERAGED else {}))
    several: dict[str, list[Any]] = {
        "predictions": texts,
        "references": [[_told(field, each) for each in accepted] for accepted in right],
    }
    try:
        found = _of(name, several)
        found.module.clean(several)
    except ValueError:
        return _of(name, columns)
    return found


def _numbers(name: str, field: Number, said: Sequence[Any], right: Sequence[Sequence[Any]]) -> Metric:
    """Of numbers, which models may give as text."""
    numbers = [field.number(each) for each in said]
    if None in numbers:
        raise ValueError("an answer is no number")
    columns = {"predictions": numbers, "references": [each[0] for each in right]}
    return _of("mae" if name == "accuracy" else name, columns)


def _told(field: Field, answer: Any) -> str:
    """An answer as the text by which it is compared: of what is neither text nor spans, its words."""
    return text_of(answer) if isinstance(field, Text | Choice | Spans) else field.in_words(answer)


def is_exact(field: Field, said: Any, accepted: Sequence[Any]) -> bool:
    """Whether an answer is the same as one of those that are accepted."""
    return any(same(field, said, each) for each in accepted)


def same(field: Field, first: Any, second: Any) -> bool:
    """Whether two answers are the same; of marked texts, whether the words of all of them are."""
    if isinstance(field, Spans):
        return _marked(first) == _marked(second)
    return field.same(first, second)


def _marked(answer: Any) -> list[list[str]]:
    parts = answer if isinstance(answer, list) else [answer]
    return [words for each in parts if (words := answer_words(text_of(each)))]


def text_of(answer: Any) -> str:
    """An answer as text: of marked texts the first one, empty where nothing is marked."""
    if isinstance(answer, list):
        return text_of(answer[0]) if answer else ""
    return str(answer["text"]) if isinstance(answer, Mapping) and "text" in answer else str(answer)


def _nearest(field: Field, said: Any, accepted: Sequence[Any]) -> Any:
    """What was said, where it is right, else the reference."""
    for each in accepted:
        if same(field, said, each):
            return said
    return accepted[0]


def _squad(name: str, said: Sequence[Any], right: Sequence[Sequence[Any]]) -> Metric:
    """Of spans, word F1 and exact match in the manner of SQuAD; of version 2 where some questions have no answer."""
    references = [[text for each in accepted if (text := text_of(each))] for accepted in right]
    columns: dict[str, list[Any]] = {"predictions": [text_of(each) for each in said], "references": references}
    if all(references):
        return Metric(evaluate.load("squad"), columns, SQUAD[name], 0.01)
    key = {"exact_match": "exact", "f1": "f1"}[SQUAD[name]]
    chances = [
        {"prediction_text": text, "id": str(row), "no_answer_probability": 0.0}
        for row, text in enumerate(columns["predictions"])
    ]
    asked = [
        {"id": str(row), "answers": {"text": texts, "answer_start": [0] * len(texts)}}
        for row, texts in enumerate(references)
    ]
    return Metric(evaluate.load("squad_v2"), {"predictions": chances, "references": asked}, key, 0.01)


def _labelled(key: str, field: Field, said: Sequence[Any], right: Sequence[Sequence[Any]]) -> Metric:
    """Of spans with labels, by place and label; of several right answers the one that was given, else the first."""
    nearest = [_nearest(field, one or [], accepted) or [] for one, accepted in zip(said, right, strict=True)]
    columns = {"predictions": [one or [] for one in said], "references": nearest}
    return Metric(evaluate.load("labelled_spans_f1"), columns, key)


def _of(name: str, columns: Mapping[str, list[Any]], **options: Any) -> Metric:
    try:
        module = evaluate.load(name, **options)
    except TypeError as error:
        raise ValueError(str(error)) from None
    return Metric(module, columns, module.card.outputs[0].name)
