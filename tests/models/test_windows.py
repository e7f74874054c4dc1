"""Windows over passages, and the spans that are read off them. No encoder computes here."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynabench.models.backends import pieces, spans
from dynabench.models.backends.pieces import CLS, SEP
from dynabench.tasks.words import word_f1

from .texts import HARD

TEXT = "Ada’s mill ground flour, rye-flour and bran; the Orren's water-wheel turned slowly. "


def draw_logits(reading, seed, scale=3.0):
    rng = np.random.default_rng(seed)
    return [rng.normal(scale=scale, size=(len(window.pieces) + 3, 2)) for window in reading.windows]


@pytest.mark.parametrize("times", [0, 1, 12, 40])
@pytest.mark.parametrize("limit", [32, 288])
def test_windows_cover_the_passage_and_overlap(times, limit):
    reading = pieces.read_passage("What turned slowly?", TEXT * times, limit)
    covered = set()
    for window in reading.windows:
        assert len(window.pieces) <= limit
        assert (window.pieces.ids[0], window.pieces.ids[-1], window.pieces.ids.count(SEP)) == (CLS, SEP, 2)
        places = range(window.first, window.first + window.count)
        owners = window.pieces.owner[window.at : window.at + window.count]
        assert owners == tuple((1, reading.word[place]) for place in places)
        covered.update(places)
    assert covered == set(range(len(reading.word)))
    for before, after in pairwise(reading.windows):
        assert after.first < before.first + before.count
    assert len(reading) == sum(len(window.pieces) for window in reading.windows)


def test_a_possessive_is_no_part_of_the_name():
    assert [word.text for word in pieces.answerable("Ada’s and O'Neil's, don't", 9)] == [
        *("Ada", "’s", "and", "O'Neil", "'s", ",", "don't")
    ]


def test_a_question_of_any_length_leaves_room_for_the_passage():
    reading = pieces.read_passage("why " * 5000, TEXT, 64)
    assert all(window.count > 20 for window in reading.windows)


@given(st.integers(0, 10**6), st.sampled_from([1, 2, 5]), st.sampled_from([1, 4, 21]))
def test_spans_are_the_likeliest_of_all_over_all_windows(seed, times, longest):
    reading = pieces.read_passage("Who?", TEXT * times, 48)
    logits = draw_logits(reading, seed)
    scores = {}
    for window, values in zip(reading.windows, logits, strict=True):
        for i in range(window.count):
            for j in range(i, min(i + longest, window.count)):
                key = (window.first + i, window.first + j)
                score = values[window.at + i, 0] + values[window.at + j, 1]
                scores[key] = max(score, scores.get(key, -np.inf))
    total = sum(np.exp(list(scores.values())))
    (first, last), best = max(scores.items(), key=lambda item: item[1])
    result = spans.spans(reading, logits, longest)
    place = (reading.words[reading.word[first]].start, reading.words[reading.word[last]].end)
    (mine,) = [span for span in result if (span.start, span.end) == place]
    assert mine.probability >= np.exp(best) / total - 1e-9
    assert sum(span.probability for span in result) <= 1 + 1e-9
    window = reading.windows[mine.window]
    assert reading.word[mine.first - window.at + window.first] == reading.word[first]
    assert [span.probability for span in result] == sorted((span.probability for span in result), reverse=True)


@pytest.mark.parametrize("text", HARD)
def test_spans_cover_whole_words(text):
    reading = pieces.read_passage("Who?", text, 64)
    starts, ends = ({getattr(word, side) for word in reading.words} for side in ("start", "end"))
    for span in spans.spans(reading, draw_logits(reading, 1)):
        assert span.start in starts
        assert span.end in ends
        assert text[span.start : span.end] == span.text


def span(text, probability):
    return spans.Span(0, len(text), text, probability, 0, 0, 0)


def test_nearly_equal_answers_support_each_other():
    result = [span("blue", 0.34), span("big red barn", 0.30), span("red barn", 0.26), span("a red barn", 0.1)]
    assert spans.best(result).text == "red barn"
    assert spans.best(result[:1]) == result[0]
    assert list(spans.likeliest(result, result[2])) == ["blue", "big red barn", "red barn"]
    assert list(spans.likeliest(result, result[3], 2)) == ["blue", "a red barn"]


@given(st.lists(st.text(alphabet="ab c.", max_size=6), min_size=1, max_size=6))
def test_expected_f1_is_the_tasks_word_f1(texts):
    words = [tuple(spans.answer_words(text)) for text in texts]
    expected = [[word_f1(first, other) for other in texts] for first in texts]
    assert np.allclose(spans._f1(words), expected)
