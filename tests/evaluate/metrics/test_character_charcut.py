"""CharacTER and CharCut, against the packages of their authors."""

import random
from fractions import Fraction

import cer.cer as reference_character
import charcut.charcut as reference_charcut
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from dynabench.evaluate import load
from dynabench.evaluate.metrics.character_edits import character, charcut_cost
from tests.evaluate import real

WORDS = st.lists(st.sampled_from(["a", "bb", "ccc", "d,", "the"]), min_size=1, max_size=9).map(" ".join)


@pytest.fixture(scope="module")
def pairs() -> list[tuple[str, str]]:
    """Sentences of SQuAD with phrases moved, words lost and letters changed, each with the original."""
    rng = random.Random(2)
    texts = [paragraph["context"] for paragraph in real.paragraphs(4)]
    sentences = rng.sample([part.strip() for text in texts for part in text.split(". ") if part.strip()], 60)
    return [(_changed(text, rng), text) for text in sentences]


def _changed(text: str, rng: random.Random) -> str:
    words = [word for word in text.split() if rng.random() > 0.1]
    low, high = sorted(rng.choices(range(len(words) + 1), k=2))
    moved = words[low:high] + words[:low] + words[high:]
    return "".join(rng.choice("ab ,.") if rng.random() < 0.03 else letter for letter in " ".join(moved)).strip() or "x"


@pytest.fixture(scope="module", autouse=True)
def _exact():
    """The package subtracts rounded ratios, and now and then makes a move that gains 1e-17; give it fractions."""

    def distance(prediction, true, *, do_norm=False):
        result = Levenshtein.distance(prediction, true)
        return Fraction(result, len(true)) if do_norm else result

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reference_character, "calculate_levenshtein", distance)
        yield


def test_character_of_real_sentences_is_that_of_its_package(pairs):
    cers = [reference_character.calculate_cer(a.split(), b.split()) for a, b in pairs]
    result = load("character").compute(
        predictions=[a for a, _ in pairs], references=[b for _, b in pairs], return_all_scores=True
    )
    assert result["cer_scores"] == pytest.approx(cers, abs=1e-12)
    assert result["cer_score"] == pytest.approx(sum(cers) / len(cers))
    assert 0.1 < result["cer_score"] < 0.6


@settings(deadline=None)
@given(WORDS, WORDS)
def test_character_of_any_words_is_that_of_its_package(prediction, reference):
    cer = reference_character.calculate_cer(prediction.split(), reference.split())
    assert character(prediction, reference) == pytest.approx(cer, abs=1e-12)


def test_character_aggregates_by_mean_sum_and_median():
    rows = {"predictions": ["a b", "b a", "x", "a"], "references": ["a b", "a b", "abc", "a"]}
    scores = load("character").compute(**rows, return_all_scores=True)["cer_scores"]
    assert scores[0] == scores[3] == 0
    assert scores[2] == 1
    for name, value in (("mean", sum(scores) / 4), ("sum", sum(scores)), ("median", scores[1] / 2)):
        result = load("character").compute(**rows, aggregate=name, interval=0.9, resamples=200)
        assert result["cer_score"] == pytest.approx(value)
        assert result["interval"]["cer_score"]["low"] <= value <= result["interval"]["cer_score"]["high"]


def test_character_merges_batches_of_medians():
    metric = load("character")
    parts = [
        metric.state({"predictions": [text], "references": ["a b c"]}, aggregate="median")
        for text in ("a b c", "x", "a c")
    ]
    merged = metric.merge(metric.merge(parts[0], parts[1]), parts[2])
    whole = metric.compute(predictions=["a b c", "x", "a c"], references=["a b c"] * 3, aggregate="median")
    assert metric.result(merged, aggregate="median") == whole


@pytest.mark.release
def test_charcut_of_real_sentences_is_that_of_its_package(pairs):
    predictions, references = map(list, zip(*pairs, strict=True))
    result = load("charcut_mt").compute(predictions=predictions, references=references, per_example=True)
    assert result["charcut_mt"] == pytest.approx(
        reference_charcut.calculate_charcut(predictions, references)[0], rel=1e-12
    )
    assert 0.05 < result["charcut_mt"] < 0.6
    assert len(result["per_example"]["charcut_mt"]) == len(pairs)


@settings(deadline=None)
@given(st.text("ab ,c", max_size=30), st.text("ab ,c", max_size=30))
def test_charcut_of_any_texts_is_that_of_its_package(prediction, reference):
    styled = reference_charcut.compare_segments(prediction, reference, 3)
    answer, _ = reference_charcut.score_pair(prediction, reference, *styled, False)
    assert charcut_cost(prediction, reference) == answer


def test_charcut_counts_a_moved_piece_once_and_a_far_one_as_lost_and_found():
    near, far = ("xyzabcd", "abcdxyz"), ("xyz" + "abcdefgh" * 4, "abcdefgh" * 4 + "xyz")
    assert charcut_cost(*near) == 3
    assert charcut_cost(*far) == 6  # 32 characters are more than e^3


@settings(deadline=None)
@given(st.text("ab ,c", max_size=20))
def test_equal_texts_cost_nothing(text):
    assert charcut_cost(text, text) == 0
    assert character(text, text) == 0
