"""Mathematical answers that are written in different ways."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dynabench.evaluate import load
from dynabench.evaluate.metrics.short_answers import canonical_answer

ALIKE = [
    (r"1/2", r"\frac{1}{2}"),
    (r"0.5", r"\frac{1}{2}"),
    (r".5", r"\dfrac12"),
    (r"\tfrac1{72}", r"\frac{1}{72}"),
    (r"\frac 12", r"\frac{1}{2}"),
    (r"\frac{\sqrt{3}}2", r"\frac{\sqrt{3}}{2}"),
    (r"\frac\pi2", r"\frac{\pi}{2}"),
    (r"2\sqrt3", r"2\sqrt{3}"),
    (r"\left( 1, 2 \right)", "(1,2)"),
    (r"x = 7", "7"),
    (r"90^\circ", "90"),
    (r"90^{\circ}", "90"),
    (r"\$ 3{,}000", "3{,}000"),
    (r"$5$", "5"),
    (r"40\%", "40"),
    (r"12 \text{ inches}", "12"),
    (r"(.5, -.25)", "(0.5,-0.25)"),
    ("\\begin{pmatrix} 1 \\\\ 2 \\end{pmatrix}", "\\begin{pmatrix}1\\2\\end{pmatrix}"),
]
DIFFERENT = [
    ("1", "2"),
    ("1/2", "2/4"),  # writing is compared, not the value
    ("0.25", r"\frac{1}{4}"),
    (r"\text{yes}", r"\text{no}"),
    ("x+y=3", "3"),
    ("-1", "1"),
    (r"\leftarrow", "arrow"),
    (r"\sqrt[3]{2}", r"\sqrt{2}"),
    ("", "0"),
]


@pytest.mark.parametrize(("first", "other"), ALIKE)
def test_two_ways_of_writing_are_one_answer(first, other):
    assert load("competition_math").compute(predictions=[first], references=[other]) == {"accuracy": 1}
    assert load("competition_math").compute(predictions=[other], references=[first]) == {"accuracy": 1}


@pytest.mark.parametrize(("first", "other"), DIFFERENT)
def test_different_answers_stay_different(first, other):
    assert load("competition_math").compute(predictions=[first], references=[other]) == {"accuracy": 0}


@settings(deadline=None)
@given(st.text("\\frac{}sqt12/.=k $%^", max_size=20))
def test_any_text_equals_itself_with_space_around(text):
    result = load("competition_math").compute(predictions=[f" {text}  "], references=[text])
    assert result == {"accuracy": 1}


@pytest.mark.timeout(5)
def test_a_long_answer_takes_no_long_time():
    assert canonical_answer(r"\frac{" * 2000) != canonical_answer("1")
    assert canonical_answer(" " * 50_000 + "=") != canonical_answer("1")


def test_batches_merge_to_the_whole():
    metric = load("competition_math")
    parts = [metric.state({"predictions": [text], "references": ["1/2"]}) for text in (".5", "3")]
    assert metric.result(metric.merge(*parts)) == {"accuracy": 0.5}
