import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynabench.tasks import TaskConfig
from dynabench.tasks.fields import FieldError, YesNo
from tests.tasks.laws import agrees, hostile, posts, survives

plain = YesNo(name="sure")
maybe = YesNo(name="sure", reason="optional")
always = YesNo(name="sure", reason="required", reason_label="What makes you say so?")


@pytest.mark.release
@given(st.booleans(), st.text(st.characters(categories=["L"]), min_size=1, max_size=20))
def test_answers_and_reasons_survive_every_way(flag, reason):
    assert survives(plain, flag) is flag
    assert survives(maybe, {"value": flag}) == {"value": flag}
    assert survives(always, {"value": flag, "reason": reason})["value"] is flag


@given(hostile)
def test_the_schema_and_clean_agree(raw):
    agrees(plain, raw)
    if not (isinstance(raw, dict) and None in raw.values()):  # an empty member is a member that is not there
        agrees(maybe, raw)
        agrees(always, raw)


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ({"value": True}, "Give a reason"),
        ({"value": True, "reason": "  "}, "Give a reason"),
        ({"reason": "So."}, "Choose yes or no"),
        ({"value": "yes", "reason": "So."}, "Choose yes or no"),
        (True, "value and reason"),
        (None, "Choose yes or no"),
    ],
)
def test_what_is_missing_is_named(raw, message):
    with pytest.raises(FieldError, match=message):
        always.clean(raw)


def test_answers_are_the_same_whatever_their_reasons():
    assert always.same({"value": True, "reason": "So."}, {"value": True, "reason": "Or so."})
    assert always.same("Yes", {"value": True, "reason": "So."})  # as a model says it
    assert not plain.same("no", True)
    assert not plain.is_answer("perhaps")
    assert always.in_words({"value": True, "reason": "So."}) == "yes: So."


def test_a_reason_alone_is_kept_to_be_drawn_again():
    raw = always.read_form({"input.sure.reason": ["So."]}, "input.sure")
    assert posts(always, raw, {}) == raw == {"value": None, "reason": "So."}


def test_conditions_compare_the_answer():
    config = TaskConfig.parse(
        "id: asks\nname: Asks\ninput: {name: text, type: text}\nanswer: {name: label, type: choice, options: [a, b]}\n"
        "ask: [{name: sure, type: yes_no, reason: optional}, {name: topics, type: multi_choice, options: [a, b]},\n"
        "  {name: why, type: text, when: sure == no or topics == b}]"
    )
    values = {"input": {"text": "x"}, "fooled": True}
    assert "why" in config.clean_ask({"sure": {"value": False}, "why": "So."}, **values)
    assert "why" in config.clean_ask({"topics": ["a", "b"], "why": "So."}, **values)
    assert "why" not in config.clean_ask({"sure": {"value": True}, "topics": ["a"], "why": "So."}, **values)
