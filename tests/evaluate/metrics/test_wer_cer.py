"""Error rates of words and characters, against jiwer and by hand."""

import random

import jiwer
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from dynabench.evaluate import load
from dynabench.evaluate.metrics.edit_rates import Edits, word_errors
from tests.evaluate import real

KINDS = ("substitutions", "deletions", "insertions", "hits")


@pytest.fixture(scope="module")
def questions() -> tuple[list[str], list[str]]:
    """Questions of SQuAD, and the same with words lost, doubled and misspelt."""
    rng = random.Random(5)
    right = [" ".join(qa["question"].split()) for paragraph in real.paragraphs(6) for qa in paragraph["qas"]]
    return right, [" ".join(_misheard(word, rng) for word in text.split()) for text in right]


def _misheard(word: str, rng: random.Random) -> str:
    return rng.choice([word] * 7 + ["", word + " " + word, word[1:]])


@pytest.mark.parametrize(("name", "oracle"), [("wer", jiwer.process_words), ("cer", jiwer.process_characters)])
def test_real_sentences_score_as_in_jiwer(name, oracle, questions):
    references, predictions = questions
    result = load(name).compute(predictions=predictions, references=references)
    answer = oracle(references, [" ".join(text.split()) for text in predictions])
    if name == "cer":
        answer = oracle(references, predictions)
    assert result[name] == pytest.approx(getattr(answer, name), rel=1e-12)
    assert {kind: result[kind] for kind in KINDS} == {kind: getattr(answer, kind) for kind in KINDS}
    assert 0.05 < result[name] < 0.5, "the texts differ, or this shows nothing"


@settings(deadline=None)
@given(st.lists(st.tuples(st.text("ab c", max_size=12), st.text("ab c", max_size=12)), min_size=1, max_size=6))
def test_any_texts_score_as_in_jiwer(pairs):
    references, predictions = map(list, zip(*pairs, strict=True))
    wer = load("wer").compute(predictions=predictions, references=references)
    cer = load("cer").compute(predictions=predictions, references=references)
    words = [jiwer.process_words(*(" ".join(text.split()) for text in pair)) for pair in pairs]
    letters = [jiwer.process_characters(*pair) for pair in pairs]
    for kind in KINDS:
        assert wer[kind] == sum(getattr(word, kind) for word in words)
        assert cer[kind] == sum(getattr(letter, kind) for letter in letters)


def test_batches_merge_to_the_whole(questions):
    references, predictions = questions
    for name in ("wer", "cer"):
        metric = load(name)
        halves = [
            metric.state({"predictions": predictions[part], "references": references[part]})
            for part in (slice(0, 50), slice(50, None))
        ]
        whole = metric.compute(predictions=predictions, references=references)
        assert metric.result(metric.merge(*halves)) == whole


def test_compatible_is_the_bare_number():
    metric = load("wer", compat=True)
    assert metric.compute(predictions=["a b"], references=["a c"]) == 0.5
    assert load("cer", compat=True).compute(predictions=["ab"], references=["ac"]) == 0.5


def test_nothing_said_and_nothing_heard_is_no_error():
    for name in ("wer", "cer"):
        assert load(name).compute(predictions=["", " "], references=["", ""])[name] == 0


def test_each_row_has_its_own_rate_and_an_empty_reference_counts_as_one_unit():
    result = load("wer").compute(predictions=["x y", "a"], references=["", "a b"], per_example=True)
    assert result["per_example"]["wer"] == [2.0, 0.5]
    assert result["wer"] == 1.5  # 3 errors in 2 words


def test_concatenated_texts_are_aligned_across_rows():
    rows = {"predictions": ["one two", "three"], "references": ["one", "two three"]}
    assert load("wer").compute(**rows)["wer"] == pytest.approx(2 / 3)
    assert load("wer").compute(**rows, concatenate_texts=True)["wer"] == 0
    interval = load("wer").compute(**rows, concatenate_texts=True, interval=0.9, resamples=20)["interval"]["wer"]
    assert 0 <= interval["low"] <= interval["high"]


def test_tabs_and_line_ends_part_words():
    assert word_errors("a\tb\nc", "a b c") == Edits(3, 0, 0, 0)
    assert word_errors("a b", "b").errors == 1
    assert word_errors("a b", "b c").length == 2


def test_the_interval_is_that_of_scipy(questions):
    references, predictions = (texts[:200] for texts in questions)
    result = load("wer").compute(predictions=predictions, references=references, interval=0.9, resamples=4000)
    rows = np.array([(first.errors, first.length) for first in map(word_errors, references, predictions)])

    def rate(errors, lengths, axis=-1):
        return errors.sum(axis) / lengths.sum(axis)

    answer = stats.bootstrap(
        tuple(rows.T),
        rate,
        paired=True,
        confidence_level=0.9,
        n_resamples=4000,
        method="BCa",
        rng=np.random.default_rng(1),
    )
    width = answer.confidence_interval.high - answer.confidence_interval.low
    interval = result["interval"]["wer"]
    assert interval["low"] == pytest.approx(answer.confidence_interval.low, abs=0.05 * width)
    assert interval["high"] == pytest.approx(answer.confidence_interval.high, abs=0.05 * width)
    assert interval["standard_error"] == pytest.approx(answer.standard_error, rel=0.05)
