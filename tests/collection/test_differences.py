"""Edits as people read them."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynabench.collection.forms import changes
from dynabench.tasks.fields import Text
from dynabench.tasks.words import MAX_WORDS, word_differences

WORDS = st.lists(st.sampled_from(["the", "cat", " ", "  ", "sat", "Sat", ",", "\n", "mat", "d'être", "é"]), max_size=30)
texts = st.one_of(WORDS.map("".join), st.text(max_size=60))


def spelled(before: str, after: str) -> list[tuple[str, str]]:
    return [(piece.kind, piece.text) for piece in word_differences(before, after)]


@given(texts, texts)
def test_both_texts_can_be_read_from_the_pieces(before: str, after: str) -> None:
    pieces = word_differences(before, after)
    assert "".join(piece.text for piece in pieces if piece.kind != "in") == before
    assert "".join(piece.text for piece in pieces if piece.kind != "out") == after


@given(texts, texts)
def test_neighbours_differ_and_what_went_stands_first(before: str, after: str) -> None:
    kinds = [piece.kind for piece in word_differences(before, after)]
    pairs = list(pairwise(kinds))
    assert all(first != other for first, other in pairs)
    assert ("in", "out") not in pairs


@given(texts)
def test_nothing_changed_is_one_piece(text: str) -> None:
    assert spelled(text, text) == ([("same", text)] if text else [])


@pytest.mark.parametrize(
    ("before", "after", "pieces"),
    [
        ("", "new", [("in", "new")]),
        ("old", "", [("out", "old")]),
        ("The bus was late.", "The bus was early.",
         [("same", "The bus was "), ("out", "late"), ("in", "early"), ("same", ".")]),
        ("They serve cold soup here.", "They serve here.", [("same", "They serve "), ("out", "cold soup "),
                                                            ("same", "here.")]),
        ("one two three", "four five three", [("out", "one two"), ("in", "four five"), ("same", " three")]),
    ],
)  # fmt: skip
def test_edits_are_told_in_whole_words(before: str, after: str, pieces: list[tuple[str, str]]) -> None:
    assert spelled(before, after) == pieces


def test_long_texts_cost_no_quadratic_time() -> None:
    before, after = "a b " * 20 * MAX_WORDS, "c d " * 20 * MAX_WORDS
    assert len(word_differences(before, after)) <= 3


def test_only_text_fields_that_began_with_something_are_compared() -> None:
    fields = [Text(name="statement", type="text"), Text(name="other", type="text")]
    result = changes(fields, {"statement": "It is cold."}, {"statement": "It is warm.", "other": "Hello."})
    assert [(first.label, first.words, first.changed) for first in result] == [("Statement", 1, True)]
    assert not changes(fields, {"statement": "Same."}, {"statement": "Same."})[0].changed
