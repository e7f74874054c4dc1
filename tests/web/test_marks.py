"""Marks of people and models in one text."""

from hypothesis import given
from hypothesis import strategies as st

from dynabench.web.filters import MarkedPiece, mark_text

offsets = st.tuples(st.integers(-3, 30), st.integers(-3, 30)).map(lambda pair: {"start": pair[0], "end": pair[1]})
values = st.lists(offsets, max_size=3)


@given(st.text(max_size=25), values, values)
def test_the_pieces_spell_the_text_and_cover_what_was_marked(text, people, models):
    pieces = mark_text(text, [("people", people), ("models", models)])
    assert "".join(piece.text for piece in pieces) == text
    for person, spans in (("people", people), ("models", models)):
        inside = {i for s in spans if 0 <= s["start"] < s["end"] <= len(text) for i in range(s["start"], s["end"])}
        at, covered = 0, set()
        for piece in pieces:
            covered |= set(range(at, at + len(piece.text))) if person in piece.by else set()
            at += len(piece.text)
        assert covered == inside


def test_an_overlap_belongs_to_both_and_each_begins_once():
    result = mark_text("on the north pier", [("you", [{"start": 7, "end": 17}]), ("it", [{"start": 3, "end": 12}])])
    assert result == [
        MarkedPiece("on "),
        MarkedPiece("the ", ("it",), ("it",)),
        MarkedPiece("north", ("you", "it"), ("you",)),
        MarkedPiece(" pier", ("you",)),
    ]


def test_what_is_no_list_of_spans_marks_nothing():
    for value in (None, "north", [{"start": "3"}], [3], [{"start": 5, "end": 2}]):
        assert mark_text("north", [("it", value)]) == [MarkedPiece("north")]
