"""Extractive question answering: answers are whole words of the passage as it was given, whatever it holds."""

import numpy as np
import pytest

from dynabench.kit.errors import Invalid
from dynabench.models.backends.encoded import AdapterModel, ExtractorModel
from dynabench.models.backends.pool import Pool
from dynabench.models.catalog import BUILTIN
from dynabench.models.protocol import Attributable
from dynabench.tasks import TaskConfig, shipped_tasks

from .texts import HARD

pytestmark = [pytest.mark.release, pytest.mark.models]
TOLERANCE = 1e-2

PASSAGE = (
    "The ferry at Lind was built in 1921 and crossed the river without an engine. Its first captain, Ada’s brother "
    "Jonas, painted the hull green. A steel cable held it against the current."
)
QUESTIONS = {
    "What color was the hull painted?": "green",
    "When was the ferry built?": "1921",
    "What held the ferry against the current?": "steel cable",
}


@pytest.fixture(scope="module")
def pool():
    return Pool()


@pytest.fixture(scope="module")
def qa(pool):
    return ExtractorModel.load(BUILTIN / "qa-minilm", pool)


@pytest.fixture(scope="module")
def sentiment(pool, qa):
    return AdapterModel.load(BUILTIN / "sentiment-minilm", pool)


@pytest.fixture(scope="module")
def task() -> TaskConfig:
    return next(shipped.config for shipped in shipped_tasks() if shipped.config.id == "qa")


def question_of(question: str, passage: str = PASSAGE) -> dict[str, str]:
    return {"question": question, "passage": passage}


def test_it_marks_the_answer_in_the_passage(qa):
    assert isinstance(qa, Attributable)
    for question, right in QUESTIONS.items():
        output = qa.predict([question_of(question)])[0]
        (span,) = output.answer["answer"]
        assert right in span["text"]
        assert PASSAGE[span["start"] : span["end"]] == span["text"]
        assert span["text"] in output.probabilities
        assert len(output.probabilities) <= 3
        assert 0 < sum(output.probabilities.values()) <= 1 + 1e-6


def test_its_answers_are_answers_of_the_task(qa, task):
    context = task.clean_context({"passage": PASSAGE})
    written = task.clean_input({"question": "When was the ferry built?"}, context)
    reply = qa.predict([task.model_inputs(context, written)])[0].answer
    assert task.clean_answer(reply, context=context) == reply
    assert not task.fooled_by(reply, reply)


@pytest.mark.parametrize("text", HARD)
def test_hard_passages_and_questions_have_answers_that_lie_within_them(qa, text):
    for passage, question in ((text, "What is it?"), (f"{text} It was green. {text}", text)):
        for span in qa.predict([question_of(question, passage)])[0].answer["answer"]:
            assert passage[span["start"] : span["end"]] == span["text"]
            assert span["text"].strip() == span["text"] != ""


def test_a_passage_without_words_has_no_answer(qa):
    output = qa.predict([question_of("Who?", " \n")])[0]
    assert (output.answer, output.probabilities) == ({"answer": []}, {})
    assert qa.attribute(question_of("Who?", " "), "start", "gradient").fields == {"question": [], "passage": []}


def test_an_answer_deep_in_a_long_passage_is_found(qa):
    filler = "Sheep graze on the meadow behind the old wall, and nothing much happens there. " * 60
    passage = f"{filler}The lighthouse keeper is called Orla Finch. {filler}"
    reading = qa.prepare(question_of("What is the lighthouse keeper called?", passage))
    assert len(reading.windows) > 5
    (span,) = qa.predict([question_of("What is the lighthouse keeper called?", passage)])[0].answer["answer"]
    assert span["text"] == "Orla Finch"
    assert span["start"] == passage.index("Orla Finch")
    words = qa.attribute(question_of("What is the lighthouse keeper called?", passage), "end", "gradient").fields[
        "passage"
    ]
    assert all(passage[word.start : word.end] == word.text for word in words)
    assert {word.text for word in words if abs(word.weight) > 0.5} & {"Orla", "Finch", "called", "keeper"}


def test_an_answer_hardly_depends_on_its_batch_even_when_other_models_share_it(qa, sentiment):
    inputs = [question_of(question) for question in QUESTIONS] + [
        question_of("Who?", PASSAGE * 12),
        question_of("", "One."),
    ]
    alone = [qa.predict([first])[0] for first in inputs] + [sentiment.predict([{"statement": t}])[0] for t in HARD]
    calls = [(qa, qa.prepare(this_input)) for this_input in inputs] + [
        (sentiment, sentiment.prepare({"statement": text})) for text in HARD
    ]
    order = np.random.default_rng(0).permutation(len(calls))
    mixed = dict(zip(order.tolist(), sentiment.answer([calls[i] for i in order]), strict=True))
    for place, single in enumerate(alone):
        assert mixed[place].answer == single.answer
        assert mixed[place].probabilities == pytest.approx(single.probabilities, abs=TOLERANCE)


@pytest.mark.parametrize("label", ["start", "end"])
@pytest.mark.parametrize("method", ["gradient", "layer_integrated_gradients"])
def test_both_ends_of_an_answer_are_explained_by_words_of_question_and_passage(qa, label, method):
    inputs = question_of("What held the ferry against the current?", PASSAGE[-60:])
    result = qa.attribute(inputs, label, method)
    assert (result.label, result.method, list(result.fields)) == (label, method, ["question", "passage"])
    for field, words in result.fields.items():
        assert all(inputs[field][word.start : word.end] == word.text for word in words)
        assert any(word.weight for word in words)
    if result.completeness_error is not None:
        assert result.completeness_error < 0.05


def test_labels_that_are_no_end_of_an_answer_are_refused(qa):
    with pytest.raises(Invalid, match="label"):
        qa.attribute(question_of("Who?"), "Jonas", "gradient")
    with pytest.raises(Invalid, match="method"):
        qa.attribute(question_of("Who?"), "start", "exact")
    with pytest.raises(Invalid, match="passage"):
        qa.predict([{"question": "Who?"}])
