"""Spans with labels: offsets in code points, words by their numbers, overlaps."""

import json
from itertools import pairwise

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynabench.tasks.fields import FieldError, LabelledSpans

TEXT = "On Monday 👩‍🚀 Ada Lovelace saw Zürich.\nBob didn’t."
beside = {"text": TEXT}
LABELS = ["person", {"value": "place", "label": "Place"}, "date"]
flat = LabelledSpans(name="names", of="text", labels=LABELS, max_spans=6)
over = flat.model_copy(update={"overlap": True})
words = flat.words(beside)

places = st.tuples(st.integers(0, len(TEXT)), st.integers(0, len(TEXT))).map(sorted)
spans = st.builds(
    lambda ends, label: {"start": ends[0], "end": ends[1], "label": label}, places, st.sampled_from(flat.values)
)
numbers = st.tuples(st.integers(1, len(words)), st.integers(1, len(words))).map(sorted)
broken = st.fixed_dictionaries(
    {},
    optional={
        "start": st.integers(-1, 3) | st.just("0") | st.booleans(),
        "end": st.integers(2, 4) | st.none(),
        "label": st.sampled_from(["person", "nobody", None]),
        "text": st.sampled_from(["On", "on", 3]),
        "more": st.just(1),
    },
)


def cleaned(field, raw):
    try:
        return field.clean(raw, beside)
    except FieldError:
        return None


@given(st.lists(st.tuples(numbers, st.sampled_from(flat.values)), min_size=1, max_size=6))
def test_rows_of_a_form_mean_the_words_with_these_numbers(rows):
    form = {
        f"answer.names.{at}.{part}": [str(text)]
        for at, ((first, last), label) in enumerate(rows)
        for part, text in (("label", label), ("first", first), ("last", last if last > first else ""))
    }
    blank = {f"answer.names.9.{part}": [""] for part in ("label", "first", "last")} | {"answer.names": ["[]"]}
    result = over.clean(over.read_form(form | blank, "answer.names"), beside)
    expected = {(words[first - 1]["start"], words[last - 1]["end"], label) for (first, last), label in rows}
    assert {(span["start"], span["end"], span["label"]) for span in result} == expected
    assert all(span["text"] == TEXT[span["start"] : span["end"]] for span in result)
    view = [row for row in over.offered(beside, result) if row["label"]]
    assert {(row["first"], row["last"], row["label"]) for row in view} == {(*ends, label) for ends, label in rows}


@pytest.mark.parametrize("field", [flat, over])
@given(raw=st.lists(spans, max_size=7) | st.lists(broken, max_size=2))
def test_what_is_stored_fits_the_schema_and_is_stored_again_as_it_is(field, raw):
    stored = cleaned(field, raw)
    fits = jsonschema.Draft202012Validator(field.json_schema()).is_valid
    if stored is None:
        return
    assert fits(stored)
    assert fits(raw)
    assert field.clean(stored, beside) == stored
    assert field.clean(field.read_form({"a.names": [json.dumps(stored)]}, "a.names"), beside) == stored
    assert field.same(stored, raw)
    assert field.is_answer(stored)
    ends = [(span["start"], span["end"]) for span in stored]
    assert ends == sorted(ends)
    if field is flat:
        assert all(first[1] <= second[0] for first, second in pairwise(ends))


@given(st.lists(spans, max_size=6))
def test_pieces_spell_the_text_and_know_what_covers_them(raw):
    stored = cleaned(over, raw) or []
    pieces = over.pieces(beside, stored)
    assert "".join(piece["text"] for piece in pieces) == TEXT
    assert sum(len(piece["ends"]) for piece in pieces) == len(stored)
    covered = sum(len(piece["text"]) * len(piece["over"]) for piece in pieces)
    assert covered == sum(span["end"] - span["start"] for span in stored)


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ([{"start": 0, "end": 2}], "label"),
        ([{"start": 0, "end": 2, "label": "nobody"}], "Choose one of the labels"),
        ([{"start": 0, "end": 999, "label": "date"}], "outside"),
        ([{"start": 0, "end": 9, "label": "date"}, {"start": 3, "end": 9, "label": "person"}], "overlap"),
        ([{"words": [0, 2], "label": "date"}], "from 1 to"),
        ([{"words": ["x", 2], "label": "date"}], "from 1 to"),
        ([], "Mark and label at least one"),
        ("[]", "list of spans"),
    ],
)
def test_refusals_say_what_to_do(raw, message):
    with pytest.raises(FieldError, match=message):
        flat.clean(raw, beside)


def test_what_was_posted_in_vain_stands_in_the_rows_again():
    raw = flat.read_form({"a.names.0.label": ["person"], "a.names.0.first": ["77"], "a.names.0.last": [""]}, "a.names")
    assert flat.offered(beside, raw)[0] == {"label": "person", "first": 77, "last": 77}
    assert flat.marked(beside, raw) == []


def test_labels_are_read_by_their_names_and_a_text_that_is_not_there_has_no_words():
    result = flat.clean([{"start": 0, "end": 2, "label": "place"}], beside)
    assert flat.in_words(result) == "On (Place)"
    assert flat.words({}) == flat.pieces({}, result) == []
