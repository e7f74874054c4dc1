"""Answers of every kind by the reader: their form, the evidence against them, real questions."""

import numpy as np
import pytest

from dynabench.evaluate import load
from dynabench.kit.errors import Invalid
from dynabench.models import catalog, validity
from dynabench.models.backends import reader
from dynabench.models.backends.encoded import FoundAnswers
from dynabench.models.backends.spans import Span
from dynabench.tasks.words import word_f1
from tests.evaluate.real import rows

from .texts import HARD

pytestmark = pytest.mark.models
PASSAGE = (
    "The ferry at Lind was built in 1921 and crossed the river for forty years. Ada Brenner, Tom Hale and Rosa Diaz "
    "steered it. It had 12 seats."
)


@pytest.fixture(scope="module")
def model():
    opened = catalog.open_model(catalog.BUILTIN / "qa-extended-reader")
    yield opened
    opened.close()


def candidates(*texts: str) -> FoundAnswers:
    """Return the spans of an extractor, the most probable first."""
    places = [(PASSAGE.index(text), text) for text in texts]
    spans = [Span(at, at + len(text), text, 0.6 / 2**order, 0, 0, 0) for order, (at, text) in enumerate(places)]
    return FoundAnswers(spans, 5.0)


@pytest.mark.parametrize(
    ("question", "texts", "answer"),
    [
        ("Where was the ferry?", ["at Lind", "Lind"], "at Lind"),
        ("How many seats did it have?", ["12 seats"], "12"),
        ("How many years did it cross?", ["the river", "forty years", "12 seats"], "12"),  # forty is no figure here
        ("How many seats did it have?", ["Lind"], "Lind"),
        ("Which three people steered it?", ["Ada Brenner, Tom Hale and Rosa Diaz"], "Ada Brenner; Tom Hale; Rosa Diaz"),
        ("Who were the two that steered it?", ["Tom Hale", "Ada Brenner", "Hale"], "Ada Brenner; Tom Hale"),
        ("Who steered it?", ["Ada Brenner, Tom Hale and Rosa Diaz"], "Ada Brenner, Tom Hale and Rosa Diaz"),
    ],
)
def test_an_answer_has_the_form_that_is_asked_for(question, texts, answer):
    assert reader.answered(question, candidates(*texts)) == answer


def test_the_evidence_counts_what_the_passage_lacks():
    names = dict(
        zip(
            reader.NAMES,
            reader.weigh_evidence("Who built the ferry in 1931?", PASSAGE, *candidates("1921")),
            strict=True,
        )
    )
    assert (names["numbers_missing"], names["no_person"]) == (1, 1)
    assert names["words_found"] == pytest.approx(2 / 3)
    plain = dict(
        zip(reader.NAMES, reader.weigh_evidence("When was the ferry built?", PASSAGE, *candidates("1921")), strict=True)
    )
    assert (plain["numbers_missing"], plain["no_time"], plain["words_found"]) == (0, 0, 1)
    negated = reader.weigh_evidence("What was not built at Lind?", PASSAGE, *candidates("ferry"))
    assert negated[reader.NAMES.index("negation")] == 1
    assert np.isfinite(negated).all()


def test_yes_no_unanswerable_and_words(model):
    questions = ["Was the ferry built in 1921?", "Was Napoleon's cousin a dentist?", "When was the ferry built?"]
    outputs = model.predict([{"question": question, "passage": PASSAGE} for question in questions])
    answers = [output.answer["answer"] for output in outputs]
    assert answers[0] in ("yes", "no")
    assert answers[1:] == ["unanswerable", "1921"]
    assert outputs[2].probabilities["1921"] > outputs[2].probabilities["unanswerable"]


@pytest.mark.release
def test_whatever_it_reads_its_answer_is_one(model):
    batch = [{"question": text, "passage": other} for text, other in zip(HARD, reversed(HARD), strict=True)]
    validity.check_outputs(model.card, batch, model.predict(batch))


@pytest.mark.release
@pytest.mark.large_data("squad/squad20_dev.jsonl.gz")
def test_on_questions_of_squad_it_knows_better_than_to_answer_all(model):
    request = [
        (qa["question"], paragraph["context"], [answer["text"] for answer in qa["answers"]])
        for article in rows("squad/squad20_dev.jsonl.gz", 40)[1::2]
        for paragraph in article["paragraphs"][:2]
        for qa in paragraph["qas"][::4]
    ][:30]
    outputs = model.predict([{"question": question, "passage": passage} for question, passage, _ in request])
    texts = ["" if (text := output.answer["answer"]) == reader.NONE else text for output in outputs]
    scores = load("squad_v2").compute(predictions=texts, references=[answers for _, _, answers in request])
    assert scores["NoAns_f1"] > 40
    assert scores["HasAns_f1"] > 30
    result = [output.probabilities or {} for output in outputs]
    best = [max((text for text in item if text != reader.NONE), key=item.__getitem__, default="") for item in result]
    always = np.mean(
        [max((word_f1(b, a) for a in answers), default=0) for b, (_, _, answers) in zip(best, request, strict=True)]
    )
    assert scores["f1"] > 100 * always


def test_a_reader_without_its_members_is_refused(copied):
    folder = copied("qa-extended-reader")
    path = folder / "model.yaml"
    path.write_text(path.read_text().replace("- qa-minilm@", "- nli-ngram@").replace("- boolq", "- boolq"))
    with pytest.raises(Exception, match="There is no model"):
        reader.ReaderModel.open(folder)
    (folder / "reader.json").write_text("{}")
    with pytest.raises(Invalid):
        reader.ReaderModel.open(folder)
