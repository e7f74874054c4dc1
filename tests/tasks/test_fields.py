import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from dynabench.tasks.fields import Choice, FieldError, Number, Spans, Text, YesNo
from dynabench.tasks.fields.choice import MultiChoice, RankingField
from dynabench.tasks.fields.number import Sliders

label = Choice(name="label", options=["positive", {"value": "neg", "label": "Negative"}])
marks = Spans(name="marks", of="text")
grade = Number(name="grade", min=1, max=5, integer=True)
share = Number(name="share", min=0, max=1)
agree = YesNo(name="agree")

hostile = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(exclude_categories=[]), max_size=8)
    | st.sampled_from(["positive", "neg", "yes", "start", 1, 1.0, 10**400, -0.0]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(["start", "end", "text", "x"]), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


@pytest.mark.parametrize("field", [label, marks, grade, share, agree], ids=lambda field: field.name)
@settings(deadline=None)
@given(raw=hostile)
def test_any_value_is_cleaned_once_and_for_all_or_refused(field, raw):
    beside = {"text": "some words, here"}
    try:
        value = field.clean(raw, beside)
    except FieldError:
        return
    assert field.clean(value, beside) == value
    assert jsonschema.Draft202012Validator(field.json_schema()).is_valid(value)


@pytest.mark.parametrize("field", [label, grade, share, agree], ids=lambda field: field.name)
@settings(deadline=None)
@given(raw=hostile)
def test_the_schema_accepts_exactly_what_clean_accepts(field, raw):
    if isinstance(raw, float) and raw != raw:
        return  # JSON has no such value
    try:
        false = field.clean(raw) is not None
    except FieldError:
        false = False
    assert false == jsonschema.Draft202012Validator(field.json_schema()).is_valid(raw)


@pytest.mark.parametrize("raw", [None, "", "Positive", "Negative", 0, True, ["positive"], {"value": "positive"}])
def test_a_choice_takes_only_the_values_of_its_options(raw):
    with pytest.raises(FieldError, match="Choose one"):
        label.clean(raw)


def test_options_may_be_texts_or_mappings():
    assert label.values == ["positive", "neg"]
    assert [label.label_of(value) for value in ("positive", "neg", "other")] == ["positive", "Negative", "other"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([True, False], "quotes"),
        ([1, 2], "quotes"),
        (["a"], "at least 2"),
        (["a", "a"], "twice"),
        (["a", ""], "at least 1"),
        (["a", "b\x00"], "pattern"),
        ("ab", "list"),
        (["a", {"label": "b"}], "required"),
    ],
)
def test_options_that_cannot_be_are_refused(options, message):
    with pytest.raises(ValidationError, match=message):
        Choice(name="label", options=options)


def test_spans_are_sorted_and_carry_their_text():
    raw = [{"start": 5, "end": 10}, {"start": 0, "end": 4, "text": "some"}, {"start": 5, "end": 10}]
    assert marks.clean(raw, {"text": "some words"}) == [
        {"start": 0, "end": 4, "text": "some"},
        {"start": 5, "end": 10, "text": "words"},
    ]


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ("0:4", "list"),
        ([None], "start"),
        ([{"start": 0}], "start"),
        ([{"start": 0, "end": 4, "x": 1}], "start"),
        ([{"start": 0, "end": 99}], "outside"),
        ([{"start": -1, "end": 2}], "outside"),
        ([{"start": 2, "end": 2}], "outside"),
        ([{"start": True, "end": 2}], "outside"),
        ([{"start": 0.0, "end": 2}], "outside"),
        ([{"start": 0, "end": 4, "text": "same"}], "code points"),
        ([{"start": 0, "end": 4}, {"start": 3, "end": 6}], "overlap"),
        ([{"start": 4, "end": 5}], "no word"),
        ([{"start": 0, "end": 1}] * 51, "at most 50"),
        ([], "at least one"),
    ],
)
def test_spans_that_do_not_fit_the_text_are_refused(raw, message):
    with pytest.raises(FieldError, match=message):
        marks.clean(raw, {"text": "some words"})


def test_offsets_count_code_points_beyond_the_basic_plane():
    assert marks.clean([{"start": 2, "end": 6}], {"text": "😀 good"})[0]["text"] == "good"


