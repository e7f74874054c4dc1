"""ROUGE, against the rouge_score library."""

import random
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer

from dynabench.evaluate import load
from dynabench.evaluate.metrics.rouge import TYPES, rouge_tokenizer
from dynabench.evaluate.ngrams import common_length, common_places, shared_ngrams
from tests.evaluate import real

LINES = st.lists(st.lists(st.sampled_from(["a", "b", "c", "running", "runs"]), max_size=6).map(" ".join), max_size=4)
CODES = st.lists(st.integers(0, 4), max_size=12)


@pytest.fixture(scope="module")
def summaries() -> tuple[list[str], list[str]]:
    """Paragraphs of SQuAD, a sentence a line, and the same with words lost and sentences moved."""
    rng = random.Random(3)
    right = [paragraph["context"].replace(". ", ".\n") for paragraph in real.paragraphs(1)]
    return [_shortened(text, rng) for text in right], right


def _shortened(text: str, rng: random.Random) -> str:
    lines = [" ".join(word for word in line.split() if rng.random() > 0.3) for line in text.split("\n")]
    return "\n".join(rng.sample(lines, max(len(lines) - 1, 1)))


@pytest.mark.release
@pytest.mark.parametrize("stem", [False, True])
def test_real_summaries_score_as_in_rouge_score(stem, summaries):
    predictions, references = summaries
    types = [*TYPES, "rouge3"]
    scorer = RougeScorer(types, use_stemmer=stem)
    scores = [scorer.score(*pair) for pair in zip(references, predictions, strict=True)]
    options = {"rouge_types": types, "use_stemmer": stem}
    result = load("rouge").compute(predictions=predictions, references=references, use_aggregator=False, **options)
    mean = load("rouge").compute(predictions=predictions, references=references, **options)
    for name in types:
        expected = [first[name].fmeasure for first in scores]
        assert result[name] == pytest.approx(expected, abs=1e-12)
        assert mean[name] == pytest.approx(np.mean(expected), abs=1e-12)
    assert mean["rougeLsum"] != pytest.approx(mean["rougeL"], rel=0.01), "lines were moved, or this shows nothing"


@settings(deadline=None)
@given(LINES, LINES)
def test_any_lines_score_as_in_rouge_score(predicted, true):
    prediction, reference = "\n".join(predicted), "\n".join(true)
    expected = RougeScorer(list(TYPES)).score(reference, prediction)
    result = load("rouge").compute(predictions=[prediction], references=[reference])
    assert result == pytest.approx({name: expected[name].fmeasure for name in TYPES}, abs=1e-12)


@pytest.mark.release
def test_of_several_references_the_best_counts_for_each_type(summaries):
    predictions, references = summaries
    many = [[reference, other] for reference, other in zip(references, references[1:] + references[:1], strict=True)]
    expected = [RougeScorer(list(TYPES)).score_multi(*pair) for pair in zip(many, predictions, strict=True)]
    result = load("rouge").compute(predictions=predictions, references=many, use_aggregator=False)
    for name in TYPES:
        assert result[name] == pytest.approx([first[name].fmeasure for first in expected], abs=1e-12)


def test_a_tokenizer_of_your_own_serves_other_writing():
    rows = {"predictions": ["это кот"], "references": ["это пёс"]}
    assert load("rouge").compute(**rows)["rouge1"] == 0
    assert load("rouge").compute(**rows, tokenizer=str.split)["rouge1"] == 0.5
    assert load("rouge").compute(**rows, tokenizer=list)["rougeL"] == pytest.approx(8 / 14)


def test_the_mean_is_the_same_each_time_and_has_an_interval(summaries):
    predictions, references = summaries
    metric = load("rouge")
    first, second = (metric.compute(predictions=predictions, references=references, interval=0.9) for _ in range(2))
    assert first == second
    assert first["interval"]["rouge2"]["low"] < first["rouge2"] < first["interval"]["rouge2"]["high"]


def test_batches_merge_to_the_whole(summaries):
    predictions, references = summaries
    metric = load("rouge")
    parts = [
        metric.state({"predictions": predictions[part], "references": references[part]})
        for part in (slice(0, 9), slice(9, None))
    ]
    merged = metric.merge(*parts)
    for options in ({}, {"use_aggregator": False}):
        whole = metric.compute(predictions=predictions, references=references, **options)
        outcome = metric.result(merged, **options)
        assert all(outcome[name] == pytest.approx(whole[name], rel=1e-12) for name in TYPES)


def test_scores_of_each_row_are_those_of_the_unaggregated_result(summaries):
    predictions, references = summaries
    result = load("rouge").compute(predictions=predictions, references=references, per_example=True)
    assert result["per_example"] == load("rouge").compute(
        predictions=predictions, references=references, use_aggregator=False
    )


@pytest.mark.parametrize("types", [["rouge0"], ["rougeS"], ["rouge"], []])
def test_types_that_are_none_are_refused(types):
    with pytest.raises(ValueError, match=r"ROUGE type|at least one"):
        load("rouge").compute(predictions=["a"], references=["a"], rouge_types=types)


def test_stemming_without_nltk_says_what_to_install(monkeypatch):
    from dynabench.evaluate.metrics import rouge

    rouge._stemmer.cache_clear()
    monkeypatch.setitem(sys.modules, "nltk.stem.porter", None)
    with pytest.raises(ValueError, match=r"pip install 'dynabench-eval\[metrics\]'"):
        rouge_tokenizer(stem=True)


@settings(deadline=None)
@given(CODES, CODES)
def test_common_places_are_a_longest_common_subsequence(reference, candidate):
    places = common_places(reference, candidate)
    assert places == sorted(set(places))
    assert len(places) == common_length(reference, candidate)
    rest = iter(candidate)
    assert all(reference[place] in rest for place in places)


@settings(deadline=None)
@given(st.lists(st.tuples(CODES, CODES), min_size=1, max_size=4), st.integers(1, 4))
def test_shared_grams_are_the_overlap_of_counts(pairs, n):
    from collections import Counter

    def grams(codes):
        return Counter(tuple(codes[at : at + n]) for at in range(len(codes) - n + 1))

    numbers = np.stack(shared_ngrams([first for first, _ in pairs], [other for _, other in pairs], n), 1).tolist()
    assert numbers == [
        [(grams(single) & grams(other)).total(), grams(single).total(), grams(other).total()] for single, other in pairs
    ]
