"""Names in charts: none stands on another at any width, and the same points always have the same places."""

from itertools import combinations, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dynabench.stats.rates import wilson
from dynabench.web import charts
from dynabench.web.label_placement import NARROWEST, WIDEST, LabelBox, PointName, place_names, text_width

TOP, BOTTOM = 0.0, 330.0
NAMES = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), min_size=1, max_size=60)
POINTS = st.builds(
    PointName, st.floats(0, 100).map(lambda x: round(x, 1)), st.floats(16, 330).map(lambda y: round(y, 1)), NAMES
)
CROWDED = st.builds(PointName, st.sampled_from([0.0, 49.9, 50.0, 55.1, 100.0]), st.sampled_from([16.0, 160.0]), NAMES)
BOARDS = st.lists(POINTS, max_size=40) | st.lists(CROWDED, max_size=40)
WORD = LabelBox(0, 6, 60, 40, 55)


def edges(box, width):
    """The box in pixels in a chart of this width."""
    return box.left_edge(width), box.left_edge(width) + box.width, box.top, box.bottom


def overlap(first, second):
    """Return whether two boxes in pixels have an area in common; a rounding error is none."""
    small = 1e-6
    return (
        first[0] < second[1] - small
        and second[0] < first[1] - small
        and first[2] < second[3] - small
        and second[2] < first[3] - small
    )


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(BOARDS, st.lists(st.floats(NARROWEST, WIDEST), min_size=1, max_size=4))
def test_no_two_names_overlap_at_any_width(points, widths):
    boxes = [place.box for place in place_names(points, TOP, BOTTOM, [WORD]) if place is not None]
    for width in (NARROWEST, *widths, WIDEST):
        drawn = [edges(box, width) for box in (*boxes, WORD)]
        assert not any(overlap(first, second) for first, second in combinations(drawn, 2))
        for start, end, top, bottom in drawn:
            assert start >= -1e-6
            assert end <= width + 1e-6
            assert top >= TOP
            assert bottom <= BOTTOM


@given(BOARDS)
def test_places_are_the_same_each_time_and_lead_to_the_point(points):
    places = place_names(points, TOP, BOTTOM)
    assert places == place_names(points, TOP, BOTTOM)
    for point, place in zip(points, places, strict=True):
        if place is not None:
            middle = (place.box.top + place.box.bottom) / 2
            assert place.far or abs(middle - point.y) < 25
            assert text_width(place.text) == place.box.width


def test_a_lone_name_and_distant_names_always_have_a_place():
    for x in (0.0, 30.0, 50.0, 56.0, 100.0):
        assert place_names([PointName(x, 160.0, "a model with a very long name indeed")], TOP, BOTTOM) != [None]
    rows = [PointName(50.0, 30.0 * row + 20, f"model-{row}") for row in range(10)]
    assert None not in place_names(rows, TOP, BOTTOM)


@given(st.lists(st.integers(0, 400), min_size=1, max_size=6))
def test_names_of_lines_keep_apart_and_do_not_stand_below_the_axis(counts):
    rates = [wilson(count, 400) for count in counts]
    heights = [charts.BOTTOM - (charts.BOTTOM - charts.TOP) * (rate.value or 0) for rate in rates]
    curves = [charts.Curve(f"line {at}", ((100.0, height, ""),)) for at, height in enumerate(heights)]
    spread = sorted(curve.label_y for curve in charts.spread_labels(curves))
    assert all(after - before >= charts.LABEL_GAP - 0.11 for before, after in pairwise(spread))
    assert spread[-1] <= charts.BOTTOM + 4.1
