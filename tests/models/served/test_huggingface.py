"""Models behind Hugging Face inference endpoints: the public pipelines, with small untrained weights, over HTTP."""

import pytest

from dynabench.kit.errors import Invalid
from dynabench.models.backends.served.endpoint import Complaint
from dynabench.models.validity import Broken

from .conftest import CLASSIFIER, READER, WRITER
from .endpoints import NAMES

INPUTS = {"statement": "A fine day in Paris, says Ann."}


@pytest.fixture
def model(endpoints, opened):
    def open_one(task, base=CLASSIFIER, more=None, **options):
        return opened("huggingface", base, more, url=f"{endpoints.url}/{task}", pipeline=task, **options)

    return open_one


def test_a_text_is_classified(model):
    output = model("text-classification", labels=NAMES).predict([INPUTS])[0]
    assert sum(output.probabilities.values()) == pytest.approx(1, abs=1e-4)
    assert output.answer["label"] == max(output.probabilities, key=output.probabilities.get)


def test_two_texts_are_classified_together(model):
    pair = {"inputs": ["premise", "hypothesis"]}
    served = model("text-classification", more=pair, labels=NAMES)
    batch = [{"premise": "It rains.", "hypothesis": text} for text in ("It is wet.", "The sun shines on all of us.")]
    first, second = served.predict(batch)
    assert first.probabilities != second.probabilities


def test_labels_that_nobody_explained_are_told(model):
    with pytest.raises(Broken, match=r"'LABEL_.', which is none of negative, neutral, positive; `labels` may say"):
        model("text-classification").predict([INPUTS])


def test_labels_are_chosen_without_training(model):
    theirs = {"good": "positive", "bad": "negative", "so so": "neutral"}
    output = model("zero-shot-classification", labels=theirs, hypothesis="This is {}.").predict([INPUTS])[0]
    assert sum(output.probabilities.values()) == pytest.approx(1, abs=1e-4)


def test_a_question_is_answered_by_a_span(model):
    passage = "She lives in Copenhagen now."
    output = model("question-answering", READER).predict([{"question": "Where?", "passage": passage}])[0]
    assert output.answer["answer"] == [{"start": 13, "end": 23, "text": "Copenhagen"}]


def test_words_are_tagged(model):
    label = model("token-classification", more={"returns": "tags"}, labels=NAMES).predict([INPUTS])[0].answer["label"]
    assert label
    for span in label:
        assert INPUTS["statement"][span["start"] : span["end"]] == span["text"]


def test_a_text_is_written(model):
    output = model("text-generation", WRITER, max_tokens=4).predict([INPUTS])[0]
    assert output.answer["reply"]
    assert not output.answer["reply"].startswith("statement")
    assert output.extras["generated"].strip() == output.answer["reply"]


def test_a_written_text_that_is_no_option_is_no_answer(model):
    with pytest.raises(Broken, match="none of the options"):
        model("text-generation", max_tokens=4).predict([INPUTS])


def test_a_model_that_loads_is_waited_for(model, endpoints, monkeypatch):
    monkeypatch.setattr(endpoints, "loading", 1)
    before = endpoints.calls
    assert model("text-classification", labels=NAMES, cache=False).predict([INPUTS])
    assert endpoints.calls - before == 2


def test_a_model_that_loads_for_long_says_so_at_once(model, endpoints, monkeypatch):
    monkeypatch.setattr(endpoints, "loading", 9)
    monkeypatch.setattr(endpoints, "estimate", 120.0)
    loading = model("text-classification", labels=NAMES, cache=False)
    before = endpoints.calls
    with pytest.raises(Complaint, match=r"tried again in 120 s.*currently loading") as raised:
        loading.predict([INPUTS])
    assert raised.value.extra["retry_after"] == 120
    assert endpoints.calls - before == 1
    assert not loading.ready().ready


def test_readiness_is_the_containers_health_where_it_has_one(model, opened, hostile):
    assert model("text-classification").ready().ready
    nothing = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
    server = hostile(lambda connection, calls: connection.sendall(nothing))
    assert opened("huggingface", url=server.url).ready().ready


def test_a_pipeline_that_answers_with_something_else_is_told(opened):
    with pytest.raises(Invalid, match="question-answering answers with spans, this model with label"):
        opened("huggingface", url="https://example.org", pipeline="question-answering")
