import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from dynabench.tasks import TaskConfig
from dynabench.tasks.fields import FieldError, TreeChoice
from tests.tasks.laws import agrees, drawn, hostile, survives

TREE = [
    {"value": "living", "label": "Living", "children": ["a", {"value": "b", "label": "Bee", "children": ["c"]}]},
    "d",
]
leaf = TreeChoice(name="kind", options=TREE)
anything = TreeChoice(name="kind", options=TREE, pick="any")


@settings(deadline=None, max_examples=20)
@given(st.sampled_from(["a", "c", "d"]))
def test_leaves_survive_every_way(value):
    assert survives(leaf, value) == survives(anything, value) == value


@given(hostile)
def test_the_schema_and_clean_agree(raw):
    agrees(leaf, raw)
    agrees(anything, raw)


def test_branches_can_be_chosen_only_where_any_option_can():
    assert anything.values == ["living", "a", "b", "c", "d"]
    assert leaf.values == ["a", "c", "d"]
    assert survives(anything, "b") == "b"
    with pytest.raises(FieldError, match="Choose one"):
        leaf.clean("b")


def test_a_value_is_told_with_the_way_to_it():
    assert leaf.label_of("c") == "Living › Bee › c"
    assert [option.value for option in leaf.path("a")] == ["living", "a"]
    assert leaf.label_of("unknown") == "unknown"


def test_the_branches_above_the_chosen_option_are_open():
    assert drawn(leaf, "create", "c", {}).count(" open>") == 2
    assert drawn(leaf, "create", "d", {}).count(" open>") == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["a"], "at least 2"),
        ([{"value": "a", "children": ["a"]}, "b"], "twice"),
        ([{"value": "a", "children": [f"x{n}" for n in range(200)]} for _ in range(3)], "at most 500"),
        ([{"value": "a", "children": [1]}], "quotes"),
        ([{"value": "a", "childs": ["b", "c"]}], "children"),
    ],
)
def test_trees_that_cannot_be_are_refused(options, message):
    with pytest.raises(ValidationError, match=message):
        TreeChoice(name="kind", options=options)


def test_a_tree_is_at_most_eight_levels_deep():
    deep = ["leaf", "other"]
    for level in range(7):
        deep = [{"value": f"level {level}", "children": deep}]
    assert TreeChoice(name="kind", options=deep).values == ["leaf", "other"]
    with pytest.raises(ValidationError, match="8 levels"):
        TreeChoice(name="kind", options=[{"value": "top", "children": deep}])


def test_an_answer_out_of_a_tree_can_be_assigned_and_fools():
    config = TaskConfig.parse(
        "id: kinds\nname: Kinds\ninput: {name: text, type: text}\n"
        "answer: {name: kind, type: tree_choice, goal: assigned, options: [{value: x, children: [a, b]}, d]}"
    )
    assert config.goal == "assigned"
    assert config.fooled_by({"kind": "a"}, {"kind": "b"})
    assert not config.fooled_by({"kind": "a"}, {"kind": "a"})
