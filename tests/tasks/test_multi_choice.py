import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from dynabench.tasks.fields import FieldError, MultiChoice
from tests.tasks.laws import agrees, hostile, survives

topics = MultiChoice(
    name="topics", options=["a", {"value": "b", "label": "Bee", "description": "It hums."}, "c"], max=2
)


@given(st.lists(st.sampled_from(["a", "b", "c"]), min_size=1, max_size=2, unique=True))
def test_chosen_options_survive_every_way_in_the_config_s_order(chosen):
    assert survives(topics, chosen) == sorted(chosen)


@given(hostile)
def test_the_schema_and_clean_agree(raw):
    agrees(topics, raw)


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ("a", "from the options"),
        (["z"], "from the options"),
        (["a", "a"], "twice"),
        (["a", "b", "c"], "You chose 3: choose at most 2"),
        ([], "at least one"),
        (None, "at least one"),
    ],
)
def test_what_does_not_fit_is_refused_with_what_to_do(raw, message):
    with pytest.raises(FieldError, match=message):
        topics.clean(raw)


@pytest.mark.parametrize("limits", [{"min": 3, "max": 2}, {"min": 4}, {"max": 4}])
def test_limits_that_cannot_be_met_are_refused(limits):
    with pytest.raises(ValidationError, match="is above"):
        MultiChoice(name="topics", options=["a", "b", "c"], **limits)


def test_answers_are_the_same_in_any_order_and_are_told_by_their_labels():
    assert topics.same(["b", "a"], ["a", "b"])
    assert topics.same('["b", "a"]', ["a", "b"])  # as a model writes it
    assert not topics.same("a", ["a", "b"])
    assert not topics.same("nonsense", ["a"])
    assert topics.in_words(["a", "b"]) == "a, Bee"
    assert MultiChoice(name="x", options=["a", "b"], min=2).how_many == "exactly 2"