@settings(deadline=None)
@given(st.text(max_size=40))
def test_words_and_their_gaps_make_up_the_text(text):
    words = marks.words({"text": text})
    rebuilt = text[: words[0]["start"]] + "".join(word["text"] + word["gap"] for word in words) if words else text
    assert rebuilt == text
    assert all(text[word["start"] : word["end"]] == word["text"] for word in words)


def test_marked_words_posted_by_a_form_come_back_as_spans():
    words = marks.words({"text": "It's not bad."})
    posted = [f"{word['start']}:{word['end']}" for word in words[2:4]]
    assert [word["text"] for word in words] == ["It", "'s", "not", "bad", "."]
    assert [s["text"] for s in marks.clean(marks.from_form(posted), {"text": "It's not bad."})] == ["not", "bad"]
    assert marks.from_form(['[{"start": 0, "end": 4}]']) == [{"start": 0, "end": 4}]
    for junk in (["x"], ["[" * 5000], ["[1"], ["1:"]):
        with pytest.raises(FieldError):
            marks.clean(marks.from_form(junk), {"text": "It's"})


def test_forms_post_numbers_and_answers_as_text():
    assert grade.clean(grade.from_form([" 3 "])) == 3
    assert share.clean(share.from_form(["2.5e-1"])) == 0.25
    assert agree.clean(agree.from_form(["no"])) is False
    assert grade.from_form([]) is agree.from_form([""]) is None
    for junk in ("three", "1e999", "nan", "9" * 5000, "0x1"):
        with pytest.raises(FieldError, match="number"):
            share.clean(share.from_form([junk]))


def test_a_label_is_made_from_the_name_and_required_is_the_default():
    field = Text(name="why_correct")
    assert (field.label, field.required) == ("Why correct", True)


@pytest.mark.parametrize("name", ["", "Label", "1a", "a-b", "a b", "a.b", "é", "a" * 41, 3])
def test_names_are_plain_words(name):
    with pytest.raises(ValidationError):
        Text(name=name)


def test_limits_out_of_order_are_refused():
    with pytest.raises(ValidationError, match="above max_length"):
        Text(name="x", min_length=5, max_length=4)
    with pytest.raises(ValidationError, match="above max"):
        Number(name="x", min=2, max=1)


def test_a_field_describes_itself_to_clients():
    described = label.public()
    assert described["options"][1] == {"value": "neg", "label": "Negative"}
    assert described["schema"] == {"enum": ["positive", "neg"]}
    assert (described["name"], described["type"], described["required"]) == ("label", "choice", True)


def test_one_answer_posted_word_by_word_reaches_from_the_first_to_the_last():
    answer = Spans(name="answer", of="text", max_spans=1)
    beside = {"text": "It opened in the spring of 1931."}
    posted = answer.from_form(["13:16", "27:31"])
    assert answer.clean(posted, beside) == [{"start": 13, "end": 31, "text": "the spring of 1931"}]
    assert answer.from_form(["13:16", "x"]) == [{"start": 13, "end": 16}, None]


def test_values_are_told_in_words():
    label = Choice(name="label", options=[{"value": "a", "label": "first"}, "b"])
    assert [label.in_words(value) for value in ("a", "b", "c", None)] == ["first", "b", "c", ""]
    assert marks.in_words([{"start": 0, "end": 2, "text": "It"}, {"start": 3, "end": 5, "text": "is"}]) == "It … is"
    assert [YesNo(name="sure").in_words(value) for value in (True, False, None, 3)] == ["yes", "no", "", ""]
    assert [Number(name="grade").in_words(value) for value in (3, None)] == ["3", ""]


UNFINISHED = [
    (YesNo(name="sure", reason="required"), {"value": True}),
    (YesNo(name="sure", reason="required"), {"reason": "It rains."}),
    (Sliders(name="mood", options=["joy", "fear"]), {"joy": 3}),
    (MultiChoice(name="kinds", options=["a", "b", "c"], min=2), ["a"]),
    (RankingField(name="order", options=["a", "b"]), {"a": "1", "b": ""}),
    (Text(name="why", min_length=10), "Since"),
]


@pytest.mark.parametrize(("field", "raw"), UNFINISHED, ids=lambda value: getattr(value, "type", None))
def test_a_draft_leaves_out_what_is_not_finished_and_refuses_what_is_wrong(field, raw):
    assert field.clean_draft(raw) is None
    with pytest.raises(FieldError):
        field.clean(raw)
    with pytest.raises(FieldError):
        field.clean_draft(17.5 if field.type != "yes_no" else {"value": "maybe", "reason": "It rains."})
