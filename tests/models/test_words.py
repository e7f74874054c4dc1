from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynabench.models.words import LONGEST, first_words, spoken, words

from .texts import HARD


@given(st.text(max_size=200))
def test_words_lie_where_they_say_in_order_and_hold_every_visible_character(text):
    result = list(words(text))
    assert all(text[word.start : word.end] == word.text for word in result)
    assert all(before.end <= after.start for before, after in pairwise(result))
    covered = {place for word in result for place in range(word.start, word.end)}
    assert all(text[place].isspace() for place in range(len(text)) if place not in covered)


@pytest.mark.parametrize("text", HARD)
def test_hard_texts_split_without_loss(text):
    assert "".join(word.text for word in words(text)) == "".join(text.split()) or "\x1b" in text or "\u200b" in text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("don't re-enter", ["don't", "re-enter"]),
        ("wait... what?!", ["wait", "...", "what", "?", "!"]),
        ("👍🏽👩‍👩‍👧 ok", ["👍🏽", "👩‍👩‍👧", "ok"]),
        ("🇪🇺🇫🇷", ["🇪🇺", "🇫🇷"]),
        ("e\u0301clair", ["e\u0301clair"]),
        ("日本 go", ["日", "本", "go"]),
        ("जीवन है", ["जीवन", "है"]),
    ],
)
def test_words_are_what_people_would_mark(text, expected):
    assert [word.text for word in words(text)] == expected


def test_a_long_text_costs_no_more_than_the_words_asked_for():
    assert [word.start for word in first_words("ab " * 10_000_000, 3)] == [0, 3, 6]


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("😡", "pouting face"),
        ("👍🏽", "medium skinned thumbs up"),
        ("👩🏿", "dark skinned woman"),
        ("👩‍👩‍👧", "woman woman girl"),
        ("👮🏻‍♂️", "light skinned man police officer"),
        ("👳🏾‍♀️", "dark skinned woman with turban"),
        ("❤️", "red heart"),
        ("🏳️‍🌈", "rainbow pride flag"),
        ("🇪🇺", "flag of european union"),
        ("🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f", "flag of england"),
        ("🅰️", "a"),
        ("Ⓜ️", "m"),
        ("🙂" * 9, " ".join(["slightly smiling face"] * 3)),
    ],
)
def test_emoji_are_read_by_name(word, expected):
    assert spoken(word) == expected


@given(st.text(max_size=200))
def test_every_word_can_be_read_aloud(text):
    assert all(spoken(word.text) == word.text or "\ufe0f" not in spoken(word.text) for word in words(text))


def test_words_without_emoji_are_read_as_they_stand_and_long_ones_cut():
    assert spoken("café") == "café"
    assert spoken("don’t") == "don’t"
    assert len(spoken("a" * 1000)) == LONGEST
