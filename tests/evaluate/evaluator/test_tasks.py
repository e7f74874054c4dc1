"""Every task has a metric of its own, by the names that it gives its columns."""

from typing import Any

import pytest

from dynabench.evaluate import evaluator

WORDS = {"tokens": [["New", "York", "is", "big"], ["Paris"]], "ner_tags": [["B-LOC", "I-LOC", "O", "O"], ["B-LOC"]]}
EXAMPLES = {
    "id": ["1", "2"],
    "question": ["who", "where"],
    "context": ["Ann sits", "in Rome"],
    "answers": [{"text": ["Ann"], "answer_start": [0]}, {"text": ["Rome"], "answer_start": [3]}],
}
NONE = {**EXAMPLES, "answers": [EXAMPLES["answers"][0], {"text": [], "answer_start": []}]}
TEXTS = {"text": ["x", "y"], "label": ["the cat sat on the mat", "a dog ran over the green hill"]}
SPOKEN = {"path": ["x.wav", "y.wav"], "sentence": TEXTS["label"]}
CASES: list[tuple[str, str, dict[str, Any], list[Any], dict[str, Any]]] = [
    ("token-classification", "seqeval", WORDS, WORDS["ner_tags"], {"overall_f1": 1}),
    ("question-answering", "squad", EXAMPLES, ["Ann", "Paris"], {"exact_match": 50}),
    ("question-answering", "squad_v2", NONE, ["Ann", ""], {"exact": 100}),
    ("text-generation", "word_count", {"text": ["a", "b"]}, ["one two", "two three"], {"total_word_count": 4}),
    ("text2text-generation", "bleu", TEXTS, TEXTS["label"], {"bleu": 1}),
    ("summarization", "rouge", TEXTS, TEXTS["label"], {"rouge1": 1}),
    ("translation", "bleu", TEXTS, TEXTS["label"], {"bleu": 1}),
    ("automatic-speech-recognition", "wer", SPOKEN, TEXTS["label"], {"wer": 0}),
    ("image-classification", "accuracy", {"image": [1, 2], "label": [0, 1]}, [0, 0], {"accuracy": 0.5}),
    ("audio-classification", "accuracy", {"file": [1, 2], "label": [0, 1]}, [0, 0], {"accuracy": 0.5}),
    ("text-classification", "accuracy", {"text": ["x", "y"], "label": [0, 1]}, [0, 0], {"accuracy": 0.5}),
]


@pytest.mark.parametrize(
    ("task", "metric", "columns", "predictions", "right"), CASES, ids=[f"{a} {b}" for a, b, *_ in CASES]
)
def test_a_task_is_scored_by_its_own_metric(
    task: str, metric: str, columns: dict[str, Any], predictions: list[Any], right: dict[str, Any]
) -> None:
    result = evaluator(task).compute(lambda _: predictions, columns)
    assert {key: result[key] for key in right} == pytest.approx(right)
    assert result["total_time_in_seconds"] >= 0
