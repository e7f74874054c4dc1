import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dynabench.tasks.fields import FieldError, RankingField
from tests.tasks.laws import Form, agrees, drawn, hostile, posts, survives

order = RankingField(name="order", options=["a", {"value": "b", "label": "Bee"}, "c"], first="best")


@settings(deadline=None, max_examples=20)
@given(st.permutations(["a", "b", "c"]))
def test_orders_survive_every_way(values):
    assert survives(order, list(values)) == list(values)


@given(hostile)
def test_the_schema_and_clean_agree(raw):
    agrees(order, raw)


@given(
    st.lists(st.sampled_from(["", "1", "2", "3", "x", "-1", "２", "99999999999999999999999"]), min_size=3, max_size=3)
)
def test_places_that_make_no_order_are_refused_and_drawn_again(places):
    posted = {f"input.order.{value}": [place] for value, place in zip("abc", places, strict=True)}
    raw = order.read_form(posted, "input.order")
    if isinstance(raw, dict):
        with pytest.raises(FieldError, match="a different position"):
            order.clean(raw)
        assert Form(drawn(order, "create", raw, {})).posted == {name: [text[0][:20]] for name, text in posted.items()}
    else:
        assert raw is None or sorted(raw) == ["a", "b", "c"]


def test_numbers_with_gaps_still_make_an_order():
    posted = {"input.order.a": ["30"], "input.order.b": ["1"], "input.order.c": ["7"]}
    assert order.clean(order.read_form(posted, "input.order")) == ["b", "c", "a"]


def test_nothing_is_in_order_before_somebody_says_so():
    assert posts(order, None, {}) is None
    with pytest.raises(FieldError, match="Put all of them in order"):
        order.clean(posts(order, None, {}))


@pytest.mark.parametrize("raw", [["a", "b"], ["a", "b", "b"], ["a", "b", "z"], "abc", [1, 2, 3]])
def test_what_is_no_order_is_refused(raw):
    with pytest.raises(FieldError, match=r"in order|exactly once"):
        order.clean(raw)


def test_orders_are_told_numbered():
    assert order.in_words(["b", "a", "c"]) == "1. Bee, 2. a, 3. c"
    assert not order.same(["a", "b", "c"], ["b", "a", "c"])
