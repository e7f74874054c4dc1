import pytest

from dynabench.tasks.conditions import Facts, holds, read


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
    assert read(raw) == expected


@pytest.mark.parametrize("raw", [None, 5, "", "yes", "label = x", "label ==", [["fooled"]], "fooled and flagged", {}])
def test_what_is_no_condition_is_refused(raw):
    with pytest.raises(ValueError, match="ondition"):
        read(raw)


@pytest.mark.parametrize(
    ("condition", "facts", "expected"),
    [
        ("fooled", Facts(fooled=True), True),
        ("fooled", Facts(fooled=False), False),
        ("not_fooled", Facts(fooled=False), True),
        ("fooled", Facts(), False),
        ("not_fooled", Facts(), False),
        ("incorrect or flagged", Facts(vote="flagged"), True),
        ("incorrect or flagged", Facts(vote="correct"), False),
        ("label == 'good'", Facts(values={"label": "good"}), True),
        ("label == good", Facts(values={"label": "bad"}), False),
        ("label == good", Facts(), False),
        ("sure == yes", Facts(values={"sure": True}), True),
        ("grade == 3", Facts(values={"grade": 3}), True),
    ],
)
def test_conditions_hold_where_the_facts_say_so(condition, facts, expected):
    assert holds(read(condition), facts) is expected


def test_no_condition_always_holds():
    assert holds([], Facts())
