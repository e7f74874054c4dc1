"""F1 of labelled spans: by hand, against the library seqeval, and against every pairing there is."""

from itertools import permutations

import pytest
import seqeval.metrics
from hypothesis import given
from hypothesis import strategies as st

from dynabench.evaluate import load

LABELS = ("person", "place")
labels = st.sampled_from(LABELS)
LENGTH = 9  # tokens of a text


def span(start: int, end: int, label: str = "person") -> dict[str, object]:
    return {"start": start, "end": end, "label": label}


@st.composite
def apart(draw: st.DrawFn) -> list[dict[str, object]]:
    """Spans that share nothing, in a text of `LENGTH` tokens."""
    cuts = sorted(draw(st.sets(st.integers(0, LENGTH), max_size=6)))
    return [span(*pair, draw(st.sampled_from(LABELS))) for pair in zip(cuts[::2], cuts[1::2], strict=False)]


overlapping = st.lists(
    st.builds(lambda at, size, *label: span(at, at + size, *label), st.integers(0, 5), st.integers(1, 4), labels),
    max_size=4,
    unique_by=lambda item: tuple(item.values()),
)


def compute(predicted, right, **options):
    return load("labelled_spans_f1").compute(predictions=predicted, references=right, **options)


def tags(spans):
    result = ["O"] * LENGTH
    for item in spans:
        for at in range(item["start"], item["end"]):
            result[at] = f"{'B' if at == item['start'] else 'I'}-{item['label']}"
    return result


@pytest.mark.parametrize(
    ("predicted", "right", "scores"),
    [
        # strict, exact, partial, type
        ([span(0, 3)], [span(0, 3)], (1, 1, 1, 1)),
        ([span(0, 3, "place")], [span(0, 3)], (0, 1, 1, 0)),
        ([span(0, 2)], [span(0, 3)], (0, 0, 0.5, 1)),
        ([span(0, 2, "place")], [span(0, 3)], (0, 0, 0.5, 0)),
        ([span(4, 5)], [span(0, 3)], (0, 0, 0, 0)),
        ([], [span(0, 3)], (0, 0, 0, 0)),
        ([span(0, 1), span(1, 2)], [span(0, 2)], (0, 0, 1 / 3, 2 / 3)),  # one half of one, of 2 + 1 spans
        ([span(0, 3), span(0, 3, "place")], [span(0, 3, "place")], (2 / 3, 2 / 3, 2 / 3, 2 / 3)),
    ],
)
def test_by_hand(predicted, right, scores):
    result = compute([predicted], [right])
    assert [result[key] for key in ("f1", "exact_f1", "partial_f1", "type_f1")] == pytest.approx(scores)


@given(st.lists(st.tuples(apart(), apart()), min_size=1, max_size=4).filter(lambda rows: any(map(any, rows))))
def test_the_strict_score_is_that_of_seqeval(rows):
    answer, right = zip(*rows, strict=True)
    result = compute(list(answer), list(right))
    tagged = [list(map(tags, right)), list(map(tags, answer))]
    for ours, theirs in {"precision": "precision_score", "recall": "recall_score", "f1": "f1_score"}.items():
        assert result[ours] == pytest.approx(getattr(seqeval.metrics, theirs)(*tagged, zero_division=0)), ours


def best(predicted, right, worth):
    """The most that any pairing is worth."""
    few, many = sorted((predicted, right), key=len)
    return max(sum(map(worth, few, order)) for order in permutations(many, len(few)))


def overlap(first, other):
    return first["start"] < other["end"] and other["start"] < first["end"]


@given(overlapping, overlapping)
def test_partial_and_type_take_the_best_of_all_pairings(predicted, right):
    def place(first, other):
        same = (first["start"], first["end"]) == (other["start"], other["end"])
        return 1 if same else 0.5 * overlap(first, other)

    def kind(first, other):
        return overlap(first, other) and first["label"] == other["label"]

    result, size = compute([predicted], [right]), len(predicted) + len(right)
    for key, worth in (("partial_f1", place), ("type_f1", kind)):
        assert result[key] == pytest.approx(2 * best(predicted, right, worth) / size if size else 0), key


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ([[{"start": 1, "end": 2}]], "row 0"),
        (["spans"], "give a list of"),
        ([[span(3, 1)]], "ends after it starts"),
        ([[{"start": 0.5, "end": 2, "label": "person"}]], "whole numbers"),
        ([[(0, 2, 3)]], "the label is a text"),
    ],
)
def test_what_is_no_span_is_refused_with_its_row(wrong, message):
    with pytest.raises(ValueError, match=message):
        compute(wrong, [[]])
