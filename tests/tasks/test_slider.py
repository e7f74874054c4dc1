import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from dynabench.tasks.fields import FieldError, Slider, Sliders
from tests.tasks.laws import agrees, drawn, hostile, posts, survives

heat = Slider(name="heat", min=-5, max=10, low="cold", high="hot", required=False)
share = Slider(name="share", min=0, max=1, step=0.1)
moods = Sliders(name="moods", options=["a", {"value": "b", "label": "Bee"}], max=5, tolerance=1)


@given(st.integers(-5, 10), st.floats(0, 1))
def test_places_on_the_scale_survive_every_way(whole, part):
    assert survives(heat, whole) == whole
    assert abs(survives(share, part) - part) <= 0.05 + 1e-9


@given(st.integers(0, 5), st.integers(0, 5))
def test_several_sliders_survive_every_way(first, second):
    value = {"a": first, "b": second}
    assert survives(moods, value) == value


@given(hostile)
def test_the_schema_and_clean_agree(raw):
    for field in (heat, share, moods):
        agrees(field, raw)


@pytest.mark.parametrize("raw", [float("inf"), float("-inf"), float("nan"), {"a": float("nan"), "b": float("inf")}])
def test_numbers_that_are_none_are_refused_and_the_form_is_drawn_again(raw):
    for field in (heat, share, moods):
        with pytest.raises(FieldError):
            field.clean(raw)
        drawn(field, "create", raw, {}, error="Oops")


def test_numbers_between_two_steps_go_to_the_nearest_and_stay_within():
    assert Slider(name="x", max=10, step=4).clean(10) == 8
    assert Slider(name="x", max=10, step=5).clean(7) == 5
    assert share.clean(0.29) == 0.3


def test_the_box_beside_an_optional_slider_leaves_it_empty_without_scripts():
    assert heat.read_form({"input.heat": ["3"], "input.heat.empty": ["yes"]}, "input.heat") is None
    assert "input.heat.empty" in drawn(heat, "create", None, {})
    assert posts(share, None, {}) == 0.5  # without scripts the middle is sent


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ({"a": 1}, "Also move these sliders: Bee"),
        ({"a": 1, "b": 9}, "Bee: Enter a number from 0 to 5"),
        ({"a": 1, "b": "x"}, "Bee: Enter a number"),
        ({"a": 1, "z": 2}, "a number for each slider"),
        (3, "a number for each slider"),
        ({}, "Move each slider"),
        (None, "Move each slider"),
    ],
)
def test_sliders_that_are_missing_or_wrong_are_named(raw, message):
    with pytest.raises(FieldError, match=message):
        moods.clean(raw)


def test_answers_are_the_same_within_the_tolerance():
    assert moods.same({"a": 1, "b": 2}, {"a": 2, "b": 1})
    assert not moods.same({"a": 1, "b": 2}, {"a": 3, "b": 2})
    assert not moods.same("none", {"a": 3, "b": 2})
    assert moods.in_words({"a": 1, "b": 2}) == "a 1, Bee 2"
    assert heat.same("3", 3)
    assert not heat.same("warm", 3)


@pytest.mark.parametrize(
    ("scale", "message"),
    [({"min": 5, "max": 5}, "below max"), ({"step": 0.001}, "10,000 steps"), ({"start": 101}, "outside")],
)
def test_scales_that_cannot_be_are_refused(scale, message):
    for make in (Slider, lambda **keys: Sliders(options=["a", "b"], **keys)):
        with pytest.raises(ValidationError, match=message):
            make(name="x", **scale)
