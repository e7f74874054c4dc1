"""Rules by which somebody judges: what a judge model is asked, how its words are read, what does not go together."""

import pytest

from dynabench.kit.errors import Invalid
from dynabench.tasks import TaskConfig
from dynabench.tasks.rules.base import ensemble_fooled
from dynabench.tasks.rules.judged import JudgedByModel
from tests.tasks.rules import rule, task

ASK = {"prompt": "Passage: {context.first}\nQ: {input.question} A: {answer.reply} Right: {claim.reply}"}


def judge(**more):
    return rule("judged_by_model", judge="m", ask=ASK, **({"says_wrong": ["no", "wrong answer"]} | more))


def test_a_prompt_is_filled_in_and_only_there():
    config = judge()
    assert isinstance(config.fooled, JudgedByModel)
    parts = {
        "context": {"first": "It rains {answer.reply}."},
        "input": {"question": "Dry?"},
        "answer": {"reply": "Yes"},
    }
    request = config.fooled.given_to_judge(config, parts | {"claim": {"reply": "No"}})
    assert request == {"prompt": "Passage: It rains {answer.reply}.\nQ: Dry? A: Yes Right: No"}


@pytest.mark.parametrize(
    ("answer", "wrong"),
    [
        ("No.", True),
        ("no, it is not", True),
        ("The wrong answer!", True),
        ("Notable", False),
        ("Yes", False),
        ("", False),
    ],
)
def test_a_text_is_read_by_how_it_begins(answer, wrong):
    assert judge().fooled.verdict({"text": answer}) is wrong


def test_what_says_neither_is_not_known():
    rule = judge(says_right=["yes"]).fooled
    assert [rule.verdict({"text": text}) for text in ("No", "Yes!", "Perhaps")] == [True, False, None]


@pytest.mark.parametrize(
    ("fooled", "more", "key"),
    [
        ({"rule": "judged_by_annotator"}, {"validate": {"mode": "answer"}}, "fooled.rule"),
        (
            {"rule": "judged_by_model", "judge": "m", "ask": {"x": "{input.question}"}, "says_wrong": ["a"]},
            {},
            "fooled.ask",
        ),
        (
            {"rule": "judged_by_model", "judge": "m", "ask": {"x": "{answer.replay}"}, "says_wrong": ["a"]},
            {},
            "fooled.ask.x",
        ),
    ],
)
def test_what_cannot_work_is_refused(fooled, more, key):
    with pytest.raises(Invalid) as problem:
        TaskConfig.parse(task(fooled, **more))
    assert key in problem.value.fields


@pytest.mark.parametrize(
    ("flags", "any_", "majority", "all_"),
    [
        ((True, None, False), True, None, False),
        ((None, None, None), None, None, None),
        ((True, True, None), True, True, None),
        ((False, False, None), None, False, False),
    ],
)
def test_an_ensemble_is_known_as_soon_as_the_rest_cannot_change_it(flags, any_, majority, all_):
    assert (ensemble_fooled("any", flags), ensemble_fooled("majority", flags), ensemble_fooled("all", flags)) == (
        any_, majority, all_,
    )  # fmt: skip
