"""TER against the sacrebleu library, whose search for moves it must follow step by step."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import TER
from sacrebleu.metrics.lib_ter import translation_edit_rate

from dynabench.evaluate import load
from dynabench.evaluate.metrics.edit_rates import count_edits
from tests.evaluate.real import pairs

WORDS = st.lists(st.sampled_from("abcdefg"), max_size=14)
NAMES = {
    "normalized": "normalized",
    "ignore_punct": "no_punct",
    "support_zh_ja_chars": "asian_support",
    "case_sensitive": "case_sensitive",
}


def library(predictions: list[str], references: list[list[str]], **options) -> tuple[float, int, float]:
    result = TER(**{NAMES[name]: value for name, value in options.items()}).corpus_score(
        predictions, list(zip(*references, strict=True))
    )
    return result.score, result.num_edits, result.ref_length


@pytest.mark.release
@pytest.mark.parametrize(
    "options",
    [{}, {"case_sensitive": True}, {"normalized": True}, {"ignore_punct": True, "support_zh_ja_chars": True}],
    ids=str,
)
def test_it_equals_the_library_on_real_texts(options):
    answer, right = pairs(400)
    result = load("ter").compute(predictions=answer, references=right, **options)
    assert tuple(result.values()) == pytest.approx(library(answer, right, **options), rel=1e-12)
    assert isinstance(result["num_edits"], int)


@settings(deadline=None)
@given(WORDS, WORDS)
def test_edits_of_odd_words_are_the_librarys(prediction, right):
    assert count_edits(prediction, right) == translation_edit_rate(prediction, right)[0]


@given(st.permutations(range(12)))
def test_moves_of_words_are_the_librarys(order):
    answer, right = [str(first) for first in order], [str(number) for number in range(12)]
    assert count_edits(answer, right) == translation_edit_rate(answer, right)[0]


@pytest.mark.release
@pytest.mark.parametrize("seed", range(1, 4))
def test_long_texts_leave_the_beam_and_reach_the_limit_of_moves_as_in_the_library(seed):
    rng = random.Random(seed)
    answer, right = (
        [str(rng.randrange(40)) for _ in range(length)] for length in (rng.randrange(30, 70), rng.randrange(5, 90))
    )
    assert count_edits(answer, right) == translation_edit_rate(answer, right)[0]


def test_a_text_much_shorter_than_its_reference_widens_the_beam():
    text, right = list("abc"), [str(number) for number in range(200)] + list("abc")
    assert count_edits(text, right) == translation_edit_rate(text, right)[0] == 203  # the beam does not see the end
    assert count_edits(right, text) == translation_edit_rate(right, text)[0] == 200


def test_empty_texts_have_defined_rates():
    ter = load("ter")
    assert ter.compute(predictions=[""], references=[""])["score"] == 0
    assert ter.compute(predictions=["a b"], references=[""])["score"] == 100
    assert ter.compute(predictions=[""], references=["a b"]) == {"score": 100.0, "num_edits": 2, "ref_length": 2.0}


def test_scores_per_example_are_those_of_single_sentences():
    answer, right = pairs(60)
    result = load("ter").compute(predictions=answer, references=right, per_example=True)["per_example"]["score"]
    assert result == pytest.approx([TER().sentence_score(*row).score for row in zip(answer, right, strict=True)])
