"""VQA accuracy: by hand, by leaving out each person in turn, and on easy-VQA."""

import json
import random
import zipfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dynabench.evaluate import load
from dynabench.evaluate.metrics.short_answers import normalize_vqa_answer
from tests.large_data import need_data


@pytest.mark.parametrize(("same", "score"), [(0, 0), (1, 0.3), (2, 0.6), (3, 0.9), (4, 1), (10, 1)])
def test_ten_people_give_the_published_steps(same, score):
    people = ["yes"] * same + [f"no {at}" for at in range(10 - same)]
    assert load("vqa_accuracy").compute(predictions=["yes"], references=[people])["vqa_accuracy"] == pytest.approx(
        score
    )


@settings(deadline=None)
@given(st.lists(st.sampled_from("abc"), min_size=4, max_size=12), st.sampled_from("abc"))
def test_the_score_is_the_mean_over_leaving_out_each_person(people, answer):
    answers = [f"answer{first}" for first in people]
    text = f"answer{answer}"
    item = [min(1, (answers[:at] + answers[at + 1 :]).count(text) / 3) for at in range(len(answers))]
    result = load("vqa_accuracy").compute(predictions=[text], references=[answers])
    assert result["vqa_accuracy"] == pytest.approx(sum(item) / len(item))


@pytest.mark.parametrize(
    ("people", "score"),
    [(["x"], 1), (["y"], 0), (["x", "x"], 1), (["x", "y"], 0.5), (["x", "x", "y"], 2 / 3), (["x"] * 3, 1)],
)
def test_of_few_people_all_others_have_to_agree(people, score):
    assert load("vqa_accuracy").compute(predictions=["x"], references=[people])["vqa_accuracy"] == pytest.approx(score)


@pytest.mark.parametrize(
    ("written", "compared"),
    [
        ("Yes!", "yes"),
        ("a dog", "dog"),
        ("Two", "2"),
        ("none", "0"),
        ("dont know", "don't know"),
        ("couldn'tve", "couldn't've"),
        ("couldntve", "couldn't've"),
        ("1,000", "1000"),
        ("t-shirt", "t shirt"),
        ("red, blue", "red blue"),
        ("red/blue", "red blue"),
        ("3.5", "3.5"),
        ("u.s.", "us"),
        ("on\nthe\ttable ", "on table"),
        ("well", "well"),  # a word of its own, not "we'll"
    ],
)
def test_answers_are_made_alike(written, compared):
    assert normalize_vqa_answer(written) == compared


@settings(deadline=None)
@given(st.text("aA 1,.-'!n", max_size=15))
def test_case_and_white_space_around_never_count(text):
    assert (
        normalize_vqa_answer(text.upper()) == normalize_vqa_answer(text.lower()) == normalize_vqa_answer(f" {text}\n")
    )


@pytest.mark.release
@pytest.mark.large_data("easy_vqa/easy_vqa-1.0-py3-none-any.whl")
def test_easy_vqa_with_one_answer_each_is_the_share_that_is_met():
    with zipfile.ZipFile(need_data("easy_vqa/easy_vqa-1.0-py3-none-any.whl")) as wheel:
        rows = json.loads(wheel.read("easy_vqa/data/test/questions.json"))
    right = [answer for _, answer, _ in rows]
    rng = random.Random(4)
    choices = [rng.choice([answer, answer.upper() + ".", "the " + answer, "plaid"]) for answer in right]
    wrong = choices.count("plaid") / len(choices)
    result = load("vqa_accuracy").compute(predictions=choices, references=right, per_example=True)
    assert result["vqa_accuracy"] == pytest.approx(1 - wrong)
    assert set(result["per_example"]["vqa_accuracy"]) == {0.0, 1.0}
    as_written = sum(map(str.__eq__, choices, right)) / len(right)
    plain = load("vqa_accuracy").compute(predictions=choices, references=right, normalize=False)
    assert plain["vqa_accuracy"] == pytest.approx(as_written)
    many = load("vqa_accuracy").compute(predictions=choices, references=[[first] * 10 for first in right])
    assert many["vqa_accuracy"] == pytest.approx(1 - wrong)


def test_batches_merge_to_the_whole():
    metric = load("vqa_accuracy")
    parts = [metric.state({"predictions": [text], "references": [["x"] * 2 + ["y"] * 8]}) for text in ("x", "y")]
    assert metric.result(metric.merge(*parts))["vqa_accuracy"] == pytest.approx(0.8)
