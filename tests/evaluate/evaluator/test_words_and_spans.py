"""Tags of words and answers in passages, against computations that go step by step."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
import transformers

from dynabench.evaluate import evaluator
from tests.evaluate.evaluator.test_classifying import Listed
from tests.evaluate.evaluator.tiny import Seen, bert, saved, texts

TAGS = {0: "O", 1: "B-LOC", 2: "I-LOC"}
UNKNOWN = "Parisian unheardof gooder".split()  # words of several pieces


@pytest.fixture(scope="module")
def tagger() -> tuple[Any, Any]:
    return bert("BertForTokenClassification", id2label=TAGS, label2id={tag: n for n, tag in TAGS.items()})


@pytest.fixture(scope="module")
def reader() -> tuple[Any, Any]:
    return bert("BertForQuestionAnswering", seed=1, longest=32)


def sentences(n: int) -> list[list[str]]:
    rng = np.random.default_rng(0)
    return [
        [str(rng.choice(UNKNOWN)) if rng.random() < 0.3 else word for word in text.split()] for text in texts(n, 11)
    ]


def tags_by_word(model: Any, tokenizer: Any, words: list[str]) -> list[str]:
    batch = tokenizer(words, is_split_into_words=True, return_tensors="pt")
    with torch.no_grad():
        chosen = model(**batch).logits[0].argmax(-1).tolist()
    owners = batch.word_ids()
    return [TAGS[chosen[owners.index(word)]] for word in range(len(words))]


@pytest.mark.release
def test_a_words_tag_is_that_of_its_first_piece(tagger: tuple[Any, Any], tmp_path: Path) -> None:
    words = sentences(30)
    answer = [tags_by_word(*tagger, first) for first in words]
    assert {tag for single in answer for tag in single} == set(TAGS.values())
    rows = [{"tokens": word, "ner_tags": tags} for word, tags in zip(words, answer, strict=True)]
    for model in (
        saved(tmp_path / "bert", *tagger),
        transformers.pipeline("token-classification", model=tagger[0], tokenizer=tagger[1], device=-1),
    ):
        metric = Seen()
        evaluator("token-classification").compute(model, rows, metric=metric, batch_size=4)
        assert metric.columns == {"predictions": answer, "references": answer}


def test_numbered_tags_have_their_classes_names(tagger: tuple[Any, Any]) -> None:
    rows = [{"tokens": ["Paris", "is", "good"], "ner_tags": [2, 0, 1]}]
    named = Listed(rows, {"ner_tags": SimpleNamespace(feature=SimpleNamespace(names=["O", "I-LOC", "B-LOC"]))})
    metric = Seen()
    evaluator("token-classification").compute(tagger[0], named, tokenizer=tagger[1], metric=metric)
    assert metric.columns["references"] == [["B-LOC", "O", "I-LOC"]]
    with pytest.raises(ValueError, match="does not name its classes"):
        evaluator("token-classification").compute(tagger[0], rows, tokenizer=tagger[1], metric=metric)


def test_words_that_are_cut_off_are_outside(tagger: tuple[Any, Any]) -> None:
    rows = [{"tokens": ["good"] * 100, "ner_tags": ["O"] * 100}]
    metric = Seen()
    evaluator("token-classification").compute(tagger[0], rows, tokenizer=tagger[1], metric=metric)
    assert metric.columns["predictions"][0][62:] == ["O"] * 38
    assert len(metric.columns["predictions"][0]) == 100


def test_callables_tag_words_or_places_in_the_joined_text() -> None:
    rows = [{"tokens": ["ab", "", "c"], "ner_tags": ["X", "O", "Y"]}]
    task, metric = evaluator("token-classification"), Seen()
    task.compute(lambda batch: [["X", "O", "Y"] for _ in batch], rows, metric=metric)
    assert metric.columns["predictions"] == metric.columns["references"]

    def placed(batch: list[str]) -> list[Any]:
        assert batch == ["ab--c"]
        return [[{"entity": "X", "start": 0}, {"entity": "Z", "start": 1}, {"entity": "Y", "start": 4}]]

    task.compute(placed, rows, metric=metric, join_by="-")
    assert metric.columns["predictions"] == metric.columns["references"]
    with pytest.raises(ValueError, match="row 0 has 2 words and 1 tags"):
        task.compute(placed, [{"tokens": ["a", "b"], "ner_tags": ["O"]}], metric=metric)
    with pytest.raises(ValueError, match="row 0: an answer is a tag for each word"):
        task.compute(lambda _: [["O"]], rows, metric=metric)


def answer_by_hand(model: Any, tokenizer: Any, question: str, context: str) -> tuple[str, float, float]:
    """The best span over all windows of a passage, by loops; and the least probability of no answer."""
    pieces = tokenizer(context, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
    request = tokenizer(question, add_special_tokens=False)["input_ids"]
    room, step = 32 - len(request) - 3, 32 - len(request) - 3 - 10
    candidates, nothing, at = [(0.0, "")], 1.0, 0
    while True:
        ids = pieces["input_ids"][at : at + room]
        values = [2, *request, 3, *ids, 3]
        types = [0] * (len(request) + 2) + [1] * (len(ids) + 1)
        with torch.no_grad():
            answer = model(input_ids=torch.tensor([values]), token_type_ids=torch.tensor([types]))
        places = [0, *range(len(request) + 2, len(request) + 2 + len(ids))]
        first, last = (logits[0, places].softmax(-1).tolist() for logits in (answer.start_logits, answer.end_logits))
        nothing = min(nothing, first[0] * last[0])
        for start in range(len(ids)):
            for end in range(start, min(start + 15, len(ids))):
                low, high = pieces["offset_mapping"][at + start][0], pieces["offset_mapping"][at + end][1]
                while low and context[low - 1] != " " and at + start:
                    low -= 1
                while high < len(context) and context[high] != " ":
                    high += 1
                candidates.append((first[start + 1] * last[end + 1], context[low:high]))
        if at + room >= len(pieces["input_ids"]):
            break
        at += step
    score, text = max(candidates, key=lambda single: single[0])
    return text, score, nothing


def squad(n: int) -> list[dict[str, Any]]:
    request = texts(n, 12)
    passages = [" ".join(texts(1 + at % 6, 40 + at)) for at in range(n)]
    return [
        {
            "id": f"q{at}",
            "question": " ".join(question.split()[:5]),
            "context": context,
            "answers": {"text": [context.split()[0]], "answer_start": [0]},
        }
        for at, (question, context) in enumerate(zip(request, passages, strict=True))
    ]


@pytest.mark.release
def test_answers_are_the_likeliest_spans_of_all_windows(reader: tuple[Any, Any], tmp_path: Path) -> None:
    rows = squad(20)
    assert max(len(row["context"].split()) for row in rows) > 30
    by_hand = [answer_by_hand(*reader, row["question"], row["context"]) for row in rows]
    folder = saved(tmp_path / "bert", *reader)
    for size in (1, 8):
        metric = Seen()
        evaluator("question-answering").compute(folder, rows, metric=metric, batch_size=size)
        assert metric.columns["predictions"] == [
            {"id": f"q{at}", "prediction_text": text} for at, (text, _, _) in enumerate(by_hand)
        ]
    assert metric.columns["references"][3] == {"id": "q3", "answers": rows[3]["answers"]}


def test_questions_without_an_answer_may_be_answered_by_nothing(reader: tuple[Any, Any]) -> None:
    rows = squad(20)
    rows[4]["answers"] = {"text": [], "answer_start": []}
    by_hand = [answer_by_hand(*reader, row["question"], row["context"]) for row in rows]
    metric = Seen()
    evaluator("question-answering").compute(reader[0], rows, tokenizer=reader[1], metric=metric)
    predictions = metric.columns["predictions"]
    assert [candidate["prediction_text"] for candidate in predictions] == [
        "" if none > score else text for text, score, none in by_hand
    ]
    assert len({first["prediction_text"] == "" for first in predictions}) == 2, "some are answered and some are not"
    assert [single["no_answer_probability"] for single in predictions] == pytest.approx(
        [none for _, _, none in by_hand], abs=1e-5
    )
    evaluator("question-answering").compute(reader[0], rows, tokenizer=reader[1], metric=metric, squad_v2_format=False)
    assert all(prediction["prediction_text"] for prediction in metric.columns["predictions"])


def test_answers_come_in_several_forms() -> None:
    rows = [
        {"question": "who", "context": "a b", "answers": right}
        for right in ("a", ["a", "b"], {"text": "a", "answer_start": 0}, [{"text": "a", "answer_start": 0}])
    ]
    metric = Seen()
    answer = ["a", {"answer": "a"}, {"answer": "b", "score": 0.5}, [{"answer": "a"}]]
    evaluator("question-answering").compute(lambda _: answer, rows, metric=metric)
    assert [reference["answers"]["text"] for reference in metric.columns["references"]] == [
        ["a"],
        ["a", "b"],
        ["a"],
        ["a"],
    ]
    assert [single["answers"]["answer_start"] for single in metric.columns["references"]] == [[-1], [-1, -1], [0], [0]]
    assert [first["id"] for first in metric.columns["predictions"]] == ["0", "1", "2", "3"]
    assert [prediction["prediction_text"] for prediction in metric.columns["predictions"]] == ["a", "a", "b", "a"]


def test_a_model_with_a_card_that_extracts_is_asked_by_its_fields() -> None:
    def predict(batch: list[dict[str, str]]) -> list[Any]:
        spans = [{"text": row["passage"][:2], "start": 0, "end": 2} for row in batch]
        return [
            SimpleNamespace(answer={"span": [span] if span["text"] != "--" else []}, probabilities={span["text"]: 0.7})
            for span in spans
        ]

    card = SimpleNamespace(name="m", version="1", inputs=("question", "passage"), answer="span", labels=())
    rows = [
        {"question": "who", "context": context, "answers": {"text": texts, "answer_start": [0] * len(texts)}}
        for context, texts in (("abc", ["ab"]), ("--", []), ("xyz", ["x"]))
    ]
    metric = Seen()
    evaluator("question-answering").compute(SimpleNamespace(card=card, predict=predict), rows, metric=metric)
    assert [prediction["prediction_text"] for prediction in metric.columns["predictions"]] == ["ab", "", "xy"]
    assert [first["no_answer_probability"] for first in metric.columns["predictions"]] == pytest.approx([0.3, 1, 0.3])


def test_a_checkpoint_of_answers_that_must_be_there_is_none_of_those_that_need_not(
    reader: tuple[Any, Any], tmp_path: Path
) -> None:
    rows, path = squad(3), tmp_path / "answers.jsonl"
    task, values = evaluator("question-answering"), {"tokenizer": reader[1], "metric": Seen(), "checkpoint": path}
    task.compute(reader[0], rows, **values)
    task.compute(reader[0], rows, **values, squad_v2_format=False)
    with pytest.raises(ValueError, match="of another model"):
        task.compute(reader[0], rows, **values, squad_v2_format=True)
