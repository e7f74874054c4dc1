import pytest

from dynabench.tasks.conditions import ConditionFacts, any_condition_holds, parse_conditions


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("fooled", ["fooled"]),
        ("incorrect or flagged", ["incorrect", "flagged"]),
        ("incorrect|flagged", ["incorrect", "flagged"]),
        (["incorrect", " flagged "], ["incorrect", "flagged"]),
        ("label == very good", ["label == very good"]),
    ],
)
def test_conditions_are_read(raw, expected):
    assert parse_conditions(raw) == expected


@pytest.mark.parametrize("raw", [None, 5, "", "yes", "label = x", "label ==", [["fooled"]], "fooled and flagged", {}])
def test_what_is_no_condition_is_refused(raw):
    with pytest.raises(ValueError, match="ondition"):
        parse_conditions(raw)


@pytest.mark.parametrize(
    ("condition", "facts", "expected"),
    [
        ("fooled", ConditionFacts(fooled=True), True),
        ("fooled", ConditionFacts(fooled=False), False),
        ("not_fooled", ConditionFacts(fooled=False), True),
        ("fooled", ConditionFacts(), False),
        ("not_fooled", ConditionFacts(), False),
        ("incorrect or flagged", ConditionFacts(vote="flagged"), True),
        ("incorrect or flagged", ConditionFacts(vote="correct"), False),
        ("label == 'good'", ConditionFacts(values={"label": "good"}), True),
        ("label == good", ConditionFacts(values={"label": "bad"}), False),
        ("label == good", ConditionFacts(), False),
        ("sure == yes", ConditionFacts(values={"sure": True}), True),
        ("grade == 3", ConditionFacts(values={"grade": 3}), True),
    ],
)
def test_conditions_hold_where_the_facts_say_so(condition, facts, expected):
    assert any_condition_holds(parse_conditions(condition), facts) is expected


def test_no_condition_always_holds():
    assert any_condition_holds([], ConditionFacts())
