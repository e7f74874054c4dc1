from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynabench.web import filters

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


@pytest.mark.parametrize(("value", "text"), [(None, "–"), (0.714, "71%"), (float("nan"), "–"), (1, "100%")])
def test_a_share_is_written_as_a_percentage(value, text):
    assert filters.percent(value) == text


def test_a_gap_has_a_sign_and_a_real_minus():
    assert (filters.points(0.12), filters.points(-0.045, 1)) == ("+12", "\N{MINUS SIGN}4.5")


@pytest.mark.parametrize(("value", "text"), [(0.42, "0.4 s"), (41.8, "42 s"), (185, "3 min 5 s"), (None, "–")])
def test_durations(value, text):
    assert filters.seconds(value) == text


@pytest.mark.parametrize(
    ("age", "text"),
    [(2, "just now"), (40, "40 s ago"), (180, "3 min ago"), (7300, "2 h ago"), (3 * 86400, "3 d ago"),
     (30 * 86400, "22 Oct 2026")],
)  # fmt: skip
def test_a_moment_is_told_by_its_age(age, text):
    assert f">{text}</time>" in filters.ago(NOW - timedelta(seconds=age), NOW)


def test_instructions_lose_what_could_run():
    html = filters.markdown("**b** <script>x</script> [a](javascript:x) <img src=x onerror=x> [l](https://e.org)")
    assert "<strong>b</strong>" in html
    assert 'href="https://e.org"' in html
    assert "<script" not in html
    assert "<img" not in html
    assert 'href="javascript' not in html


@given(st.text())
def test_markdown_never_brings_in_a_script(text):
    assert "<script" not in filters.markdown(text).lower()


@given(st.text(max_size=60))
def test_somebody_always_has_initials(name):
    assert filters.initials(name)
