"""Comparisons: which output is best, in whichever order they were shown."""

import json

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from dynabench.tasks import TaskConfig
from dynabench.tasks.conditions import ConditionFacts, any_condition_holds
from dynabench.tasks.fields import ComparisonField, FieldError

OUTPUTS = ["first", "second", "third"]
field = ComparisonField(name="better", of=OUTPUTS)
pair = ComparisonField(name="better", of=OUTPUTS[:2], tie=False, all_bad=False)
beside = {"first": "One.", "second": "Two.", "third": "Three."}

values = st.fixed_dictionaries(
    {"choice": st.sampled_from([*OUTPUTS, "tie", "all_bad"])}, optional={"order": st.permutations(OUTPUTS)}
)
near = st.fixed_dictionaries(
    {},
    optional={
        "choice": st.sampled_from([*OUTPUTS, "tie", "fourth", 1, None]),
        "order": st.lists(st.sampled_from([*OUTPUTS, 1]), max_size=4) | st.text(max_size=3),
        "side": st.just(1),
    },
)


@given(values)
def test_what_a_form_posts_is_the_choice_with_the_order_that_was_shown(value):
    form = {"answer.better": [value["choice"]]}
    if "order" in value:
        form["answer.better.order"] = [" ".join(value["order"])]
    assert field.clean(field.read_form(form, "answer.better")) == value
    assert field.clean(field.from_text(json.dumps(value))) == value


def test_nothing_chosen_is_nothing_whatever_was_shown():
    assert field.read_form({"answer.better.order": ["first second third"]}, "answer.better") is None
    with pytest.raises(FieldError, match="Choose one of the outputs"):
        field.clean(None)


@pytest.mark.parametrize("compared", [field, pair])
@given(raw=values | near)
def test_the_schema_takes_exactly_what_the_field_does(compared, raw):
    try:
        stored = compared.clean(raw)
    except FieldError:
        stored = None
    assert jsonschema.Draft202012Validator(compared.json_schema()).is_valid(raw) == (stored is not None)
    assert stored in (None, raw)


@given(st.integers(1, 200))
def test_each_person_sees_an_order_of_their_own_the_same_each_time(person):
    order = field.order(beside, None, person)
    assert sorted(order) == sorted(OUTPUTS)
    assert order == field.order(dict(beside), None, person)
    assert field.order(beside, {"choice": "first", "order": OUTPUTS[::-1]}, person) == OUTPUTS[::-1]
    assert field.order(beside, {"order": ["first", "first"]}, person) == order


def test_orders_are_shuffled_over_people_and_items():
    first = [field.order(beside, None, person)[0] for person in range(300)]
    assert all(60 < first.count(name) < 140 for name in OUTPUTS)
    texts = [field.order({**beside, "first": str(item)}, None, 1)[0] for item in range(300)]
    assert all(60 < texts.count(name) < 140 for name in OUTPUTS)


def test_the_same_choice_is_the_same_answer_in_any_order_and_from_models():
    assert field.same({"choice": "first", "order": OUTPUTS}, {"choice": "first"})
    assert field.same("first", {"choice": "first"})
    assert not field.same("second", {"choice": "first"})
    assert field.is_answer("second")
    assert not field.is_answer("fourth")
    assert field.in_words({"choice": "tie"}) == "Tie"
    assert field.in_words("first") == "First"


def test_conditions_are_about_the_choice():
    facts = ConditionFacts(values={"better": {"choice": "tie", "order": OUTPUTS}})
    assert any_condition_holds(["better == tie"], facts)
    assert not any_condition_holds(["better == first"], facts)


def _config(**changes):
    compared = {"name": "better", "type": "comparison", "of": ["first", "second"], **changes}
    return {
        "id": "pairs", "name": "Pairs",
        "context": [{"name": "first", "type": "text"}, {"name": "second", "type": "number"}],
        "input": {"name": "why", "type": "text"},
        "answer": compared,
    }  # fmt: skip


def test_outputs_may_be_of_any_type_but_must_be_there():
    assert TaskConfig.model_validate(_config()).answer[0].of == ["first", "second"]
    with pytest.raises(ValidationError, match="Did you mean “second”"):
        TaskConfig.model_validate(_config(of=["first", "secnd"]))
    for wrong in (["first", "first"], ["first", "tie"], ["first"]):
        with pytest.raises(ValidationError):
            TaskConfig.model_validate(_config(of=wrong))
