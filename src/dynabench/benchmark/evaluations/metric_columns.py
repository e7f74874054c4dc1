"""The columns of the evaluation library's metrics, made from answers according to their type."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dynabench import evaluate
from dynabench.evaluate.module import Module
from dynabench.tasks.fields import Choice, Field, LabelledSpans, Number, Spans, Text, YesNo
from dynabench.tasks.words import answer_words

SQUAD = {"f1": "f1", "exact_match": "exact_match", "exact": "exact_match"}
LABELLED = {"f1": "f1", "precision": "precision", "recall": "recall", "labelled_spans_f1": "f1"}
"""Metrics of labelled spans, and the result of `labelled_spans_f1` that each is."""
AVERAGED = ("f1", "precision", "recall")
"""Metrics of one class; of several classes their mean is taken."""


@dataclass(frozen=True)
class BoundMetric:
    """A module with its columns, the key of its result that counts, and what that is multiplied with."""

    module: Module
    columns: Mapping[str, list[Any]]
    key: str
    scale: float = 1.0


def bind_metric(
    name: str, field: Field, predictions: Sequence[Any], accepted_answers: Sequence[Sequence[Any]]
) -> BoundMetric:
    """Return the metric `name` with its columns, for predictions and the accepted answers of each row.

    Raises ValueError where there is no such metric or it cannot be computed from such answers.
    """
    if isinstance(field, Spans) and name in SQUAD:
        return _squad(name, predictions, accepted_answers)
    if isinstance(field, LabelledSpans) and name in LABELLED:
        return _labelled(LABELLED[name], field, predictions, accepted_answers)
    if isinstance(field, Number):
        return _numbers(name, field, predictions, accepted_answers)
    texts = [_comparison_text(field, value) for value in predictions]
    nearest = [
        _comparison_text(field, _nearest(field, prediction, accepted))
        for prediction, accepted in zip(predictions, accepted_answers, strict=True)
    ]
    columns: dict[str, list[Any]] = {"predictions": texts, "references": nearest}
    if isinstance(field, Choice | YesNo) or name in ("accuracy", "exact_match"):
        return _load(name, columns, **({"average": "macro"} if name in AVERAGED else {}))
    several: dict[str, list[Any]] = {
        "predictions": texts,
        "references": [[_comparison_text(field, value) for value in accepted] for accepted in accepted_answers],
    }
    try:
        bound = _load(name, several)
        bound.module.clean(several)
    except ValueError:
        return _load(name, columns)
    return bound


def _numbers(
    name: str, field: Number, predictions: Sequence[Any], accepted_answers: Sequence[Sequence[Any]]
) -> BoundMetric:
    """Of numbers, which models may give as text."""
    numbers = [field.number(value) for value in predictions]
    if None in numbers:
        raise ValueError("an answer is no number")
    columns = {"predictions": numbers, "references": [value[0] for value in accepted_answers]}
    return _load("mae" if name == "accuracy" else name, columns)


def _comparison_text(field: Field, answer: Any) -> str:
    """An answer as the text by which it is compared: of what is neither text nor spans, its words."""
    return text_of_answer(answer) if isinstance(field, Text | Choice | Spans) else field.in_words(answer)


def is_exact(field: Field, prediction: Any, accepted: Sequence[Any]) -> bool:
    """Return True if an answer is the same as one of the accepted ones."""
    return any(same_answer(field, prediction, reference) for reference in accepted)


def same_answer(field: Field, first: Any, second: Any) -> bool:
    """Return True if two answers are the same; marked texts are, if the words of all parts are."""
    if isinstance(field, Spans):
        return _marked(first) == _marked(second)
    return field.same(first, second)


def _marked(answer: Any) -> list[list[str]]:
    parts = answer if isinstance(answer, list) else [answer]
    return [words for part in parts if (words := answer_words(text_of_answer(part)))]


def text_of_answer(answer: Any) -> str:
    """Return an answer as text: of marked texts the first one, an empty text where nothing is marked."""
    if isinstance(answer, list):
        return text_of_answer(answer[0]) if answer else ""
    return str(answer["text"]) if isinstance(answer, Mapping) and "text" in answer else str(answer)


def _nearest(field: Field, prediction: Any, accepted: Sequence[Any]) -> Any:
    """The prediction where it is right, else the first reference."""
    for reference in accepted:
        if same_answer(field, prediction, reference):
            return prediction
    return accepted[0]


def _squad(name: str, predictions: Sequence[Any], accepted_answers: Sequence[Sequence[Any]]) -> BoundMetric:
    """Of spans, word F1 and exact match in the manner of SQuAD; of version 2 where some questions have no answer."""
    references = [[text for value in accepted if (text := text_of_answer(value))] for accepted in accepted_answers]
    columns: dict[str, list[Any]] = {
        "predictions": [text_of_answer(value) for value in predictions],
        "references": references,
    }
    if all(references):
        return BoundMetric(evaluate.load("squad"), columns, SQUAD[name], 0.01)
    key = {"exact_match": "exact", "f1": "f1"}[SQUAD[name]]
    chances = [
        {"prediction_text": text, "id": str(row), "no_answer_probability": 0.0}
        for row, text in enumerate(columns["predictions"])
    ]
    references_by_id = [
        {"id": str(row), "answers": {"text": texts, "answer_start": [0] * len(texts)}}
        for row, texts in enumerate(references)
    ]
    return BoundMetric(evaluate.load("squad_v2"), {"predictions": chances, "references": references_by_id}, key, 0.01)


def _labelled(
    key: str, field: Field, predictions: Sequence[Any], accepted_answers: Sequence[Sequence[Any]]
) -> BoundMetric:
    """Of spans with labels, by place and label; of several right answers the one that was given, else the first."""
    nearest = [
        _nearest(field, prediction or [], accepted) or []
        for prediction, accepted in zip(predictions, accepted_answers, strict=True)
    ]
    columns = {"predictions": [prediction or [] for prediction in predictions], "references": nearest}
    return BoundMetric(evaluate.load("labelled_spans_f1"), columns, key)


def _load(name: str, columns: Mapping[str, list[Any]], **options: Any) -> BoundMetric:
    try:
        module = evaluate.load(name, **options)
    except TypeError as error:
        raise ValueError(str(error)) from None
    return BoundMetric(module, columns, module.card.outputs[0].name)
