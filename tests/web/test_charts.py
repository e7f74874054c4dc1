from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynabench.benchmark.leaderboards.saturation_plot import ClosedGap, saturation_plot
from dynabench.kit.language import translate
from dynabench.stats.rates import UNKNOWN, wilson
from dynabench.web import charts
from dynabench.web.environment import environment

RATES = st.integers(1, 400).flatmap(lambda n: st.builds(wilson, st.integers(0, n), st.just(n)))


def markup(chart) -> str:
    """The chart as pages draw it."""
    source = '{% import "web/components.html" as ui with context %}{{ ui.figure(chart) }}'
    return environment().from_string(source).render(chart=chart)


def test_a_clear_fall_is_the_title():
    chart = charts.rate_over_rounds([(1, wilson(130, 300)), (2, wilson(30, 300))])
    assert chart.title == "vMER fell from 43% (round 1) to 10% (round 2)"


def test_overlapping_intervals_are_no_finding():
    assert "not clearly changed" in charts.rate_over_rounds([(1, wilson(3, 10)), (2, wilson(2, 10))]).title
    assert "No clear difference" in charts.rates_by_condition([("a", wilson(3, 10)), ("b", wilson(2, 10))]).title


def test_there_is_no_chart_of_one_point():
    day = [("2026-11-21", wilson(5, 20), wilson(3, 20))]
    assert charts.rates_per_day(day, day) is None
    assert charts.rates_by_condition([("a", wilson(3, 10)), ("b", UNKNOWN)]) is None
    assert charts.rate_over_rounds([(1, UNKNOWN)]) is None
    single = charts.rate_over_rounds([(1, UNKNOWN), (2, wilson(1, 4))])
    assert single.plot is None
    assert "<svg" not in markup(single)
    assert "25%" in markup(single)


def test_each_round_names_the_targets_of_its_own():
    rates = [(1, UNKNOWN), (2, wilson(1, 4)), (3, wilson(2, 4))]
    chart = charts.rate_over_rounds(rates, ["first", "second", "third"])
    assert [row.name for row in chart.plot.rows] == ["Round 2, second", "Round 3, third"]


@given(st.lists(RATES, min_size=2, max_size=12))
def test_every_value_lies_within_its_interval_and_its_axis(rates):
    plot = charts.rate_plot([charts.rate_row(f"row {at}", rate) for at, rate in enumerate(rates)])
    for row in plot.rows:
        assert 0 <= plot.place(row.low) <= plot.place(row.value) <= plot.place(row.high) <= 100
    assert plot.ticks[0][0] == 0
    assert plot.ticks[-1][0] == 100


@pytest.mark.slow
@given(st.lists(st.tuples(RATES, RATES), min_size=2, max_size=40))
def test_the_table_says_what_the_lines_draw(pairs):
    days = [(f"{datetime(2026, 11, 1) + timedelta(days=3 * at):%Y-%m-%d}", *pair) for at, pair in enumerate(pairs)]
    chart = charts.rates_per_day(days, days)
    assert [len(curve.points) for curve in chart.plot.curves] == [len(days)] * 2
    assert len(chart.rows) == len(days)
    assert {len(row) for row in chart.rows} == {len(chart.columns)}
    assert all(0 <= x <= 100 and charts.TOP <= y <= charts.BOTTOM
               for curve in chart.plot.curves for x, y, _text in curve.points)  # fmt: skip
    labels = sorted(curve.label_y for curve in chart.plot.curves)
    assert labels[1] - labels[0] >= charts.LABEL_GAP - 0.01


def test_names_are_text_and_never_markup():
    name = "</dt><script>alert(1)</script>"
    drawn = markup(charts.rates_by_condition([(name, wilson(1, 2)), ("b", wilson(1, 2))]))
    assert "<script" not in drawn
    assert "&lt;script&gt;" in drawn
    assert "style=" not in drawn


def test_anything_with_an_interval_will_do():
    rate = SimpleNamespace(value=0.5, low=0.4, high=0.6, n=90)
    assert charts.rate_row("a", rate) == charts.ChartRow("a", 0.5, "50%", "40%–60% · n 90", 0.4, 0.6)


@pytest.mark.parametrize(("low", "high"), [(0, 1), (0, 0.004), (-3, 12), (5, 5), (0, 123456)])
def test_ticks_are_few_round_and_inside(low, high):
    ticks = charts.round_ticks(low, high)
    assert 1 <= len(ticks) <= charts.TICKS
    assert all(low <= tick <= high for tick in ticks)


def test_rounds_without_two_models_at_different_times_have_no_line():
    start = datetime(2026, 11, 23, tzinfo=UTC)
    gap = ClosedGap(start, -1.0, "first")
    assert saturation_plot({}) is saturation_plot({1: [gap]}) is None
    assert saturation_plot({1: [gap, ClosedGap(start + timedelta(seconds=3), -0.4, "second")]}) is None
    later = ClosedGap(start + timedelta(days=4), 0.4, "better than people")
    plot = saturation_plot({1: [gap], 2: [gap, later]})
    [curve] = plot.curves
    assert translate(curve.name) == "round 2"
    assert plot.top == curve.points[-1][1] < plot.people, "what is far above people stands at the upper end"
    assert [text for _x, text in plot.x_ticks] == ["23 Nov", "24 Nov", "25 Nov", "27 Nov"]
