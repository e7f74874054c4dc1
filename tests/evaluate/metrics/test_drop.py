"""DROP's exact match and F1: by hand, and against every pairing of parts there is."""

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynabench.evaluate import load


def compute(prediction, *right, **options):
    result = load("drop").compute(predictions=[prediction], references=[list(right)], **options)
    return result["exact_match"], pytest.approx(result["f1"])


@pytest.mark.parametrize(
    ("prediction", "right", "exact", "f1"),
    [
        ("the Rhine", "Rhine", 1, 1),
        ("the river Rhine", "Rhine", 0, 2 / 3),
        ("Main; Rhine", "Rhine; Main", 1, 1),
        ("Rhine", "Rhine; Main", 0, 1 / 2),
        ("Rhine; Main; Elbe", "Rhine", 0, 1 / 3),
        ("1,200", "1200", 1, 1),
        ("1200.0", "1200", 1, 1),
        ("40 men", "40 women", 0, 1 / 2),  # the number is there, and one word of two
        ("41 men", "40 men", 0, 0),  # the number is not
        ("men", "40 men", 0, 0),
        ("40 men", "men", 0, 2 / 3),  # a number too many is a word too many
        ("well-known men", "well known men", 1, 1),
        ("yes", "no", 0, 0),
        ("unanswerable", "Rhine", 0, 0),
        ("Unanswerable.", "unanswerable", 1, 1),
        ("three", "3", 0, 0),
        ("", "", 1, 1),
        (";", "c; b", 0, 0),
    ],
)
def test_by_hand(prediction, right, exact, f1):
    assert compute(prediction, right) == (exact, f1)


def test_number_words_count_where_they_are_asked_for():
    assert compute("Three boats", "3 boats", number_words=True) == (1, 1)
    assert compute("twenty", "20", number_words=True) == (1, 1)
    assert compute("two", "3", number_words=True) == (0, 0)


def test_of_several_right_answers_the_best_counts_and_lists_are_parts():
    assert compute(["Ada; Lovelace", "Grace"], "Edith", ["Grace", "Ada; Lovelace"]) == (1, 1)
    assert compute("Edith", "Ada", "Edith Crane") == (0, 2 / 3)


WORDS = st.lists(st.sampled_from(["red", "blue", "7", "8"]), min_size=1, max_size=3).map(" ".join)
PARTS = st.lists(WORDS, min_size=1, max_size=4)


def single(prediction, right):
    """F1 of two parts, as the paper has it."""
    ours, theirs = set(prediction.split()), set(right.split())
    numbers = {word for word in theirs if word.isdigit()}
    if numbers and not numbers & ours:
        return 0
    common = len(ours & theirs)
    return 2 * common / (len(ours) + len(theirs))


@given(PARTS, PARTS)
def test_parts_are_paired_as_is_best(prediction, right):
    few, many = sorted((prediction, right), key=len)
    swapped = few is right

    def worth(first, other):
        return single(other, first) if swapped else single(first, other)

    best = max(sum(map(worth, few, order)) for order in permutations(many, len(few)))
    assert compute(prediction, right)[1] == best / len(many)


@pytest.mark.parametrize("wrong", [[3], [["Ada", 3]], [None]])
def test_what_is_no_answer_is_refused_with_its_row(wrong):
    with pytest.raises(ValueError, match="row 0"):
        load("drop").compute(predictions=wrong, references=["Ada"])
