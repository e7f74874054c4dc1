"""Answers that are marked in a passage: the shipped task, and what a config may say about them."""

import json

import pytest

from dynabench.kit.errors import Invalid, Unavailable
from dynabench.tasks import TaskConfig, shipped_tasks

[shipped] = [task for task in shipped_tasks() if task.config.id == "qa"]
qa = shipped.config
PASSAGE = {"passage": "The mill’s wheel turns slowly. Ada’s brother oils it on Fridays."}
QUESTION = {"question": "Who oils the wheel?"}


def marked(text, **more):
    start = PASSAGE["passage"].index(text)
    return {"answer": [{"start": start, "end": start + len(text), "text": text, **more}]}


def test_an_answer_is_one_span_of_the_passage():
    answer = marked("Ada’s brother")
    assert qa.clean_answer(answer, context=PASSAGE, input=QUESTION) == answer
    bare = {"answer": [{"start": answer["answer"][0]["start"], "end": answer["answer"][0]["end"]}]}
    assert qa.clean_answer(bare, context=PASSAGE) == answer
    assert qa.goal == "chosen"
    assert qa.model_inputs(PASSAGE, QUESTION) == {**PASSAGE, **QUESTION}


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"answer": []},
        {"answer": "Ada"},
        {"answer": [{"start": 0, "end": 500}]},
        {"answer": [{"start": 0, "end": 3, "text": "Ada"}]},
        {"answer": [{"start": 0, "end": 3}, {"start": 4, "end": 8}]},
    ],
)
def test_no_span_two_spans_and_spans_elsewhere_are_refused(answer):
    with pytest.raises(Invalid) as caught:
        qa.clean_answer(answer, context=PASSAGE)
    assert list(caught.value.fields) == ["answer.answer"]


@pytest.mark.parametrize(
    ("answer", "claimed", "fooled"),
    [
        ("Ada’s brother", "Ada’s brother", False),
        ("Ada’s brother oils it", "brother", False),  # F1 0.4 is not below 0.4
        ("Ada’s brother oils it on", "brother", True),
        ("The mill", "mill", False),
        ("Ada", "Ada’s brother", True),
        ("Fridays", "Ada’s brother", True),
    ],
)
def test_a_model_is_fooled_when_too_few_words_are_common(answer, claimed, fooled):
    assert qa.fooled_by(marked(answer), marked(claimed)) is fooled
    assert qa.agrees(marked(answer), marked(claimed)) is not fooled


def test_a_model_that_finds_no_answer_is_fooled():
    assert qa.fooled_by({"answer": []}, marked("Fridays"))


@pytest.mark.parametrize("answer", [None, "Fridays", {}, ["Fridays"], [{"text": "Fridays"}], [{"start": 1, "end": 2}]])
def test_a_model_that_answers_anything_but_spans_is_broken_not_fooled(answer):
    with pytest.raises(Unavailable, match="spans"):
        qa.fooled_by({"answer": answer}, marked("Fridays"))


def test_a_validator_may_mark_another_answer():
    other = marked("Fridays")["answer"]
    values = {"corrected_answer": other, "reason": "It asks for the day."}
    seen = {"input": QUESTION, "context": PASSAGE, "answer": marked("Ada’s brother")}
    assert qa.clean_validation(values, vote="incorrect", **seen) == values
    assert "corrected_answer" not in qa.clean_validation(values, vote="correct", **seen)


def test_a_posted_form_marks_words_of_the_passage():
    words = qa.answer[0].words(PASSAGE)
    assert [word["text"] for word in words][:4] == ["The", "mill", "’s", "wheel"]
    posted = qa.form("answer", [("answer.answer", json.dumps([{"start": 4, "end": 8}]))])
    assert qa.clean_answer(posted, context=PASSAGE) == {"answer": [{"start": 4, "end": 8, "text": "mill"}]}


def test_a_span_needs_a_text_that_is_there():
    with pytest.raises(Invalid) as caught:
        TaskConfig.parse(shipped.source.replace("of: passage\n  max_spans", "of: passages\n  max_spans"))
    assert "answer.0.of" in caught.value.fields


def test_the_passages_are_ours_many_of_a_fit_length_and_all_different():
    contexts = list(shipped.contexts())
    texts = [context["values"]["passage"] for context in contexts]
    assert len(set(texts)) == len(texts) >= 300
    assert all(50 <= len(text.split()) <= 150 for text in texts)
    assert len({context["tag"] for context in contexts}) >= 6
