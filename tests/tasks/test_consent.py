import pytest
from hypothesis import given

from dynabench.tasks.fields import Consent, FieldError
from tests.tasks.laws import agrees, drawn, hostile, posts, survives

terms = Consent(name="terms", label="I agree", statement="<b>All</b> of it.")
news = Consent(name="news", required=False)


def test_a_tick_survives_every_way():
    assert survives(terms, True) is True
    assert terms.clean(posts(terms, True, {})) is True


@given(hostile)
def test_the_schema_and_clean_agree(raw):
    agrees(terms, raw)
    agrees(news, raw)


@pytest.mark.parametrize("raw", [None, False, "yes", 1, []])
def test_nobody_goes_on_without_where_it_is_required(raw):
    with pytest.raises(FieldError, match="Tick this"):
        terms.clean(raw)


def test_an_open_box_is_nothing_where_it_is_optional():
    assert news.clean(posts(news, None, {})) is None
    assert news.clean(False) is None


def test_the_statement_is_shown_as_text_and_read_with_the_box():
    html = drawn(terms, "create", None, {})
    assert "&lt;b&gt;All&lt;/b&gt;" in html
    assert 'aria-describedby="input-terms-note"' in html
