"""Exact match of texts."""

import re
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dynabench.evaluate import load

TEXT = st.text("aB1, ", max_size=5)
PAIRS = st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=8)


def stripped(text: str, patterns: list[str], case: bool, punctuation: bool, numbers: bool) -> str:
    for pattern in patterns:
        text = re.sub(pattern, "", text)
    text = text.lower() if case else text
    drop = (string.punctuation if punctuation else "") + (string.digits if numbers else "")
    return "".join(letter for letter in text if letter not in drop)


@settings(deadline=None)
@given(
    PAIRS,
    st.lists(st.sampled_from(["a", "^B", "[0-9]+", " "]), max_size=2),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)
def test_texts_match_when_what_is_left_of_them_does(pairs, patterns, case, punctuation, numbers):
    expected = []
    for answer, true in pairs:
        first, other = (stripped(text, patterns, case, punctuation, numbers) for text in (answer, true))
        expected.append(float(first == other if first or other else answer == true))
    result = load("exact_match").compute(
        predictions=[reply for reply, _ in pairs],
        references=[true for _, true in pairs],
        regexes_to_ignore=patterns or None,
        ignore_case=case,
        ignore_punctuation=punctuation,
        ignore_numbers=numbers,
        per_example=True,
    )
    assert result["per_example"]["exact_match"] == expected
    assert result["exact_match"] == pytest.approx(sum(expected) / len(expected))


def test_the_documented_steps_raise_the_score_as_documented():
    rows = {
        "predictions": ["cat?", "theater", "yelling", "agent"],
        "references": ["the cat", "theater", "YELLING", "agent007"],
    }
    steps = {"ignore_case": True, "ignore_punctuation": True}
    metric = load("exact_match")
    assert metric.compute(**rows)["exact_match"] == 0.25
    assert metric.compute(**rows, regexes_to_ignore=["the ", "yell"], **steps)["exact_match"] == 0.5
    more = ["the ", "yell", "YELL"]
    assert metric.compute(**rows, regexes_to_ignore=more, **steps)["exact_match"] == 0.75
    assert metric.compute(**rows, regexes_to_ignore=more, ignore_numbers=True, **steps)["exact_match"] == 1


def test_one_text_in_place_of_a_list_of_expressions_is_refused():
    with pytest.raises(ValueError, match="give a list"):
        load("exact_match").compute(predictions=["a"], references=["b"], regexes_to_ignore="the")


def test_batches_merge_to_the_whole():
    metric = load("exact_match")
    parts = [
        metric.state({"predictions": answer, "references": ["A", "b"]}, ignore_case=True)
        for answer in (["a", "x"], ["y", "B"])
    ]
    assert metric.result(metric.merge(*parts)) == {"exact_match": 0.5}
