import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from dynabench.tasks.fields import FieldError, Rating
from tests.tasks.laws import agrees, hostile, survives

quality = Rating(name="quality", low="poor", high="excellent")


@settings(deadline=None, max_examples=20)
@given(st.integers(1, 5))
def test_marks_survive_every_way(mark):
    assert survives(quality, mark) == mark


@given(hostile)
def test_the_schema_and_clean_agree(raw):
    agrees(quality, raw)


@pytest.mark.parametrize("raw", [0, 6, 2.5, True, "3", [3], None])
def test_what_is_no_mark_is_refused(raw):
    with pytest.raises(FieldError, match=r"number|Choose a rating"):
        quality.clean(raw)


@pytest.mark.parametrize("scale", [{"min": 1.5}, {"min": 5}, {"max": 40}, {"integer": False}])
def test_scales_that_cannot_be_are_refused(scale):
    with pytest.raises(ValidationError):
        Rating(name="quality", **scale)


def test_a_model_s_mark_may_be_text_and_off_the_scale():
    assert quality.same("4", 4)
    assert quality.is_answer("5.2")
    assert not quality.is_answer("good")
    assert quality.marks == [1, 2, 3, 4, 5]
