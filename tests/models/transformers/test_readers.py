"""Models that mark parts of a text: answers to questions, and words of a kind; offsets count code points."""

import pytest

from dynabench.kit.errors import Invalid
from dynabench.models import catalog
from tests.models.texts import HARD
from tests.models.transformers import made

pytestmark = pytest.mark.release

EMOJI = "\U0001f469\u200d\U0001f469\u200d\U0001f467 \u00e9\u00e9 \U0001f600. "


@pytest.fixture(scope="module")
def learnt(workshop):
    folder, rows = made.questions(workshop / "reader")
    return catalog.open_model(folder), rows


@pytest.fixture(scope="module")
def tagger(workshop):
    return catalog.open_model(made.tags(workshop / "tagger"))


def answers(model, rows):
    return [(prediction.answer["answer"] or [{"text": ""}])[0] for prediction in model.predict(rows)]


def test_questions_that_were_learnt_are_answered_in_place(learnt):
    model, rows = learnt
    for answer, row in zip(answers(model, rows), rows, strict=True):
        assert (answer["text"], answer["start"]) == (row["answer"], row["start"])
    [output] = model.predict(rows[:1])
    assert 0.5 < output.probabilities[rows[0]["answer"]] <= 1


def test_an_answer_deep_in_a_long_passage_is_found_in_a_window(learnt):
    model, rows = learnt
    before = "The film was dull. " * 250
    long = {"question": rows[0]["question"], "passage": before + rows[0]["passage"]}
    [answer] = answers(model, [long])
    assert (answer["text"], answer["start"]) == (rows[0]["answer"], len(before) + rows[0]["start"])
    assert len(model.prepare(long)) > 1200


def test_offsets_count_code_points(learnt):
    model, rows = learnt
    values = {"question": rows[0]["question"], "passage": EMOJI + rows[0]["passage"]}
    [answer] = answers(model, [values])
    assert values["passage"][answer["start"] : answer["end"]] == answer["text"]


def test_odd_passages_have_an_honest_answer_or_none(learnt):
    model, _ = learnt
    for text in HARD:
        for values in ({"question": "Who?", "passage": text}, {"question": text, "passage": "Ada wrote it in 1843."}):
            [output] = model.predict([values])  # validity.check_outputs compares every span with the passage
            assert isinstance(output.answer["answer"], list)
    assert model.predict([{"question": "Who?", "passage": "  \n"}])[0].answer["answer"] == []


@pytest.mark.parametrize("label", ["start", "end"])
def test_the_strip_of_an_answer_marks_the_words_of_the_answer_most(learnt, label):
    model, rows = learnt
    result = model.attribute(rows[0], label, "layer_integrated_gradients")
    assert result.completeness_error < 0.1
    heaviest = max(result.fields["passage"], key=lambda word: word.weight)
    assert rows[0]["answer"].startswith(heaviest.text)
    assert result.fields["question"][0].text == rows[0]["question"].split()[0]


def test_the_strip_of_an_answer_in_a_later_window_is_about_that_window(learnt):
    model, rows = learnt
    before = "The film was dull. " * 150
    result = model.attribute(
        {"question": rows[0]["question"], "passage": before + rows[0]["passage"]}, "start", "gradient"
    )
    heavy = max(result.fields["passage"], key=lambda word: abs(word.weight))
    assert heavy.start >= len(before) - 200
    assert result.fields["passage"][0].weight == 0


def test_a_passage_without_words_has_an_empty_strip(learnt):
    result = learnt[0].attribute({"question": "Who?", "passage": " "}, "start", "gradient")
    assert result.fields == {"question": [], "passage": []}


def test_numbers_and_months_are_tagged_as_whole_words(tagger):
    text = "It began in October 1973 when they met, and ended in March 1974."
    [output] = tagger.predict([{"text": text}])
    reply = [(span["text"], span["label"]) for span in output.answer["tags"]]
    assert ("1973", "NUMBER") in reply
    assert ("October", "MONTH") in reply
    assert all(text[span["start"] : span["end"]] == span["text"] for span in output.answer["tags"])
    assert output.probabilities["1973"] > 0.5


def test_a_long_text_is_tagged_to_its_end(tagger):
    text = "Nothing of the kind was there. " * 120 + "It began in October 1973."
    [output] = tagger.predict([{"text": text}])
    assert output.answer["tags"][-1]["text"] == "1973"
    assert output.answer["tags"][-1]["start"] == text.index("1973")


def test_a_text_without_words_has_no_tags(tagger):
    predictions = tagger.predict([{"text": ""}, {"text": " "}, {"text": "It began in 1973."}])
    assert [len(first.answer["tags"]) for first in predictions] == [0, 0, 1]
    for text in HARD:
        tagger.predict([{"text": text}])


def test_neighbours_of_one_kind_become_one_span_and_a_beginning_starts_another(tagger):
    network = tagger._network
    words = made.words("a b c d e")
    tags = {0: (0.9, 1), 1: (0.8, 2), 2: (0.7, 1), 3: (0.9, 0), 4: (0.6, 4)}  # B-NUMBER I-NUMBER B-NUMBER O I-MONTH
    spans, likely = network._spans(list(words), tags, "a b c d e")
    assert [(span["text"], span["label"]) for span in spans] == [("a b", "NUMBER"), ("c", "NUMBER"), ("e", "MONTH")]
    assert likely["a b"] == 0.8


def test_kinds_that_no_label_means_are_told(workshop, tagger, changed):
    with pytest.raises(Invalid, match=r"MONTH of the model's mean none"):
        catalog.open_model(changed(workshop / "tagger", labels=["NUMBER"]))
    model = catalog.open_model(
        changed(workshop / "tagger", labels=["ANY"], options={"labels": {"NUMBER": "ANY", "MONTH": "ANY"}})
    )
    assert {span["label"] for span in model.predict([{"text": "It began in 1973."}])[0].answer["tags"]} == {"ANY"}


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"returns": "label", "labels": ["a", "b"]}, "returns spans"),
        ({"inputs": ["question"]}, "question and passage"),
    ],
)
def test_a_card_that_a_reader_cannot_serve_is_told(learnt, workshop, changed, spec, message):
    with pytest.raises(Invalid, match=message):
        catalog.open_model(changed(workshop / "reader", **spec))
