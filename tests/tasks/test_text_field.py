import time
import unicodedata

import jsonschema
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dynabench.tasks.fields import FieldError, Text
from dynabench.tasks.fields.text import _MAYBE_STACKED, _stacked

one_line = Text(name="line", max_length=40)
many_lines = Text(name="lines", max_length=40, multiline=True, required=False)
nasty = st.text(st.characters(exclude_categories=[]), max_size=60) | st.text(
    "a \t\n\r\u200b\ufeffé\u0301\u202e\ud800", max_size=12
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | nasty,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


def without_blank_ends(text):
    while (less := text.strip().strip("\ufeff")) != text:
        text = less
    return text


def accepts(field, raw):
    return jsonschema.Draft202012Validator(field.json_schema()).is_valid(raw)


@pytest.mark.parametrize("field", [one_line, many_lines])
@settings(deadline=None)
@example(raw="0\ufeff\n\ufeff")
@given(raw=json_values)
def test_any_value_is_cleaned_or_refused(field, raw):
    try:
        value = field.clean(raw)
    except FieldError:
        return
    if value is None:
        return
    assert field.clean(value) == value
    assert accepts(field, value)
    assert value == value.strip() == unicodedata.normalize("NFC", value)
    value.encode("utf-8")


@pytest.mark.parametrize("field", [one_line, many_lines])
@settings(deadline=None)
@given(raw=nasty)
def test_the_schema_and_clean_agree_on_text_in_its_stored_form(field, raw):
    plain = without_blank_ends(unicodedata.normalize("NFC", raw.replace("\r", "\n")))
    try:
        false = field.clean(plain) is not None
    except FieldError:
        false = False
    assert false == accepts(field, plain)


@pytest.mark.parametrize(
    "raw", [None, "", "   ", "\n\t ", "\u200b\u200d", "\ufeff", "\u2800", "\u00a0\u3000", "\ufe0f"]
)
def test_a_required_field_needs_something_to_see(raw):
    with pytest.raises(FieldError, match="This field is required"):
        one_line.clean(raw)
    assert many_lines.clean(raw) is None


@pytest.mark.parametrize("raw", [5, 1.5, True, False, [], ["a"], {}, {"a": 1}, b"bytes"])
def test_what_is_no_text_is_refused(raw):
    with pytest.raises(FieldError, match="must be text"):
        one_line.clean(raw)


@pytest.mark.parametrize("raw", ["a\x00b", "a\x1bb", "a\x7fb", "a\x85b", "a\u202eb", "a\u202db"])
def test_control_characters_are_refused_by_their_number(raw):
    with pytest.raises(FieldError, match=rf"U\+{ord(raw[1]):04X}"):
        many_lines.clean(raw)


@pytest.mark.parametrize("raw", ["a\ud800b", "\udcff", "a\ufffeb", "a\ufdd0b"])
def test_broken_characters_are_refused(raw):
    with pytest.raises(FieldError, match="broken"):
        many_lines.clean(raw)


def test_lines_and_tabs_are_for_fields_of_several_lines():
    assert many_lines.clean("a\r\nb\tc\rd") == "a\nb\tc\nd"
    with pytest.raises(FieldError, match="one line"):
        one_line.clean("a\nb")


@pytest.mark.parametrize(
    "raw", ["👩‍👩‍👧‍👦 family", "שלום עולם", "مرحبا بالعالم", "می‌خواهم", "日本語", "👍🏽", "🏴󠁧󠁢󠁳󠁣󠁴󠁿", "naïve", "<b>*x*</b>"]
)
def test_every_script_emoji_and_markup_is_kept_as_it_is(raw):
    assert one_line.clean(raw) == raw


def test_lengths_count_code_points_of_the_normal_form():
    assert one_line.clean("e\u0301" * 40) == "é" * 40
    assert one_line.clean("😀" * 40) == "😀" * 40
    with pytest.raises(FieldError, match="41 characters; the maximum is 40"):
        one_line.clean("é" * 41)
    with pytest.raises(FieldError, match="the minimum is 3"):
        Text(name="x", min_length=3).clean("ab")


@pytest.mark.parametrize("letter", ["a", " ", "\u0301\u0323", "\ud800", "\x00", "é", "\u200b"])
def test_a_megabyte_is_refused_at_once(letter):
    started = time.perf_counter()
    with pytest.raises(FieldError, match="the maximum is"):
        Text(name="x", max_length=500).clean(letter * (1_000_000 // len(letter)))
    assert time.perf_counter() - started < 5


def test_stacked_accents_cost_no_time():
    started = time.perf_counter()
    with pytest.raises(FieldError, match="accents"):
        Text(name="x", max_length=100_000).clean("a" + "\u0301\u0323" * 150_000)
    assert time.perf_counter() - started < 5


def test_models_get_text_for_an_optional_field_left_empty():
    assert many_lines.serialise(None) == ""


@given(st.text(st.sampled_from("a é\u0301\u0e38\u3099\U0001e8d0字"), max_size=200))
def test_accents_are_stacked_where_thirty_one_marks_stand_in_a_row(raw):
    runs = "".join("m" if unicodedata.combining(item) else " " for item in raw).split()
    assert _stacked(raw) == (max(map(len, runs), default=0) > 30)
    assert not _stacked(raw) or _MAYBE_STACKED.search(raw)


def test_every_combining_character_is_one_that_may_be_stacked():
    marks = [chr(code) for code in range(0x110000) if unicodedata.combining(chr(code))]
    assert all(_MAYBE_STACKED.search(mark * 31) for mark in marks)
