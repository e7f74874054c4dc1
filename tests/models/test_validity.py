"""Validity of answers, for all that a model may return."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynabench.models.protocol import ModelCard, ModelOutput
from dynabench.models.validity import EXTRAS, LONGEST, MOST, SLACK, Broken, check_outputs

LABELS = ("entailment", "neutral", "contradiction")
NLI = ModelCard("a-model", "1", "nli", "plain", ("premise", "hypothesis"), "label", LABELS)
QA = ModelCard("a-reader", "1", "qa", "plain", ("question", "passage"), "answer", returns="spans")
TAGS = ModelCard("a-tagger", "1", "ner", "plain", ("text",), "names", ("PER", "LOC"), returns="tags")
TEXT = ModelCard("a-writer", "1", "gen", "plain", ("prompt",), "story", returns="text")
ROW = {"premise": "A dog runs.", "hypothesis": "A dog moves.", "question": "Who?", "passage": "Ada met Åsa 🙂 here."}
ROW |= {"text": "Ada lives in Rome.", "prompt": "Once"}

numbers = st.floats(allow_nan=True, allow_infinity=True) | st.integers(-3, 3)
odds = st.lists(st.floats(1e-3, 1.0), min_size=3, max_size=3)


def validate(card, answer, probabilities=None, extras=None):
    return check_outputs(card, [ROW], [ModelOutput({card.answer: answer}, probabilities, extras or {})])


@given(odds, st.sampled_from(LABELS))
def test_a_label_with_probabilities_that_sum_to_one_is_an_answer(parts, label):
    known_values = {name: part / sum(parts) for name, part in zip(LABELS, parts, strict=True)}
    assert validate(NLI, label, known_values)[0].probabilities == known_values
    assert validate(NLI, label)[0].probabilities is None


@given(st.dictionaries(st.sampled_from(LABELS), numbers, min_size=3, max_size=3))
def test_other_numbers_are_no_probabilities(probabilities):
    fine = all(math.isfinite(value) and -SLACK <= value <= 1 + SLACK for value in probabilities.values())
    if fine and abs(sum(probabilities.values()) - 1) <= SLACK:
        validate(NLI, "neutral", probabilities)
        return
    with pytest.raises(Broken, match=r"a-model, output 0: (the probability of|the probabilities sum to)"):
        validate(NLI, "neutral", probabilities)


@pytest.mark.parametrize(
    ("probabilities", "says"),
    [
        ({"entailment": 0.5, "neutral": 0.5}, "needed: entailment, neutral, contradiction"),
        ({**dict.fromkeys(LABELS, 0.25), "other": 0.25}, "needed: entailment, neutral, contradiction"),
        ({"entailment": "1", "neutral": 0, "contradiction": 0}, "'entailment' is '1', a str, not a number"),
        ({"entailment": None, "neutral": 0, "contradiction": 1}, "'entailment' is None, a NoneType, not a number"),
        ({"entailment": np.float32(1), "neutral": 0, "contradiction": 0}, "a float32, not a number"),
        ({"entailment": True, "neutral": 0, "contradiction": 0}, "a bool, not a number"),
        ([0.2, 0.3, 0.5], "an object from label to number"),
        ({"entailment": 3.0, "neutral": -1.0, "contradiction": -1.0}, "must lie between 0 and 1"),
        (dict.fromkeys(LABELS, 0.5), "sum to 1.5, not 1; apply a softmax"),
    ],
)
def test_wrong_probabilities_are_named(probabilities, says):
    with pytest.raises(Broken) as broken:
        validate(NLI, "neutral", probabilities)
    assert says in broken.value.detail


@given(st.text() | st.integers() | st.none() | st.lists(st.text()) | st.binary() | st.floats())
def test_whatever_is_no_label_is_none_of_the_labels(answer):
    if answer in LABELS:
        return
    with pytest.raises(Broken, match="none of the labels entailment, neutral, contradiction"):
        validate(NLI, answer)


@given(st.integers(-3, 30), st.integers(-3, 30))
def test_a_span_lies_in_the_text_and_says_what_stands_there(start, end):
    passage = ROW["passage"]
    span = {"start": start, "end": end, "text": passage[max(start, 0) : max(end, 0)]}
    if 0 <= start <= end <= len(passage):
        assert validate(QA, [span])[0].answer == {"answer": [span]}
    else:
        with pytest.raises(Broken, match="is not what 'passage' says there"):
            validate(QA, [span])


@pytest.mark.parametrize(
    "answer",
    [
        None,
        "Ada",
        {"start": 0, "end": 3, "text": "Ada"},
        [{"start": 0, "end": 3}],
        [{"start": 0, "end": 3, "text": "Eve"}],
        [{"start": 0.0, "end": 3, "text": "Ada"}],
        [{"start": False, "end": 3, "text": "Ada"}],
        [["0", "3", "Ada"]],
        [{"start": 0, "end": 3, "text": "Ada"}] * (MOST + 1),
        [{"start": 0, "end": 3, "text": "Ada", "more": "x"}],
    ],
)
def test_whatever_is_no_list_of_spans_is_refused(answer):
    with pytest.raises(Broken):
        validate(QA, answer)
    assert validate(QA, []) == [ModelOutput({"answer": []})]


def test_a_tag_has_one_of_the_labels():
    span = {"start": 0, "end": 3, "text": "Ada"}
    assert validate(TAGS, [{**span, "label": "PER"}])
    for label in ("ORG", None, 3):
        with pytest.raises(Broken, match="none of the labels PER, LOC"):
            validate(TAGS, [{**span, "label": label}])
    with pytest.raises(Broken, match="none of the labels"):
        validate(TAGS, [span])


@pytest.mark.parametrize("answer", [None, 3, ["text"], "x" * (LONGEST + 1)])
def test_a_written_answer_is_a_text_of_some_length(answer):
    assert validate(TEXT, "x" * LONGEST)
    with pytest.raises(Broken, match="a text of up to"):
        validate(TEXT, answer)


plain = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
plain |= st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))


@given(st.recursive(plain, lambda inner: st.lists(inner, max_size=3), max_leaves=20))
def test_extras_may_be_values_of_json(value):
    assert validate(TEXT, "fine", extras={"more": value})


@pytest.mark.parametrize("value", [b"bytes", 1j, {1, 2}, float("nan"), float("inf"), [object()]])
def test_extras_that_are_no_values_of_json_are_refused(value):
    with pytest.raises(Broken, match="extras must be values of JSON"):
        validate(TEXT, "fine", extras={"more": value})


def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize("depth", [100, 100_000])
def test_extras_nested_beyond_reading_are_refused(depth):
    with pytest.raises(Broken, match=r"nesting|values of JSON"):
        validate(TEXT, "fine", extras={"more": nested(depth)})


def test_extras_without_end_are_refused_by_their_size():
    assert validate(TEXT, "fine", extras={"more": "x" * (EXTRAS - 100)})
    with pytest.raises(Broken, match="extras take"):
        validate(TEXT, "fine", extras={"more": "x" * EXTRAS})


@pytest.mark.parametrize("strange", ["\0", "\ud800", "fine \udfff"])
def test_text_that_no_database_holds_is_no_answer(strange):
    for answer, known_values, extras in (
        (strange, None, {}),
        ("fine", {strange: 0.5}, {}),
        ("fine", None, {"generated": strange}),
        ("fine", None, {"more": [{strange: 1}]}),
    ):
        with pytest.raises(Broken, match="cannot be stored; write valid Unicode"):
            validate(TEXT, answer, known_values, extras)


@pytest.mark.parametrize("number", [10**400, -(10**400), 10**5000], ids=["large", "small", "long"])
def test_numbers_beyond_measure_are_no_probabilities(number):
    with pytest.raises(Broken, match="must lie between 0 and 1"):
        validate(NLI, "neutral", {"entailment": number, "neutral": 0, "contradiction": 0})


@pytest.mark.parametrize(
    "probabilities", [dict.fromkeys(map(str, range(MOST + 1)), 0.0), {"x" * (LONGEST + 1): 1.0}, {3: 1.0}]
)
def test_what_is_likely_is_told_of_so_many_texts_and_no_more(probabilities):
    with pytest.raises(Broken, match=f"up to {MOST} texts"):
        validate(TEXT, "fine", probabilities)


@pytest.mark.parametrize("outputs", [None, "text", [None], {}, [ModelOutput({"label": "neutral"})] * 2, [], iter([])])
def test_there_is_one_output_for_each_input(outputs):
    with pytest.raises(Broken, match=r"a-model (returned|did not return)"):
        check_outputs(NLI, [ROW], outputs)


def test_an_answer_is_named_by_its_field():
    for answer in ({}, {"answer": "neutral"}, None, ["neutral"]):
        with pytest.raises(Broken, match=r"lacks 'label'"):
            check_outputs(NLI, [ROW], [ModelOutput(answer)])  # type: ignore[arg-type]


def test_the_row_that_is_wrong_is_told_and_long_values_are_shortened():
    right = ModelOutput({"label": "neutral"})
    with pytest.raises(Broken, match="output 2") as broken:
        check_outputs(NLI, [ROW] * 3, [right, right, ModelOutput({"label": "x" * 10_000})])
    assert len(broken.value.detail) < 300
