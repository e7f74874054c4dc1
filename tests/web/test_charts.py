import json
import re
from types import SimpleNamespace

import pytest
import vl_convert

from dynabench.kit.language import translate
from dynabench.stats.rates import UNKNOWN, wilson
from dynabench.web import charts


def test_a_clear_fall_is_the_title():
    chart = charts.rate_over_rounds([(1, wilson(130, 300)), (2, wilson(30, 300))])
    assert chart.title == "vMER fell from 43% (round 1) to 10% (round 2)"


def test_overlapping_intervals_are_no_finding():
    assert "not clearly changed" in charts.rate_over_rounds([(1, wilson(3, 10)), (2, wilson(2, 10))]).title
    assert (
        "No clear difference" in charts.rates_by_condition([("a", wilson(3, 10)), ("b", wilson(2, 10))], "Start").title
    )


def test_rounds_without_examples_are_left_out():
    assert charts.rate_over_rounds([(1, UNKNOWN)]) is None
    assert len(charts.rate_over_rounds([(1, UNKNOWN), (2, wilson(1, 4))]).rows) == 1


@pytest.mark.parametrize("days", [1, 5])
def test_the_table_says_what_the_chart_draws(days):
    rates = [(f"2026-11-{day + 1:02}", wilson(5 + day, 20), wilson(day, 20)) for day in range(days)]
    chart = charts.rates_per_day(rates, rates)
    assert len(chart.rows) == days
    assert {len(row) for row in chart.rows} == {len(chart.columns)}
    text = json.dumps(chart.spec)
    assert "vega/v6" in text
    assert "http" not in text.replace(chart.spec["$schema"], "")


def test_names_are_data_not_expressions():
    chart = charts.rates_by_condition([("</script><b>'+alert(1)", wilson(1, 2))], "Start")
    assert "alert(1)" in json.dumps(chart.spec["data"])
    assert "alert(1)" not in json.dumps({key: value for key, value in chart.spec.items() if key != "data"})


def test_anything_with_an_interval_will_do():
    assert charts.rate_over_rounds([(1, SimpleNamespace(value=0.5, low=0.4, high=0.6, n=90))]).rows == [
        ["1", "50.0%", "40.0% to 60.0%", "90"]
    ]


def svg_of(chart):
    return vl_convert.vega_to_svg(chart.spec if hasattr(chart, "spec") else chart)


def test_days_with_few_examples_have_no_rates_of_their_own():
    daily = [(f"2026-11-{day + 1:02}", wilson(day % 2, 1), wilson(0, 1)) for day in range(8)]
    sofar = [(f"2026-11-{day + 1:02}", wilson((day + 1) // 2, day + 1), wilson(0, day + 1)) for day in range(8)]
    chart = charts.rates_per_day(daily, sofar)
    assert [row[1] for row in chart.rows][-2:] == ["42.9%", "50.0%"], "all examples so far, no zigzag of 0 and 100 %"
    assert "up to and including the day" in translate(chart.note)
    many = [(day, wilson(5 + at, 20), wilson(at, 20)) for at, (day, *_) in enumerate(daily)]
    assert [row[5] for row in charts.rates_per_day(many, sofar).rows] == ["20"] * 8, "enough a day: rates of each day"


def test_models_of_one_instant_stand_over_their_day():
    points = [
        {"series": "Round 1", "at": f"2026-11-23T18:04:22.{ms}+00:00", "value": value, "tip": "x"}
        for ms, value in ((509000, -1.0), (509400, -0.4))
    ]
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", svg_of(charts.saturation_lines(points)))
    assert "23 Nov 2026" in texts
    assert not [text for text in texts if text.startswith(".")], "no milliseconds"
